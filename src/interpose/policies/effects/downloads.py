"""Read which commands of a line run what was downloaded or decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from ...matching.hosts import HostPattern
from ...matching.programs import INTERPRETERS, SHELLS, WRAPPERS, is_sourced_safely
from ...matching.shell import Line, ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.words import MANY, ONE, base_name, is_known
from .effect import Effect
from .flow import Brought, DataOrigin, FlowStep, Origins, follow
from .given_code import code_of
from .inline_code import read_code
from .network_code import network_in_code
from .tables.installers import INSTALLERS
from .tables.network import fetches, is_plain_fetch

__all__ = ["covers", "downloads_that_run", "is_download_and_run", "is_well_known", "is_well_known_installer", "run_by"]

_NOTHING: Origins = frozenset()
_KINDS = {
    "downloaded": ("run-downloaded",),
    "connected": ("run-downloaded", "network-shell"),
    "decoded": ("run-decoded",),
}
_CONNECTIONS = frozenset("nc ncat netcat nc.traditional nc.openbsd telnet socat openssl".split())


def downloads_that_run(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    """Yield an effect for each command that runs what the line downloads or decodes, or that installs it."""
    for step in follow(line, _sources):
        command = step.command
        for what, origins in (("run", run_by(step)), ("install", _installed_by(step)), ("apply", _applied_by(step))):
            for origin in sorted(origins):
                for kind in _kinds(what, origin):
                    yield Effect(kind, origin.target, " ".join(command.parts), command.name, command.grade)
        if (
            program_of(command.name) in _SHOWS
            and not all(map(is_known, command.parts))
            and any(origin.kind == "decoded" for origin in step.substituted)
        ):
            yield Effect("read-decoded", "", " ".join(command.parts), command.name, command.grade)
    for command in line.commands:
        if _is_shell_on_connection(command):
            yield Effect("network-shell", "", " ".join(command.parts), command.name, command.grade)


_SHOWS = frozenset("bat cat cp head less more mv nl tail xxd".split())
"""Programs whose words are files: they show or copy them."""


def _kinds(what: str, origin: DataOrigin) -> tuple[str, ...]:
    if what == "install":
        return ("foreign-package",)
    if what == "apply":
        return ("apply-downloaded",)
    return ("run-extracted",) if origin.via == "archive" else _KINDS[origin.kind]


def _is_shell_on_connection(command: ShellCommand) -> bool:
    """Return whether a shell's input and output are a connection: ``bash -i >& /dev/tcp/HOST/PORT``."""
    return program_of(command.name) in SHELLS and any(
        one.target.startswith(("/dev/tcp/", "/dev/udp/")) and one.is_output for one in command.redirections
    )


@lru_cache(maxsize=64)
def is_download_and_run(line: Line) -> tuple[str, ...]:
    """Return the URLs that a line runs if it does nothing else that cannot be read; nothing if it does more.

    The line may only download, run what it downloads as it is, and do what sets this up: ``cd``, ``export``, ``sudo``.
    """
    if not line.is_simple or any(reason.kind not in _EXPLAINED for reason in line.opaque):
        return ()
    urls: dict[str, None] = {}
    for step in follow(line, _sources):
        origins = run_by(step)
        if any(origin.kind != "downloaded" or origin.via for origin in origins):
            return ()
        urls.update((origin.target, None) for origin in origins)
        if not (origins or _is_beside(step.command) or is_plain_fetch(step.command)):
            return ()
    return tuple(urls)


_EXPLAINED = frozenset(["computed", "input", "written", "file", "code", "arguments"])
_BESIDE = frozenset("cd chmod command export mkdir pwd rm set true umask unset which".split())
_WRAPPERS = frozenset(key.partition(" ")[0] for key in WRAPPERS) - {"xargs", "parallel"}


def _is_beside(command: ShellCommand) -> bool:
    """Return whether a command changes nothing of what others read, and runs only what the line shows."""
    name, words = program_of(command.name), command.parts[1:]
    if name in (".", "source"):
        return is_sourced_safely("".join(words[:1]).replace(ONE, ""))
    if name in SHELLS:
        return any(word.startswith("-") and "c" in word for word in words) and all(map(is_known, words))
    if name == "go":
        return words[:1] == ("env",) and not any(word.startswith("-") for word in words)
    return name in _BESIDE or name in _WRAPPERS


@cache
def is_well_known(url: str) -> bool:
    """Return whether a URL is that of an installer in the table, over https and in its plain spelling."""
    return any(covers(entry, url) for entry in INSTALLERS)


def covers(entry: str, url: str) -> bool:
    """Return whether a URL is https and on the host of an entry, below its path if it has one: ``astral.sh/uv/``."""
    if not url.startswith("https://") or any(mark in url for mark in "\\@%") or ".." in url:
        return False
    host, slash, path = entry.removeprefix("https://").partition("/")
    if not _pattern(host).covers(url):
        return False
    rest = url.removeprefix("https://").partition("/")[2]
    return not slash or rest.startswith(path)


@cache
def _pattern(host: str) -> HostPattern:
    return HostPattern(host)


def is_well_known_installer(line: Line) -> bool:
    """Return whether a line only downloads installers that are well known, and runs them."""
    urls = is_download_and_run(line)
    return bool(urls) and all(map(is_well_known, urls))


def _sources(command: ShellCommand) -> Iterator[Brought]:
    for one in fetches(command):
        connected = command.name in _CONNECTIONS or one.url.startswith("/dev/")
        yield Brought(DataOrigin("connected" if connected else "downloaded", one.url), one.file)
    if _decodes(command):
        yield Brought(DataOrigin("decoded", command.name))
    yield from _downloaded_by_code(command)


def _downloaded_by_code(command: ShellCommand) -> Iterator[Brought]:
    """Yield the files that code writes which asks a URL: ``python3 -c 'urlretrieve(URL, FILE)'``."""
    language, codes = code_of(command, [one.text for one in command.redirections if one.text])
    for code in codes:
        if "://" in code:
            found = [*read_code(language, code), *network_in_code(command, [code])]
            urls = [one.target for one in found if one.kind in ("request", "send")]
            for one in found if urls else ():
                if one.kind == "write-files":
                    yield Brought(DataOrigin("downloaded", urls[0]), one.target)


def _decodes(command: ShellCommand) -> bool:
    """Return whether a command prints a text that the line has in another form."""
    name, words = command.name, command.parts[1:]
    letters = "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    if name in ("base64", "base32", "basenc", "gbase64", "b64", "ascii85", "base58"):
        return "d" in letters or "D" in letters or any(word.startswith("--d") for word in words)
    if name in ("xxd", "hexdump"):
        return "r" in letters or "--revert" in words
    if name == "openssl":
        return words[:1] in (("enc",), ("base64",)) and bool({"-d", "-a"} & set(words)) and "-d" in words
    if name in ("gpg", "gpg2", "age"):
        return "d" in letters or "--decrypt" in words
    if name in ("uudecode", "rev", "qprint", "mimencode", "recode"):
        return True
    return name == "tr" and not letters and len(words) == 2


def run_by(step: FlowStep) -> Origins:
    """Return the origins of what a command runs as a program."""
    command = step.command
    if not command.parts:
        return _NOTHING
    first, words = command.parts[0], command.parts[1:]
    if not is_known(first) and (MANY in first or not is_known(base_name(first))):
        return step.of_word(first)
    found = _program(step, first)
    reader = _RUNS.get(program_of(command.name.lower().removesuffix(".exe")))
    return found if reader is None else found | reader(step, words)


def _program(step: FlowStep, path: str) -> Origins:
    """Return the origins of the program itself: a file that the line writes."""
    files = step.files
    name = base_name(path)
    if "/" not in path:
        return step.of_word(path) if name in files.programs else _NOTHING
    found = step.of_word(path)
    is_elsewhere = path.startswith(("/bin/", "/usr/", "/sbin/", "/opt/"))
    return found if found or is_elsewhere else frozenset(files.extracted)


def _script(step: FlowStep, path: str) -> Origins:
    """Return the origins of a file that an interpreter runs."""
    if path in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return step.input
    if path in (ONE, MANY):
        return step.of_word(path)
    found = step.files.read(path, step.command)
    return found or (_NOTHING if path.startswith(("/usr/", "/etc/")) else frozenset(step.files.extracted))


def _shell(step: FlowStep, words: tuple[str, ...]) -> Origins:
    at, has_text, reads = 0, False, False
    while at < len(words) and words[at][:1] in ("-", "+") and words[at] not in ("-", "--"):
        option = words[at]
        at += 1
        if option.startswith("--"):
            if option in ("--rcfile", "--init-file"):
                return _script(step, "".join(words[at : at + 1]))
            continue
        if "n" in option and "o" not in option and option[0] == "-":
            return _NOTHING  # only checks the syntax
        has_text |= "c" in option
        reads |= "s" in option
        at += option.lower().count("o")
    if has_text:
        text = "".join(words[at : at + 1])
        return _NOTHING if is_known(text) else step.substituted
    if words[at : at + 1] in (("-",), ("--",)):
        at += 1
    if reads or at >= len(words):
        return step.input
    return _script(step, words[at])


def _interpreter(step: FlowStep, words: tuple[str, ...]) -> Origins:
    letters = INTERPRETERS.get(program_of(step.command.name), "")
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        option = words[at]
        at += 1
        if option in ("-m", "--version", "-V", "-v") or (option[-1:] == "m" and not option.startswith("--")):
            return _NOTHING
        if option in ("--eval", "--print", "-Command", "-c", "-e") or (letters and set(option[1:]) & set(letters)):
            code = "".join(words[at : at + 1])
            return _NOTHING if is_known(code) else step.substituted
        at += option in ("-W", "-X", "-I", "-r", "--require", "-L")
    if at >= len(words):
        return step.input
    operand = words[at]
    if operand in ("run", "eval", "install", "x", "serve") and at + 1 < len(words):
        operand = next((word for word in words[at + 1 :] if word == "-" or not word.startswith("-")), operand)
    if operand.startswith(("http://", "https://")):
        return frozenset([DataOrigin("downloaded", operand)])
    found = _script(step, operand)
    is_beside = "/" not in operand and step.files.extracted_in == {*step.command.directories}
    # A program beside an archive that is unpacked is usually the project's: data is unpacked for it.
    return frozenset(one for one in found if not one.via) if is_beside else found


def _go(step: FlowStep, words: tuple[str, ...]) -> Origins:
    operands = [word for word in words[1:] if not word.startswith("-")]
    return _script(step, operands[0]) if words[:1] == ("run",) and operands else _NOTHING


def _eval(step: FlowStep, words: tuple[str, ...]) -> Origins:
    return step.substituted if any(not is_known(word) for word in words) else _NOTHING


def _source(step: FlowStep, words: tuple[str, ...]) -> Origins:
    operands = [word for word in words if word != "--"]
    return _script(step, operands[0]) if operands else _NOTHING


def _reads_commands(step: FlowStep, words: tuple[str, ...]) -> Origins:
    return step.input | step.of_words


def _option_file(step: FlowStep, words: tuple[str, ...]) -> Origins:
    """Return the origins of the file after -f, or of the one that the program reads by its name."""
    for at, word in enumerate(words):
        if word in ("-f", "--file", "--makefile", "-jar", "-F"):
            return _script(step, "".join(words[at + 1 : at + 2]))
    found: set[DataOrigin] = set()
    for name in _READ_BY_NAME.get(step.command.name, ()):
        found |= step.files.read(name, step.command)
    return frozenset(found)


_READ_BY_NAME = {
    **dict.fromkeys(("make", "gmake"), ("Makefile", "makefile", "GNUmakefile")),
    "just": ("justfile", "Justfile"),
    "rake": ("Rakefile", "rakefile"),
    "ant": ("build.xml",),
}

_RUNS = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys((name.lower() for name in INTERPRETERS), _interpreter),
    **dict.fromkeys(("alias", "eval", "trap"), _eval),
    "go": _go,
    **dict.fromkeys((".", "source"), _source),
    **dict.fromkeys(("at", "batch", "crontab", "iex", "invoke-expression"), _reads_commands),
    **dict.fromkeys("make gmake just rake ant awk gawk mawk nawk java ed ex".split(), _option_file),
}

_INSTALLERS = {
    "dpkg": ("-i", "--install"), "apt": ("install",), "apt-get": ("install",), "brew": ("install",),
    "rpm": ("-i", "-U", "-F", "-ivh", "-Uvh"), "gdebi": (), "flatpak": ("install",), "gem": ("install",),
    "dnf": ("install",), "yum": ("install", "localinstall"), "zypper": ("install", "in"), "pacman": ("-U",),
    "apk": ("add",), "snap": ("install",), "installer": ("-pkg",), "msiexec": ("/i",),
    "pip": ("install",), "pip3": ("install",), "npm": ("install", "i"), "code": ("--install-extension",),
    "insmod": (), "docker": ("load", "import"), "podman": ("load", "import"),
}  # fmt: skip


def _installed_by(step: FlowStep) -> Origins:
    """Return the origins of a package that a command installs from a file."""
    verbs = _INSTALLERS.get(step.command.name)
    words = step.command.parts[1:]
    if verbs is None or (verbs and not any(word in verbs for word in words)):
        return _NOTHING
    files: Iterable[str] = (word for word in words if not word.startswith("-") and word not in verbs)
    found: set[DataOrigin] = set()
    for file in files:
        found |= step.files.read(file, step.command)
    if step.command.name in ("docker", "podman"):
        found |= step.input
    return frozenset(one for one in found if one.kind == "downloaded")


def _applied_by(step: FlowStep) -> Origins:
    """Return the origins of a manifest that a command applies to a cluster."""
    words = step.command.parts[1:]
    if step.command.name not in ("kubectl", "oc", "k3s", "minikube") or not {"apply", "create", "replace"} & set(words):
        return _NOTHING
    found: set[DataOrigin] = set()
    for at, word in enumerate(words):
        if word in ("-f", "--filename", "-k", "--kustomize"):
            value = "".join(words[at + 1 : at + 2])
        elif word.startswith(("--filename=", "-f=", "--kustomize=", "-k=")):
            value = word.partition("=")[2]
        else:
            continue
        found |= step.input if value == "-" else step.of_word(value)
    return frozenset(one for one in found if one.kind == "downloaded")
