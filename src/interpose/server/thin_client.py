"""What ``client.py`` does: ask the resident engine; if there is none, or it declines, become ``interpose fire``.

What the engine has accepted and not answered is refused, and never fired again. This loads nothing that Python has not
loaded already, except for the socket module, so it is one file and repeats some numbers of ``frames.py`` and
``places.py``.
"""

import _signal  # type: ignore[import-not-found]  # the module signal loads others
import _socket
import posix
import sys

SILENCE = 5.0
LONGEST = 24 * 1024 * 1024
HERE = __file__.rpartition("/")[0]
KEEPS_GOING = frozenset(("Stop", "SubagentStop", "TeammateIdle", "AfterAgent", "agentStop", "subagentStop", "stop"))
"""Events at which the status 2 keeps an agent going, so that a refusal has another."""


def main(given: list[str]) -> int:
    """Fire one event; return the exit status."""
    if "-h" in given or "--help" in given or any(map(posix.isatty, (0, 1, 2))):
        return cold(given)
    as_hook = is_hook(given)
    if as_hook:
        set_alarm(given)
    folder = place()
    if not folder:
        return cold(given)
    data = bytearray()
    try:
        posix.fstat(1)
        about = f"{posix.getpid()} {posix.getppid()} {_umask()}".encode()
        where = posix.getcwdb()
        if reads_input(given, as_hook):
            while len(data) <= LONGEST and (part := posix.read(0, 1 << 20)):
                data += part
    except OSError:
        return cold(given, data)
    python = sys.executable.rpartition("/")[0]
    words = b"\0".join(_encoded(word) for word in given)
    variables = b"\0".join(name + b"=" + value for name, value in posix.environ.items())
    parts = (f"{python}\0{HERE}".encode("utf-8", "surrogateescape"), about, where, words, variables, data)
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    if len(body) > LONGEST:
        return cold(given, data)
    server = connect(folder)
    said = ask(server, b"IPF1" + len(body).to_bytes(4, "big") + body) if server is not None else None
    if said is None:
        return cold(given, data)
    kind, text = said
    if kind != b"=":
        _write(2, b"interpose fire: " + text + b"\n")
        return refused(given) if as_hook else 1
    status, split = text[0], 5 + int.from_bytes(text[1:5], "big")
    problem = _write(1, text[5:split])
    _write(2, text[split:])
    if problem is not None and (as_hook or problem.errno != 32):  # 32: its reader needed no more
        _write(2, f"interpose: standard output cannot be written: {problem.strerror}\n".encode())
        return refused(given) if as_hook else status or 1
    return status


def is_hook(given: list[str]) -> bool:
    """Return whether an agent has called this as a hook."""
    return any(word == "--reply" or word.startswith("--reply=") for word in given)


def refused(given: list[str]) -> int:
    """Return the exit status of a refusal."""
    return 2 if KEEPS_GOING.isdisjoint(given) else 1


def set_alarm(given: list[str]) -> None:
    """Have the system end this process soon after its deadline, also if it is ``interpose fire`` by then.

    What started it denies then. An agent whose own deadline passes goes on.
    """
    for word, after in zip(given, [*given[1:], ""], strict=True):
        if word == "--deadline" or word.startswith("--deadline="):
            try:
                seconds = float(after if word == "--deadline" else word[11:])
                _signal.setitimer(_signal.ITIMER_REAL, seconds + min(5.0, seconds * 0.2))
            except (ValueError, OverflowError, OSError):
                return  # `interpose fire` says what is wrong with it


def place() -> bytes:
    """Return the folder of the engine of this user; nothing if there is none, or it may be another's."""
    variables = posix.environ
    base = variables.get(b"XDG_STATE_HOME", b"")
    if not base.startswith(b"/"):
        base = variables.get(b"HOME", b"").rstrip(b"/") + b"/.local/state"
    folder = base + b"/interpose/serve"
    if not folder.startswith(b"/") or len(folder) > 96:
        return b""
    try:
        for path, kind in ((folder, 0o040000), (folder + b"/socket", 0o140000)):  # a directory, a socket
            found = posix.lstat(path)
            if found.st_uid != posix.geteuid() or found.st_mode & 0o170077 != kind:
                return b""
    except OSError:
        return b""
    return folder


def connect(folder: bytes) -> _socket.socket | None:
    """Return a connection to the engine; None if there is none.

    The request is ready by then: the engine finds it when it looks at the connection for the first time.
    """
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        server.settimeout(SILENCE)
        server.connect(folder + b"/socket")
        if peer(server) == posix.geteuid():
            return server
    except OSError:
        pass
    server.close()
    return None


def peer(server: _socket.socket) -> int:
    """Return the user of the process at the other end."""
    if hasattr(_socket, "SO_PEERCRED"):
        return int.from_bytes(server.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
    return int.from_bytes(server.getsockopt(0, 1, 76)[4:8], sys.byteorder)  # LOCAL_PEERCRED


def ask(server: _socket.socket, request: bytes) -> tuple[bytes, bytes] | None:
    """Return what the engine says; None if it has not accepted the request, which then was not fired."""
    got, accepted = b"", False
    try:
        rest = memoryview(request)
        while rest:
            rest = rest[server.send(rest) :]
        while True:
            got = got.lstrip(b".") if accepted else got
            if not accepted and got[:1] == b"A":
                got, accepted = got[1:], True
                continue
            end = 5 + int.from_bytes(got[1:5], "big")
            if len(got) >= max(end, 5):  # a sign of life may follow
                return None if got[:1] == b"D" else (got[:1], got[5:end])
            part = server.recv(1 << 16)
            if not part:
                break
            got += part
    except OSError:
        pass
    if not accepted:
        try:
            server.shutdown(_socket.SHUT_RDWR)  # from here on the engine cannot accept it
            got += server.recv(1)
        except OSError:
            pass
        if got[:1] != b"A":
            server.close()
            return None
    return b"R", b"the resident engine accepted the event and did not answer (nothing was decided, so this denies)"


def cold(given: list[str], data: bytes | bytearray = b"") -> int:
    """Become ``interpose fire``; ``data`` was read from standard input already."""
    try:
        if data:
            hand_over(data)
        # As a hook without PYTHON… variables: settings of a project may have set them.
        options = "-EP" if is_hook(given) else "-P"
        posix.execv(sys.executable, [sys.executable, options, "-m", "interpose.cli", "fire", *given])
    except (OSError, ValueError) as error:
        _write(2, f"interpose fire: {sys.executable} cannot be started: {error} (so this denies)\n".encode())
    return refused(given)


def hand_over(data: bytes | bytearray) -> None:
    """Make standard input begin with these bytes again."""
    if hasattr(posix, "memfd_create"):
        copy = posix.memfd_create("interpose")
    else:
        path = f"{posix.environ.get(b'TMPDIR', b'/tmp').decode()}/interpose-{posix.getpid()}-{posix.urandom(8).hex()}"
        copy = posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL, 0o600)
        posix.unlink(path)
    while data:
        rest = memoryview(data)
        while rest:
            rest = rest[posix.write(copy, rest) :]
        data = posix.read(0, 1 << 20)
    posix.lseek(copy, 0, 0)
    posix.dup2(copy, 0)


def reads_input(given: list[str], as_hook: bool) -> bool:
    """Return whether the event is on standard input."""
    source = "-" if as_hook else ""
    for word, after in zip(given, [*given[1:], ""], strict=True):
        if word == "--input" or word.startswith("--input="):
            source = after if word == "--input" else word[8:]
    return source == "-"


def _umask() -> int:
    mask = posix.umask(0o077)
    posix.umask(mask)
    return mask


def _encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


def _write(descriptor: int, data: bytes) -> OSError | None:
    try:
        while data:
            data = data[posix.write(descriptor, data) :]
    except OSError as error:
        return error
    return None


def run() -> None:
    """Fire one event, and end the process."""
    try:
        status = main(sys.argv[1:])
    except BaseException as error:
        _write(2, f"interpose fire: {type(error).__name__}: {error} (nothing was decided, so this denies)\n".encode())
        status = refused(sys.argv[1:])
    posix._exit(status)
