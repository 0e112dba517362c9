r"""Forms: the texts in which a secret follows its name. They are RE2 patterns over bytes.

A form is a row: its kind, hints, a pattern and a check. A text without a hint of a row is not searched for it. The
first group of the pattern that matched is the secret if the check says so; the check is called with the text from the
beginning of the match to the secret, and the secret. A new form is a new row.
"""

from __future__ import annotations

from collections.abc import Callable

from ..runtime.named_tuples import NamedTuple
from .values import (
    follows_a_secret_name,
    has_secret_name,
    is_argument,
    is_cell,
    is_cookie,
    is_credential,
    is_element,
    is_set_value,
    is_url_password,
    is_user_password,
    looks_random,
    looks_said,
    looks_secret,
)

__all__ = ["BLOCK", "ENCODED_WORDS", "ESCAPE_HINTS", "FORMS", "FORM_HINTS", "TABLE_HEAD", "Form"]


class Form(NamedTuple):
    """One way to write a secret after its name."""

    kind: str
    hint: str
    pattern: str
    check: Callable[[str, str], bool]
    """Is called with the text before the secret, and the secret."""


_STRONG = (
    r"pass[_-]?words?|passwort|passwd|pass[_-]?phrase|pass[_-]?code|pwd|secret|token|credential|connection[_-]?string|"
    r"bearer|mnemonic|storepass|keypass|"
    r"(?:api|access|private|account|auth|shared|signing|encryption|master|deploy|license|storage|role|ssh)[_. -]?key"
)
"""Words in the names of secrets."""
_WEAK = r"key|auth|pass|pw|creds?|signature|psk|jwt|csrf"
"""Words in names that may be those of secrets."""
_PART = r"[A-Za-z0-9_.$\-]*"
_NAME = rf"{_PART}(?i:{_STRONG}|{_WEAK}){_PART}"
_STRONG_NAME = rf"{_PART}(?i:{_STRONG}){_PART}"
_SAYS_STRONG = rf"(?i:{_STRONG})[A-Za-z0-9_.\-]*[\s\"'`\\:=%&<>(\],;|]"
_SAYS_WEAK = rf"(?i:{_WEAK})[A-Za-z0-9_.\-]*[\"'`\\\]]*\s*(?::|=|%|&|<|>)|-(?i:[a-z-]*pass)\s"
_SAYS_NAME = f"{_SAYS_STRONG}|{_SAYS_WEAK}"
"""Hints of a name, also where quotes and signs are escaped."""

# What is between a name and its value, and how a value is written.
_TO = r"""["'`\\\]]{0,4}[ \t]*(?::=|=>|->|\?=|:|=)[ \t]*"""
_PREFIX = r"[bBrRuUfFL@$]{0,2}"
_DOUBLE, _SINGLE, _BACK = r'"((?:[^"\\\r\n]|\\.)+)', r"'((?:[^'\\\r\n]|\\.)+)", r"`((?:[^`\\\r\n]|\\.)+)"
_TRIPLE = r'"""\s*([^"]{2,}[^"\s])\s*"""|' + r"'''\s*([^']{2,}[^'\s])\s*'''"
_QUOTED = rf"(?:{_PREFIX}(?:{_TRIPLE}|{_DOUBLE}|{_SINGLE}|{_BACK}))"
_BARE = r"""([^\s"'`,;&|<>\\]{3,})"""
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
_ARGUMENT = r"""(?:"((?:[^"\\]|\\.)+)"|'([^']+)'|([^\s"'`;&|<>\-][^\s"'`;&|<>]*))"""
_REST = r"[^\n|;&]*?"


def _option(programs: str, options: str, more: str = "", *, joined: bool = False) -> Form:
    """Return the form of an option of some programs, and its argument; ``joined``: only without a space between."""
    hint = rf"\b(?:{programs})\b{_REST}{more}\s(?:{options})"
    between = "" if joined else r"[= \t]*"
    return Form("flag", hint, f"{hint}{between}{_ARGUMENT}", is_argument)


_LOGINS = (
    "docker|podman|nerdctl|helm|oras|skopeo|crane|buildah|regctl|az|oc|cf|ibmcloud|conan|jf|argocd|rancher|kubelogin|"
    "twine|nuget"
)
_ON_INPUT = (
    r"--password-stdin|--with-token|sudo\s+(?:-\S+\s+)*-S|passwd\s+--stdin|--passphrase-fd|-passin\s+stdin|cryptsetup|"
    r"smbpasswd|secrets?\s+(?:set|put|create)"
)
"""Commands that read a secret from their input."""
_LAST_WORD = (
    r"(?:cargo|wandb)\s+login|snyk\s+auth|bw\s+unlock|ngrok\s+(?:config\s+add-)?authtoken|doctl\s+auth\s+init\s+-t|"
    r"(?:rabbitmqctl|ejabberdctl)\s+(?:add_user|change_password|register)\s+\S+|net\s+user\s+\S+|"
    r"wpa_passphrase\s+\S+|htpasswd\s+-[A-Za-z]*b[A-Za-z]*\s+(?:-\S+\s+)*\S+\s+\S+|htpasswd\s+-nb[A-Za-z]*\s+\S+"
)
"""Commands whose next word is a secret."""
_USER = r"""(?:^|\s)(?:-[ua]|--(?:proxy-)?user)[=\s]{0,3}["'\\]*[^\s:"'/\\]+:"""
_USER_INFO = r"://[^\s/]*@|://[^\s/:]*:[^\s]*@"
_SENT_COOKIE = rf"\bcurl\b{_REST}\s(?:-b|--cookie)"
_HEADER = r"(?i:\b(?:proxy-)?authorization)"

FORMS: tuple[Form, ...] = (
    # Headers.
    Form("authorization", _HEADER,
         rf"{_HEADER}{_TO}{_PREFIX}[\"'`]?(?i:digest|oauth|hawk|signature|aws4-hmac-sha256|mac)\s+([^\r\n']{{8,}})",
         is_credential),
    Form("authorization", _HEADER,
         rf"{_HEADER}(?:{_TO}|[\"']\s*,\s*){_PREFIX}[\"'`]?(?:[A-Za-z][A-Za-z0-9-]+\s+)?"
         r"""([^\s"'`\\,;]+)""", is_credential),
    Form("authorization", r"(?i:\b(?:bearer|basic))", r"(?i:\b(?:bearer|basic))\s+([A-Za-z0-9+/=._~\-]{8,})",
         looks_secret),
    Form("cookie", "(?i:cookie)", r"""(?i:\b(?:set-)?cookies?)["'`]?\s*[:=,]\s*["'`]?([^\r\n"'`\\]{4,})""", is_cookie),
    Form("cookie", _SENT_COOKIE, rf"{_SENT_COOKIE}[= ]*{_ARGUMENT}", is_cookie),
    # URLs: the user ends at the first colon, the password at the last @ before the host.
    Form("url", _USER_INFO, r"""://[^\s/?#:@"'`<>\\]*:([^\s"'`<>\\]+)@[A-Za-z0-9\[_$%{-]""", is_url_password),
    Form("url", _USER_INFO, r"""://([^\s/?#:@"'`<>\\]{16,})@""", looks_random),
    # Options of programs.
    Form("flag", _SAYS_NAME,
         rf"(?:^|[^A-Za-z0-9])(?i:--?[a-z0-9-]*(?:{_STRONG}|pass)[a-z0-9-]*)(?:=|\s+){_ARGUMENT}",
         has_secret_name(is_argument)),
    Form("flag", _USER, r"""(?:^|\s)(?:-[ua]|--(?:proxy-)?user)[=\s]?\s*["']?[^\s:"'/]+:([^\s"']+)""",
         is_user_password),
    _option("mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump", "-p", joined=True),
    _option(_LOGINS, "-p", rf"\b(?:login|upload|push)\b{_REST}"),
    _option("mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|cqlsh|sshpass|rdesktop|influx", "-p"),
    _option("redis-cli|valkey-cli|keydb-cli", "-a"),
    _option("zip|unzip|zipcloak|sqlcmd|bcp|tsql|mosquitto_pub|mosquitto_sub", "-P"),
    _option("7z|7za|7zz|rar|unrar", "-p|-hp", joined=True),
    _option("plink|pscp|psftp", "-pw"),
    _option("ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd|security", "-w"),
    _option("xfreerdp|wfreerdp|sdl-freerdp", "/p:", joined=True),
    _option("openssl", "-k|-K"),
    Form("flag", r"\bpass:", r"""\bpass:([^\s"'`;|&]+)""", is_argument),
    Form("flag", r"""-U\s*["'\\]*[^\s%"'\\]+%""", r"""\s-U\s*["']?[^\s%"']+%([^\s"']+)""", is_argument),
    Form("flag", "lftp", r"""\blftp\b[^\n]*?\s-u\s*["']?[^\s,"']+,([^\s"']+)""", is_argument),
    Form("flag", _ON_INPUT, rf"\b(?:echo|printf)\s+(?:-\w+\s+)*{_ARGUMENT}\s*\|[^\n|]*(?:{_ON_INPUT})", is_argument),
    Form("flag", _ON_INPUT, rf"(?:{_ON_INPUT})[^\n|;&]*<<<\s*{_ARGUMENT}", is_argument),
    Form("flag", "chpasswd", r"""[\w.-]+:([^\s"'|]+)["']?\s*\|\s*(?:sudo\s+)?chpasswd""", is_argument),
    Form("flag", rf"\b(?:{_LAST_WORD})", rf"\b(?:{_LAST_WORD})\s+{_ARGUMENT}", is_argument),
    Form("flag", _SAYS_STRONG,
         rf"\b(?i:set|setx|setenv|put|env|add|configure)\s+(?:-\S+\s+){{0,3}}[\"']?[A-Za-z0-9_.:/-]*(?i:{_STRONG}){_PART}"
         rf"[\"']?\s+(?:(?:--body|--value|-b|-v|--)[ =])?{_ARGUMENT}", is_set_value),
    # Files.
    Form("assignment", _SAYS_STRONG,
         r"""\b(?:login|account|user)\s+\S+\s+(?:password|passwd)\s+["']?([^\s"']+)""", is_argument),
    Form("assignment", r":(?:[0-9]{2,5}|\*):[^\s:]+:[^\s:]+:",
         r"""(?m:^)[^\s:#"'/=]+:(?:[0-9]{2,5}|\*):[^\s:]+:[^\s:]+:((?:[^\s:\\]|\\.){3,})\s*(?m:$)""", is_argument),
    Form("assignment", r"(?i:\bidentified\s)|(?i:password)\s",
         r"""(?i:\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)(?:\s+password)?|\bpassword)\s*\(?\s*'((?:[^'\\]|\\.)+)'""",
         is_argument),
    # A name and its value in two fields.
    Form("named", _SAYS_NAME,
         rf"""(?i:\b(?:name|key|id|variable|parameter|field|header))["']?\s*[:=]\s*["']?{_STRONG_NAME}["']?\s*,?\s*"""
         rf"""["']?(?i:[a-z]*value|content|data)["']?\s*[:=]\s*{_VALUE}""", has_secret_name(is_argument)),
    Form("named", _SAYS_NAME,
         rf"""["'](?i:value)["']\s*:\s*["']((?:[^"'\\\r\n]|\\.)+)["']\s*,\s*["'](?i:name|key|variable)["']\s*:\s*["']"""
         rf"""{_PART}(?i:{_STRONG})["']""", is_argument),
    Form("named", _SAYS_NAME,
         rf"""(?i:\b(?:name|key|id))=["']{_STRONG_NAME}["'][^<>\n]*>\s*(?:<value>\s*)?([^<>\s][^<>]*)<""",
         has_secret_name(is_argument)),
    Form("named", _SAYS_NAME, rf"<{_NAME}(?:\s[^<>\n]*)?>\s*(?:<!\[CDATA\[)?([^<>\s\[][^<>\]]*)[<\]]",
         is_element),
    Form("assignment", _SAYS_NAME, rf"""["']{_STRONG_NAME}["']\s*,\s*{_PREFIX}["']([^"'\\\r\n]{{4,}})["']""",
         follows_a_secret_name),
    Form("assignment", _SAYS_NAME, rf"""{_STRONG_NAME}\(\s*{_PREFIX}["']([^"'\\\r\n]{{6,}})["']\s*[,)]""",
         has_secret_name(is_cell)),
    # A name, a sign and a value.
    Form("assignment", _SAYS_NAME,
         rf"(?m:^)\s*(?:export\s+|set\s+|ENV\s+|-\s+)?{_NAME}=([^\s\"'`\\]+)", follows_a_secret_name),
    Form("assignment", _SAYS_NAME, rf"{_NAME}{_TO}{_VALUE}", follows_a_secret_name),
    Form("assignment", _SAYS_NAME,
         rf"{_STRONG_NAME}\??:\s*[A-Za-z_][\w.<>\[\]|?]*\s*=\s*{_QUOTED}", follows_a_secret_name),
    Form("assignment", _SAYS_NAME,
         rf"""{_STRONG_NAME}["']?:[ \t]*\r?\n[ \t]+["']?([^\s"':{{}}\[\],]{{6,}})["']?,?[ \t]*(?m:$)""",
         follows_a_secret_name),
    Form("assignment", _SAYS_STRONG,
         r"""(?i:\b(?:password|passphrase|token|secret|api[ -]key))\s+(?:is\s+|was\s+|=\s*)?["'`]?([^\s"'`,;]{6,})""",
         looks_said),
)  # fmt: skip
"""All forms; the order is that of the kinds a secret gets if several match."""

BLOCK = rf"(?m:^)([ \t]*)(?:-[ \t]+)?[\"']?{_NAME}[\"']?:[ \t]*[|>][+-]?[0-9]?[+-]?[ \t]*\r?\n"
"""The first line of a block of YAML; its lines are indented more than its name."""

_CELL = r"""[ \t]*["']?[A-Za-z0-9_ .-]*["']?[ \t]*"""
TABLE_HEAD = "|".join(
    rf"""(?m:^){edge}(?:{_CELL}{sign})*[ \t]*["']?{_STRONG_NAME}["']?[ \t]*(?:{sign}{_CELL})*{edge}\r?\n"""
    for sign, edge in ((",", ""), (";", ""), (r"\t", ""), (r"\|", r"\|?"))
)
"""The first line of a table with a column for secrets."""

_LETTER = r"(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])"
_STRANGE = (
    r"\\u(?i:00ad|034f|200[b-f]|202[a-e]|206[0-4]|feff|ff[1-5][0-9a-f]|d835|db40)|"
    r"\xc2\xad|\xcd\x8f|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xef\xbc[\x90-\xbf]|"
    r"\xef\xbd[\x80-\x9e]|\xf0\x9d[\x90-\x9f]|\xf3\xa0"
)
"""A character of no width, or a letter that looks like one of ASCII."""
_SPLIT = r"[A-Za-z0-9_]\\(?:\r?\n|\\\\(?:r\\)?n)[A-Za-z0-9_=]"
"""A word that goes on in the next line."""
ESCAPE_HINTS = rf"\\u00{_LETTER}|\\x{_LETTER}|%{_LETTER}|&#|{_SPLIT}|{_STRANGE}"
"""Letters that are escaped though they need not be: the name of a secret may be hidden so."""
FORM_HINTS = (
    "|".join(dict.fromkeys(form.hint for form in FORMS if form.hint != "://")) + r"|://[^\s/]*@|://[^\s/:]*:[^\s]*@"
)
"""Matches texts that may have a secret in one of the forms, also as encoded JSON."""
ENCODED_WORDS = (
    "password", "passwd", "secret", "token", "api_key", "apikey", "access_key", "private_key", "PRIVATE KEY",
    "credential", "authorization", "ghp_", "github_pat_", "glpat-", "AKIA", "xoxb-", "sk-ant-", "sk_live_",
)  # fmt: skip
"""Words that are looked for in base64 and hex."""
