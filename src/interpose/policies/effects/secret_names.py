"""Which files hold secrets, by their names and places: env files, keys, credential stores, settings of agents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from ...matching.shell.words import MANY, ONE
from ...runtime.regex import regex

__all__ = ["SecretKind", "is_beside_keys", "secret_kind"]

SecretKind = Literal["env", "keys", "stores", "settings"]
"""``env``: env files and files of a project that often hold secrets. ``stores``: credentials of a person or a machine.

``settings``: settings of coding agents, which may hold tokens of servers.
"""

_LONGEST = 300

_EXAMPLES = regex(r"(?:^|[._-])(?:examples?|samples?|template|tmpl|tpl|dist|schema|defaults?|tests?)(?:[._-]|$)")
_BACKUP = regex(r"(?:[._-](?:bak|backup|old|orig|save|copy|tmp|swp|swo|[0-9]{1,8})| copy|~)+$")
_PUBLIC = regex(
    r"(?:^|[._-])(?:pub|public|(?:server|client|ssl|tls)?certs?|ca|cacert|cacerts|chain|fullchain|bundle|crt|csr|dhparams?)"
)
_FOREIGN = ("/node_modules/", "/vendor/", "/site-packages/", "/__pycache__/", "/fixtures/", "/testdata/", "/tests/")

_NAMES: dict[SecretKind, re.Pattern[str]] = {
    "keys": regex(
        r"(?:.+[_-])?(?:rsa|dsa|ecdsa|ed25519)"
        r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-].*)?"
        r"|.*\.(?:key|pem|p8|p12|pfx|pkcs12|jks|keystore|kdb|kdbx|ppk|keychain(?:-db)?|keyring|keypair|agekey|ovpn)"
    ),
    "stores": regex(
        r"[._]netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.pypirc|\.boto|\.s3cfg|\.vault-token|\.dockercfg"
        r"|\.databrickscfg|\.vault[_-]?pass(?:word)?(?:\.txt)?"
    ),
    "env": regex(
        r"\.env(?:[._ -].*|rc)?|.+\.env|\.npmrc|\.yarnrc\.yml|\.htpasswd|\.dockerconfigjson|\.dev\.vars"
        r"|credentials(?:\.(?:json|ya?ml|toml|ini|xml|csv|txt))?|(?:.*[._-])?secrets?\.(?:json|ya?ml|toml|ini|env|txt)"
        r"|.*service[_-]?account.*\.json|client_secrets?.*\.json|terraform\.tfstate|.*\.tfvars(?:\.json)?|kubeconfig"
    ),
}
_BARE_KEYS = frozenset({"rsa", "dsa", "ecdsa", "ed25519"})

# Below a home. A folder ends in a slash and stands for everything in it.
_HOME: dict[SecretKind, tuple[str, ...]] = {
    "env": (".aws/config",),
    "keys": (".ssh/", ".gnupg/", ".putty/"),
    "stores": (
        ".aws/", ".azure/", ".kube/", ".gcp/", ".oci/", ".bluemix/", ".password-store/", ".snowflake/",
        ".cloudflared/", ".docker/config.json", ".npmrc", ".yarnrc.yml", ".cargo/credentials",
        ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml",
        ".gradle/gradle.properties", ".composer/auth.json", ".subversion/auth/", ".terraform.d/credentials.tfrc.json",
        ".terraformrc", ".dbt/profiles.yml", ".kaggle/kaggle.json", ".huggingface/token", ".cache/huggingface/token",
        ".fly/config.yml", ".ngrok2/ngrok.yml", ".wrangler/config/", ".supabase/access-token", ".railway/config.json",
        ".vercel/auth.json", ".config/gcloud/", ".config/gh/", ".config/glab-cli/", ".config/hub", ".config/op/",
        ".config/rclone/", ".config/containers/auth.json", ".config/pypoetry/auth.toml", ".config/composer/auth.json",
        ".config/doctl/", ".config/hcloud/", ".config/heroku/", ".config/netlify/", ".config/stripe/",
        ".config/ngrok/", ".config/sops/age/", ".local/share/keyrings/", ".local/share/kwalletd/",
        ".local/share/com.vercel.cli/auth.json", ".mozilla/firefox/", ".config/google-chrome/", ".config/chromium/",
        ".config/bravesoftware/", "library/keychains/", "library/cookies/",
        "library/application support/google/chrome/", "library/application support/firefox/",
        "library/application support/bravesoftware/",
        # Coding agents.
        ".codex/.credentials.json", ".gemini/mcp-oauth-tokens.json", ".gemini/a2a-oauth-tokens.json",
        ".gemini/gemini-credentials.json", ".kimi/credentials/", ".claude.json", ".claude/.credentials.json",
        ".codex/auth.json", ".codex/secrets/", ".codex/.sandbox-secrets/", ".gemini/oauth_creds.json",
        ".gemini/google_accounts.json", ".local/share/opencode/", ".local/share/amp/", ".amp/oauth/",
        ".config/cursor/auth.json", ".cursor/auth.json", ".copilot/mcp-oauth-config/", ".copilot/mcp-secrets/",
        ".config/github-copilot/", ".kimi/config.json", ".kimi-code/credentials/", ".kimi-code/server.token",
        ".kimi/mcp-oauth/", ".pi/agent/auth.json", ".qwen/oauth_creds.json",
    ),
    "settings": (
        ".claude/settings.json", ".kimi/config.toml", ".kimi/mcp.json", ".kimi-code/config.toml",
        ".codex/config.toml", ".config/opencode/", ".config/amp/", ".amp/settings.json",
        ".amp/settings.jsonc", ".gemini/settings.json", ".gemini/config/", ".copilot/config.json",
        ".copilot/mcp-config.json", ".cursor/mcp.json", ".kimi-code/mcp.json", ".pi/agent/models.json",
    ),
}  # fmt: skip
_PLAIN_FILES = {
    ".ssh": regex(r"known_hosts.*|config(?:\.d/.*)?|authorized_keys2?|[^/]*\.(?:pub|md|txt)|rc|authorized_keys\.d/.*"),
    ".gnupg": regex(r"[^/]*\.conf|pubring\..*|trustdb\.gpg"),
}
"""What holds no secret in a folder that does."""

# Settings of coding agents in a project or anywhere else.
_SETTINGS = regex(
    r"(?:.*/)?(?:\.mcp\.json|\.claude/settings\.local\.json|\.cursor/mcp\.json|\.cursor/projects/[^/]*/mcp-auth\.json"
    r"|\.amp/settings\.jsonc?"
    r"|\.kimi-code/mcp\.json|\.gemini/settings\.json|opencode\.jsonc?|gemini-?cli/settings\.json)"
)
_AGENTS = regex(
    r"(?:.*/)?(?:\.codex/auth\.json|\.gemini/oauth_creds\.json|\.claude/\.credentials\.json|\.pi/agent/auth\.json"
    r"|\.copilot/mcp-(?:oauth-config|secrets)/.*|\.kimi-code/credentials/.*|\.local/share/opencode/auth\.json)"
)
_SYSTEM = regex(
    r"/etc/(?:g?shadow-?|sudoers(?:\.d(?:/.*)?)?|ssl/private(?:/.*)?|kubernetes/(?:admin|kubelet|super-admin)\.conf"
    r"|ssh/ssh_host_[^/]*_key|ppp/(?:chap|pap)-secrets|krb5\.keytab|master\.passwd"
    r"|rancher/k3s/k3s\.yaml|letsencrypt/(?:live|archive|keys)(?:/.*)?)"
    r"|/proc/[^/]+/(?:task/[^/]+/)?(?:environ|mem)|/dev/k?mem|/private/etc/master\.passwd"
    r"|/var/run/secrets(?:/.*)?|/run/secrets(?:/.*)?"
)

_SAMPLES = (
    ".env", ".env.local", ".envrc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc",
    ".pgpass", "credentials",
)  # fmt: skip
_WINDOWS = regex(r"[a-z]:[\\/]|\\\\")
_WILDCARD = regex(r"[*?]|\[[^\]/]*\]")
_MARKS = regex(f"[{ONE}{MANY}]+")


@lru_cache(maxsize=1_024)
def secret_kind(path: str, home: str = "") -> SecretKind | None:
    """Return which secrets a path holds by its name; ``ONE`` and ``MANY`` in it stand for what is unknown.

    A name with something unknown counts if its known beginning is that of a secret's name: ``.e*``, ``id_*``; and a
    pattern for hidden files counts if it can mean one: ``.*``, ``.??v``.
    """
    plain = path.casefold()
    if _WINDOWS.match(plain):
        plain = plain.replace("\\", "/")
    plain = _WILDCARD.sub(MANY, plain)
    if "/" in plain[:-1]:
        plain = posixpath.normpath(plain)
    plain = plain.rstrip("/") or "/"
    found = _by_place(plain, home.casefold().rstrip("/"))
    if found is not None:
        return found
    base = plain.rpartition("/")[2][-_LONGEST:]
    if ONE in base or MANY in base:
        return next((kind for name in _meant(base) if (kind := _by_name(plain, name))), None)
    return _by_name(plain, base)


def is_beside_keys(path: str, home: str = "") -> bool:
    """Return whether a file lies beside keys and is none: settings of ssh, known hosts, public keys."""
    plain = posixpath.normpath(path.casefold())
    for below in _below_homes(plain, home.casefold().rstrip("/")):
        folder, _, rest = below.partition("/")
        if rest and folder in _PLAIN_FILES and _PLAIN_FILES[folder].fullmatch(rest):
            return True
    return False


def _by_name(path: str, base: str) -> SecretKind | None:
    if _EXAMPLES.search(base) or base.count(" ") > 2:
        return None
    if _SETTINGS.fullmatch(path):
        return "settings"
    name = _BACKUP.sub("", base) or base
    for kind, pattern in _NAMES.items():
        if pattern.fullmatch(name):
            return None if kind == "keys" and _is_no_key(path, name) else kind
    return None


def _is_no_key(path: str, name: str) -> bool:
    if name.endswith(".pub") or name in _BARE_KEYS:
        return True
    if name.startswith("id_") or "." not in name:
        return False
    is_public = name.endswith((".pem", ".key")) and _PUBLIC.search(name) is not None
    return is_public or any(folder in f"/{path}" for folder in _FOREIGN)


def _by_place(path: str, home: str) -> SecretKind | None:
    if _SYSTEM.fullmatch(path) or _AGENTS.fullmatch(path):
        return "stores"
    return next((kind for below in _below_homes(path, home) if (kind := _in_a_home(below))), None)


def _in_a_home(below: str) -> SecretKind | None:
    folder, _, rest = below.partition("/")
    if folder in _PLAIN_FILES and _PLAIN_FILES[folder].fullmatch(_BACKUP.sub("", rest)):
        return None
    below = _BACKUP.sub("", below) or below
    if below in _HOME_FILES:
        return _HOME_FILES[below]
    parts = below.split("/", _DEEPEST)
    for number in range(1, len(parts)):
        kind = _HOME_FILES.get("/".join(parts[:number]) + "/")
        if kind is not None:
            return kind
    return _HOME_FILES.get(f"{below}/") or ("settings" if _CODEX_SETTINGS.fullmatch(below) else None)


_HOME_FILES: dict[str, SecretKind] = {entry: kind for kind, entries in _HOME.items() for entry in entries}
_DEEPEST = max(entry.count("/") for entry in _HOME_FILES)
_CODEX_SETTINGS = regex(r"\.codex/[^/]*\.config\.toml")
_OF_A_HOME = regex(rf"(?:/root|/home/[^/]+|/users/[^/]+|[a-z]:/users/[^/]+|/var/root|~[^/]*|[{ONE}{MANY}][^/]*)/(.*)")
_BELOW_UNKNOWN = regex(rf"(?:.*/)?[^/]*[{ONE}{MANY}][^/]*/([^{ONE}{MANY}]*{MANY}?)")


def _below_homes(path: str, home: str) -> Iterator[str]:
    """Yield the path below a home: that of the person, of another one, or of which the folder is unknown."""
    if home and path.startswith(home + "/"):
        yield path[len(home) + 1 :]
    for shape in (_OF_A_HOME, _BELOW_UNKNOWN):
        if found := shape.fullmatch(path):
            yield found[1]


def _meant(base: str) -> list[str]:
    """Return names that a name with something unknown may stand for, if its known part says enough."""
    first = _MARKS.search(base)
    known = base if first is None else base[: first.start()]
    found = [_MARKS.sub("", base), _MARKS.sub("x", base)] if len(_MARKS.sub("", base)) > 2 else []
    # A wildcard does not stand for the dot at the beginning of a name.
    is_pattern = base.startswith(".") and MANY in base and ONE not in base
    if len(known) >= 2 or is_pattern:
        shape = re.compile(".*".join(re.escape(part) for part in _MARKS.split(base)))
        found += [name for name in _SAMPLES if shape.fullmatch(name)]
    return found
