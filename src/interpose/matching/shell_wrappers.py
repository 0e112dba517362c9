"""Commands that run the command in their arguments: ``sudo``, ``env``, ``xargs``, ``sh -c``, ``find -exec`` …"""

from __future__ import annotations

from collections.abc import Callable

from .shell_words import ASSIGNMENT, SimpleCommand, Unsure, Word

__all__ = ["inside"]

_ANYTHING = Word("", known=False)
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "rbash", "fish"])
_FIND_ACTIONS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])

# Options as for getopt: letters, a colon after those with a value; then long names. The number of words before the
# command.
_WRAPPERS: dict[str, tuple[str, int]] = {
    "builtin": ("", 0),
    "busybox": ("", 0),
    "bwrap": ("", 0),
    "caffeinate": ("disut:w:", 0),
    "chroot": (" groups: userspec: skip-chdir", 1),
    "chronic": ("ev", 0),
    "chrt": ("abdfiorvRT:P:D: all-tasks batch deadline fifo idle other rr verbose reset-on-fork", 1),
    "command": ("pvV", 0),
    "doas": ("C:Lnsu:", 0),
    "env": ("0iu:C:S:v ignore-environment null unset: chdir: split-string: debug", 0),
    "exec": ("a:cl", 0),
    "fakeroot": ("", 0),
    "firejail": ("", 0),
    "flock": (
        "eE:Fnosuvw:x close conflict-exit-code: exclusive nb no-fork nonblock shared timeout: unlock verbose wait:",
        1,
    ),
    "ionice": ("c:n:t class: classdata: ignore", 0),
    "ltrace": ("a:A:bcCD:e:fF:hiL:l:n:o:p:rs:StTu:Vw:x:", 0),
    "nice": ("n:0123456789 adjustment:", 0),
    "nohup": ("", 0),
    "nsenter": ("", 0),
    "parallel": ("", 0),
    "prlimit": ("", 0),
    "proot": ("", 0),
    "rlwrap": ("", 0),
    "setsid": ("cfw ctty fork wait", 0),
    "stdbuf": ("i:o:e: input: output: error:", 0),
    "strace": ("a:b:cCdDe:E:fFhiI:kno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ", 0),
    "sudo": (
        "AbBC:D:Eg:Hh:ikKnNPp:r:R:sSt:T:u:U: user: group: chdir: host: prompt: preserve-env non-interactive login",
        0,
    ),
    "systemd-run": (
        "dE:GHM:p:PqrStu: collect gid: nice: pipe property: pty quiet same-dir scope setenv: slice: uid: unit: user",
        0,
    ),
    "taskset": ("acp all-tasks cpu-list pid", 1),
    "time": ("af:o:pqv append format: output: portability quiet verbose", 0),
    "timeout": ("fk:ps:v foreground kill-after: preserve-status signal: verbose", 1),
    "unbuffer": ("p", 0),
    "unshare": (
        "cCfG:imnprR:S:TuUw: fork ipc keep-caps map-root-user mount mount-proc net pid time user uts root: wd:",
        0,
    ),
    "xargs": (
        "0a:d:eE:iI:J:lL:n:oP:prR:s:S:tx null arg-file: delimiter: replace max-args: max-procs: no-run-if-empty",
        0,
    ),
}


def inside(command: SimpleCommand) -> list[SimpleCommand | str]:
    """Return the commands that a command runs, or text to parse for them; raise Unsure if that is unknown."""
    name, words = _base_name(command[0]), command[1:]
    if name in _SHELLS:
        return _shell(words)
    if name in _WRAPPERS:
        return _wrapper(name, words)
    reader = _READERS.get(name)
    return reader(words) if reader is not None else []


def _base_name(word: Word) -> str:
    return word.text.rpartition("/")[2] if word.known else ""


def _text(words: SimpleCommand) -> str:
    if not all(word.known for word in words):
        raise Unsure
    return " ".join(word.text for word in words)


def _shell(words: SimpleCommand) -> list[SimpleCommand | str]:
    """Return the text after -c; a shell without a text and without a file reads its input, which is unknown."""
    at, has_text = 0, False
    while at < len(words) and words[at].text[:1] in ("-", "+", ""):
        option = _text(words[at : at + 1])
        at += 1
        if option in ("-", "--", ""):
            break
        if option.startswith("--"):
            if option.startswith("--command"):
                raise Unsure
            at += option in ("--rcfile", "--init-file")
            continue
        has_text |= "c" in option
        if "s" in option and not has_text:
            raise Unsure
        at += "o" in option.lower()
    if at >= len(words):
        raise Unsure
    if has_text:
        return [_text(words[at : at + 1])]
    if words[at].text.startswith(("/dev/", "/proc/")):
        raise Unsure
    return []


def _wrapper(name: str, words: SimpleCommand) -> list[SimpleCommand | str]:
    spec, skipped = _WRAPPERS[name]
    at, options = _options(words, spec)
    if name == "command" and options.keys() & {"v", "V"}:
        return []  # only prints what would be run
    split = options.get("S") if name == "env" else None
    split = split or options.get("split-string")
    if split is not None:
        return [" ".join([_text((split,)), _text(words[at:])])]
    while name in ("env", "sudo", "doas") and at < len(words) and ASSIGNMENT.match(words[at].text):
        at += 1
    _text(words[at : at + skipped])
    inner = words[at + skipped :]
    if not inner:
        if options.keys() & {"i", "s", "login", "shell"} and name in ("sudo", "doas"):
            raise Unsure  # a shell that reads its input
        return []
    if name == "flock" and inner[0].text in ("-c", "--command"):
        return [_text(inner[1:2])]
    return [_with_input(inner, options) if name == "xargs" else inner]


def _options(words: SimpleCommand, spec: str) -> tuple[int, dict[str, Word]]:
    """Return where the operands begin, and the options before them."""
    letters, _, names = spec.partition(" ")
    long = set(names.split())
    at, found = 0, dict[str, Word]()
    while at < len(words):
        option = words[at].text
        if not words[at].known and option[:1] in ("", "-"):
            raise Unsure
        if not option.startswith("-") or option == "-":
            break
        at += 1
        if option == "--":
            break
        if option.startswith("--"):
            name, equals, value = option[2:].partition("=")
            if name not in long and f"{name}:" not in long:
                raise Unsure
            takes_next = not equals and f"{name}:" in long
            found[name] = _at(words, at) if takes_next else Word(value)
        else:
            takes_next = _letters(option[1:], letters, _at(words, at), found)
        at += takes_next
    return at, found


def _letters(cluster: str, letters: str, following: Word, found: dict[str, Word]) -> bool:
    """Read single-letter options written together; return whether the value of the last is the next word."""
    for place, letter in enumerate(cluster):
        if letter == ":" or letter not in letters:
            raise Unsure
        has_value = letters[letters.index(letter) + 1 :].startswith(":")
        rest = cluster[place + 1 :]
        found[letter] = Word(rest) if rest or not has_value else following
        if has_value:
            return not rest
        if letter in "eil" and rest:  # xargs: a value may follow at once
            raise Unsure
    return False


def _at(words: SimpleCommand, at: int) -> Word:
    return words[at] if at < len(words) else _ANYTHING


def _with_input(words: SimpleCommand, options: dict[str, Word]) -> SimpleCommand:
    """Add the input of xargs as unknown words: at the end, or where the replaced text is."""
    for option, default in (("I", ""), ("J", ""), ("i", "{}"), ("replace", "{}")):
        if option in options:
            replaced = options[option]
            if not replaced.known:
                raise Unsure
            words = _replace(words, replaced.text or default)
    return (*words, _ANYTHING)


def _replace(words: SimpleCommand, replaced: str) -> SimpleCommand:
    return tuple(
        Word(word.text.partition(replaced)[0], known=False) if replaced and replaced in word.text else word
        for word in words
    )


def _find(words: SimpleCommand) -> list[SimpleCommand | str]:
    """Return each command between an action and its end."""
    if any(not word.known and word.text[:1] in ("", "-") for word in words):
        raise Unsure  # may be an action
    commands: list[SimpleCommand | str] = []
    current: list[Word] | None = None
    for word in words:
        if current is None:
            current = [] if word.text in _FIND_ACTIONS else None
        elif word.text in (";", "+"):
            commands.append(_replace(tuple(current), "{}"))
            current = None
        else:
            current.append(word)
    if current is not None:
        commands.append(_replace(tuple(current), "{}"))
    return commands


def _eval(words: SimpleCommand) -> list[SimpleCommand | str]:
    return [_text(words)]


def _alias(words: SimpleCommand) -> list[SimpleCommand | str]:
    return [_text((word,)).partition("=")[2] for word in words]


def _trap(words: SimpleCommand) -> list[SimpleCommand | str]:
    operands = words[1:] if words[:1] == (Word("--"),) else words
    return [_text(operands[:1])]


def _source(words: SimpleCommand) -> list[SimpleCommand | str]:
    if not words or (not words[0].known and not words[0].text) or words[0].text.startswith(("/dev/", "/proc/")):
        raise Unsure
    return []


def _su(words: SimpleCommand) -> list[SimpleCommand | str]:
    """Return the text after -c; without one it is a shell that reads its input."""
    _text(words)
    for at, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        if name in ("-c", "--command", "--session-command"):
            return [value if equals else _text(words[at + 1 : at + 2])]
    raise Unsure


def _watch(words: SimpleCommand) -> list[SimpleCommand | str]:
    """Return all words as a line for the shell, as watch runs them."""
    at, options = _options(
        words, "bcd:egn:pqrtwx beep color differences errexit chgexit interval: no-title precise exec"
    )
    return [words[at:]] if options.keys() & {"x", "exec"} else [_text(words[at:])]


_READERS: dict[str, Callable[[SimpleCommand], list[SimpleCommand | str]]] = {
    ".": _source,
    "alias": _alias,
    "eval": _eval,
    "find": _find,
    "source": _source,
    "su": _su,
    "trap": _trap,
    "watch": _watch,
}
