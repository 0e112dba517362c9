"""What code on a command line does with the network: ``python -c``, ``node -e``, here-documents for interpreters.

The code is not parsed: its URLs and the names that it uses are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...matching.programs import INTERPRETERS
from ...matching.shell import ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.words import MANY, ONE
from ...runtime.regex import regex
from .rows import Found

__all__ = ["network_in_code"]

_LONGEST = 20_000
_INTERPRETERS = frozenset(name.lower() for name in INTERPRETERS) | {"awk", "gawk", "mawk", "nawk"}
_URL = regex(r"""(?:https?|ftp)://[^\s'"`<>()\\;,]+""")
_NAME = regex(r"[A-Za-z_/][\w/:.]*")
_SHELL = regex(r"""(?:["'\s(/]|^)(?:ba|z|da|k|c|tc)?sh\b(?!\.)|cmd\.exe|powershell|\bCMD\b""")

_FETCH = frozenset(
    """
    aiohttp axios curl_exec download downloadfile downloadstring fetch file_get_contents get getstore http https httpx
    invoke-restmethod invoke-webrequest irm iwr lwp net::http open-uri requests uri.open urllib urlopen urlretrieve
    webclient
    """.split()
)
_RUN = frozenset("compile eval exec execfile function iex include instance_eval invoke-expression runpy vm".split())
_START = frozenset(
    """
    call check_output child_process execl execle execlp execute execv execve execvp popen run shell_exec spawn
    subprocess system
    """.split()
)
_DECODE = frozenset(
    """
    a85decode atob b16decode b32decode b64decode base64_decode decode64 decode_base64 frombase64string fromcharcode
    fromhex gzinflate str_rot13 unhexlify unpack
    """.split()
)
_SOCKET = frozenset(
    """
    /inet/tcp createconnection fsockopen inet_aton io::socket io::socket::inet net net.connect net.socket sockaddr_in
    socket socket.tcp stream_socket_client tcpclient tcpsocket
    """.split()
)


def network_in_code(command: ShellCommand, codes: Iterable[str]) -> Iterator[Found]:
    """Yield what the code that an interpreter is given asks of the network, and whether it runs what comes back."""
    if program_of(command.name.lower()) in _INTERPRETERS:
        for code in dict.fromkeys([*codes, *_codes(command)]):
            yield from _effects(code[:_LONGEST])


def _codes(command: ShellCommand) -> Iterator[str]:
    """Yield the words and the here-documents of an interpreter that may be code."""
    words = [re.sub(r"^-[a-zA-Z](?=[^\s-])", "", word) for word in command.parts[1:]]  # -e'code'
    for text in (*words, *(one.text for one in command.redirections)):
        if any(mark in text for mark in "('\"`{ |"):
            yield text


def _effects(code: str) -> Iterator[Found]:
    urls = [url for url in dict.fromkeys(_URL.findall(code)) if ONE not in url and MANY not in url]
    names = _names(code)
    fetches = bool(names & _FETCH)
    for url in urls:
        if fetches or names & _SOCKET:
            yield Found("request", url)
    if fetches and urls and names & _RUN:
        yield Found("run-downloaded", urls[0])
    if (names & _DECODE or {"buffer", "base64"} <= names) and names & (_RUN | _START):
        yield Found("run-decoded")
    if names & _SOCKET and _is_shell(names, code):
        yield Found("network-shell")


def _is_shell(names: set[str], code: str) -> bool:
    starts = bool(names & (_START | {"dup2", "exec", "pty"})) or "`" in code or "|&" in code
    return starts and (bool(_SHELL.search(code)) or "dup2" in names or "getline" in names)


def _names(code: str) -> set[str]:
    """Return the names in code, folded: each whole name, and its parts."""
    found: set[str] = set()
    for name in _NAME.findall(code):
        folded = name.lower().rstrip(".:/")
        found.add(folded)
        found.update(part for part in re.split(r"[.:/]+", folded) if part)
        if folded.startswith("/inet/tcp"):
            found.add("/inet/tcp")
    return found
