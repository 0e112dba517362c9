"""Programs that run commands in their own way: builtins, ``find``, ``env``, ``ssh``, ``docker`` …"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

from ...runtime.regex import regex
from .. import programs
from ..programs import INTERPRETERS, WRAPPERS, Wrapper
from .arguments import look_into
from .context import INPUT_IGNORED, INPUT_RUN, INPUT_SUSPECT, Context
from .flow import is_from_outside
from .functions import ANYTHING, text_of
from .git import read_git
from .interpreters import run_interpreter, run_shell
from .line import Suspect
from .options import operands_of, parse_options
from .resolver import DEEPEST, ProgramReader, Resolver
from .scripts import read_awk, read_cmake, read_debugger, read_editor, read_make, read_sed
from .texts import is_text, printed_text
from .words import MANY, ONE, UnreadKind, Unsure, base_name, is_known, written_of
from .wrappers import run_wrapper, suspect_wrapper

__all__ = ["READERS"]

# It is compiled on first use, which takes long.
_ARCHITECTURE = (
    r"x86_64|i[3-6]86|linux(?:32|64)|uname26|aarch64|arm\w*|ppc\w*|s390x?|mips\w*|sparc\w*|ia64|athlon|alpha\w*"
    r"|parisc\w*|riscv\w*"
)
_MOST_VALUES = 16
_PLACES_OF_PARALLEL = regex(r"\{(?:[0-9+-]*(?:[./#%]|//|/\.)?|=.*?=)\}")
_TMUX_RUNS = frozenset([
    "new", "new-session", "neww", "new-window", "splitw", "split-window", "respawnp", "respawn-pane", "respawnw",
    "respawn-window", "run", "run-shell", "if", "if-shell", "send", "send-keys", "pipep", "pipe-pane", "popup",
    "display-popup",
])  # fmt: skip
_FIND_ACTIONS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])


def _eval(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if _is_safe_text(words, context):
        return INPUT_IGNORED
    if _is_generated(line, words, context):
        line.found.cannot_read("eval runs what a program of the machine prints for shells", "file")
        return INPUT_IGNORED
    return line.run_text(" ".join(words), context, "eval")


def _source(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not words:
        return INPUT_IGNORED
    path = words[0]
    if text := printed_text(path, context.parsed.commands):
        return line.run_text(text, context, name)
    if _is_safe_text(words[:1], context):
        return INPUT_IGNORED
    if programs.is_sourced_safely(path.replace(ONE, "")) and MANY not in path and path not in line.files.written:
        line.files.ran.append((name, path))
        return INPUT_IGNORED
    is_generated = _is_generated(line, words[:1], context)
    kind: UnreadKind = "file" if is_generated else _kind_of_file(line, path, context)
    line.found.cannot_read(f"{name} runs a file that is not read", kind)
    return INPUT_RUN


def _kind_of_file(line: Resolver, path: str, context: Context) -> UnreadKind:
    """Return why a file that is sourced cannot be read: it is there already, or the line makes it."""
    if path.startswith(("/dev/", "/proc/")):
        return "input"
    if is_from_outside(path, context.state, context.parsed):
        return "file"
    if not is_known(base_name(path)) or (not is_known(path) and context.raw.substituted and not _is_beside(path)):
        return "computed"
    return "written" if line.files.wrote(path) else "file"


def _is_beside(path: str) -> bool:
    """Return whether a path is a file with an ending in a directory that is computed as one word: no device is."""
    return MANY not in path and re.fullmatch(r"[\w-]+\.[a-z]+", base_name(path)) is not None


def _alias(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    others = line.beside_aliases.get(context.parsed)
    if others is None:
        others = text_of(raw for raw in context.parsed.commands if raw.words[:1] != ["alias"])
        line.beside_aliases[context.parsed] = others
    for word in arguments:
        alias, _, text = word.partition("=")
        read = partial(line.run_text, text, context, "alias", "an alias stands for it", more=True)
        if text and (others is ANYTHING or alias in others):
            read()
        elif text:
            line.found.suspect("an alias", read)
    return INPUT_IGNORED


def _trap(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if len(words) > 1 and words[0] not in ("-", "-l", "-p"):
        return line.run_text(words[0], context, "trap")
    return INPUT_IGNORED


def _find(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read each command between an action and its end: ``;``, or ``+`` after braces."""
    role, current, before = INPUT_IGNORED, list[str](), ""
    inside = False
    for option, target in pairwise(arguments):
        if option in ("-fprintf", "-fprint", "-fprint0", "-fls"):
            line.files.write(target)
    for at, word in enumerate([*arguments, ";"]):
        if not inside:
            inside = word in _FIND_ACTIONS
            if (
                not is_known(word)
                and word[:1] in (ONE, MANY)
                and (";" in arguments or (MANY in word and line.variables.are_chosen))
            ):
                line.found.cannot_read("the actions of find are computed")
                line.found.suspects.append(Suspect("find", tuple(arguments), runs=True))
        elif word == ";" or (word == "+" and before == "{}"):
            if current:
                inner = [one.replace("{}", ONE) for one in current]
                why = "" if at < len(arguments) else "find -exec is not ended"
                role = max(role, line.resolve(inner, context.inside("find -exec", why)))
            inside, current = False, []
        else:
            current.append(word)
        before = word
    return role


def _env(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    spec = "0iu:C:S:P:v ignore-environment null unset= chdir= split-string= debug"
    at, found, sure = parse_options(arguments, spec, dash=True, until=("S", "split-string"))
    split = found.get("S", found.get("split-string"))
    if split is not None and sure:
        if re.search(r"[\\$#'\"\0\1]", split):
            line.found.cannot_read("env -S reads a text in its own way")
            line.found.suspects.append(Suspect("env -S", text=split, runs=True))
            return INPUT_RUN
        if context.depth > DEEPEST:
            raise Unsure("too many commands that run commands")
        return _env(line, name, [*split.split(), *arguments[at:]], context.inside("env -S"))
    if not sure:
        return suspect_wrapper(line, "env", arguments, context)
    context = context.moved(found.get("C", found.get("chdir")))
    return (
        run_wrapper(line, "env", Wrapper(assigns=True), arguments[at:], context)
        if at < len(arguments)
        else INPUT_IGNORED
    )


def _su(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read each text after -c; without one it is a shell that runs what it reads."""
    role, found = INPUT_RUN, False
    if name == "runuser" and any(word == "-u" or word.startswith("--user") for word in arguments):
        return run_wrapper(line, "runuser", Wrapper("u: user="), arguments, context)
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if option in ("--command", "--session-command") and equals:
            text = value
        elif word in ("-c", "--command", "--session-command") or re.fullmatch(r"-[a-z]*c", word):
            text = "".join(arguments[at + 1 : at + 2])
        elif re.match(r"-[lmpPf]*c.", word):
            text = word.partition("c")[2]
        elif is_text(word):
            text = word
        else:
            continue
        found = True
        role = max(role, line.run_text(text, context, f"{name} -c"))
    return role if not found or role == INPUT_RUN else INPUT_SUSPECT


def _script(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the text after -c, which may have letters before it and the text at once after it."""
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        letters = re.match(r"-[a-zA-Z]*?c", word) if not word.startswith("--") else None
        if option == "--command" or letters:
            attached = value if equals and not letters else word[letters.end() :] if letters else ""
            return line.run_text(attached or "".join(arguments[at + 1 : at + 2]), context, "script -c")
    line.found.suspects.append(Suspect(name, tuple(arguments), runs=True))
    return INPUT_RUN


def _joined(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read all words after the options as one text, as watch runs them."""
    at, found, sure = parse_options(
        arguments, "bcd:egn:pqrtwx beep color differences errexit chgexit interval= no-title precise exec"
    )
    if not sure:
        return suspect_wrapper(line, name, arguments, context)
    if found.keys() & {"x", "exec"}:
        return line.resolve(arguments[at:], context.inside(name)) if at < len(arguments) else INPUT_IGNORED
    return line.run_text(" ".join(arguments[at:]), context, name)


def _flock(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    spec = "eE:Fnosuvw:x close conflict-exit-code= exclusive nb no-fork nonblock shared timeout= unlock verbose wait="
    at, _, sure = parse_options(arguments, spec)
    rest = arguments[at + 1 :]
    if not sure:
        return suspect_wrapper(line, name, arguments, context)
    if rest and rest[0] in ("-c", "--command"):
        return line.run_text("".join(rest[1:2]), context, "flock -c")
    return line.resolve(rest, context.inside(name)) if rest else INPUT_IGNORED


def _ssh(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the words after the host as a text that another machine runs."""
    spec = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:P:"
    at, _, sure = parse_options(arguments, spec)
    if (
        list(arguments[at:]) == [MANY]
        and type(arguments[at]) is str
        and context.adds
        and context.via[-1:] not in (("xargs",), ("parallel",))
    ):
        return INPUT_SUSPECT  # a transport to which the program adds the host
    rest = arguments[at + 1 :]
    again, _, sure_again = parse_options(rest, spec)
    for word in arguments:
        value = word.removeprefix("-o")
        if "command" in value.partition("=")[0].lower().partition(" ")[0] and ("=" in value or " " in value):
            line.found.suspects.append(Suspect("ssh -o", text=re.split("[= ]", value, maxsplit=1)[1], runs=True))
            if not is_known(value):
                line.found.cannot_read("ssh -o runs a text that is computed")
    if not sure or not sure_again:
        return suspect_wrapper(line, name, arguments, context)
    rest = rest[again:]
    if not rest:
        return INPUT_RUN
    if not all(is_known(word) for word in rest):
        line.found.suspects.append(Suspect("ssh", text=" ".join(rest), runs=True))
        if not is_known(rest[0]):
            line.found.cannot_read("ssh runs a text that is computed")
        return INPUT_RUN
    return line.run_text(" ".join(rest), context._replace(elsewhere=True), "ssh", "ssh runs it on another host")


def _docker(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the words after an image as a command that a container runs."""
    at, _ = operands_of(name, arguments)
    words = list(arguments[at:])
    if words[:1] in (["container"], ["compose"]):
        key = " ".join([name, *words[:2]])
        if key in WRAPPERS:
            return run_wrapper(line, key, WRAPPERS[key], words[2:], context)
        words = words[1:]
    key = f"{name if f'{name} exec' in WRAPPERS else 'docker'} {words[0] if words else ''}"
    if words[:1] == ["exec"]:
        return run_wrapper(line, key, WRAPPERS[key], words[1:], context)
    if not words or words[0] not in ("run", "create"):
        return look_into(line, name, arguments, context)
    at, entry = 1, ""
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = words[at].partition("=")
        takes = not equals and option not in programs.DOCKER_FLAGS and not re.fullmatch(r"-[itdPq]+", option)
        if option == "--entrypoint":
            entry = value if equals else "".join(words[at + 1 : at + 2])
        at += 2 if takes else 1
    inner = [*([entry] if entry else []), *words[at + 1 :]]
    line.found.suspect_texts(name, words[:at])
    if not inner:
        return INPUT_SUSPECT
    within = context.inside(f"{name} {words[0]}", "a container runs it")._replace(elsewhere=True)
    if inner[0].startswith("-"):
        return look_into(line, name, inner, within)
    return line.resolve(inner, within)


def _reads_commands(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Note a program that runs what it reads, such as at and crontab."""
    operands = [word for word in arguments if not word.startswith("-")]
    if name == "crontab":
        if not operands and "-" not in arguments:
            return INPUT_SUSPECT if arguments else INPUT_RUN
        line.files.ran += [(name, word) for word in operands]
    elif name in ("at", "batch"):
        line.files.ran += [(name, word) for word in operands]
    line.found.suspect_texts(name, arguments, runs=True)
    return INPUT_RUN


def _callback(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the text that mapfile -C, complete -C, bind -x and others run."""
    for at, word in enumerate(arguments):
        if re.match(r"-[a-zA-Z]*[CFxW]", word):
            value = "".join(arguments[at + 1 : at + 2]) or word[2:]
            if name == "complete" and word.endswith("F") and re.fullmatch(r"\w+", value):
                continue  # a function that an interactive shell calls
            line.found.cannot_read(f"{name} {word[:2]} runs a text later")
            line.found.suspects.append(Suspect(name, text=value, runs=True))
    return INPUT_IGNORED


def _changes_names(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Note hash -p, enable -f and others, after which a name means something else."""
    marks = {"hash": "p", "enable": "fad", "fc": "se", "history": "sprn"}[name]
    if any(word.startswith("-") and set(word[1:]) & set(marks) for word in arguments):
        line.found.cannot_read(f"{name} changes what a name means, or runs something that is not read")
    return INPUT_IGNORED


def _jobs(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    if arguments[:1] == ["-x"] and len(arguments) > 1:
        return line.resolve(arguments[1:], context.inside("jobs -x"))
    return INPUT_IGNORED


def _command(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    if any(re.fullmatch(r"-p?[vV]+p?", word) for word in arguments[:2]):
        return INPUT_IGNORED  # only prints what would be run
    return run_wrapper(line, "command", WRAPPERS["command"], arguments, context)


def _sudo(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    if (
        arguments[:1]
        and arguments[0] in ("-v", "-K", "-k", "-l", "-V", "--version", "-e", "--edit", "--list", "--validate")
        and (len(arguments) == 1 or arguments[0] in ("-e", "--edit"))
    ):
        return INPUT_IGNORED
    return run_wrapper(line, "sudo", WRAPPERS["sudo"], arguments, context)


def _tmux(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Suspect all words: windows run commands, and keys that are sent to a shell are run."""
    if any(word in _TMUX_RUNS for word in arguments):
        for word in filter(is_text, arguments):
            line.run_text(word, context, name, "tmux runs it")
    line.found.suspects.append(Suspect(name, tuple(arguments), runs=True))
    line.found.suspect_texts(name, arguments, runs=True)
    return INPUT_SUSPECT


def _capsh(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    if "--" in arguments:
        return run_shell(line, "bash", arguments[list(arguments).index("--") + 1 :], context)
    return suspect_wrapper(line, name, arguments, context)


def _start_stop_daemon(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the program after --exec with the words after the dashes."""
    program, rest = "", list[str]()
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if word == "--":
            rest = list(arguments[at + 1 :])
            break
        if option in ("-x", "--exec", "-a", "--startas"):
            program = value if equals else "".join(arguments[at + 1 : at + 2])
    if not program:
        return suspect_wrapper(line, name, arguments, context)
    return line.resolve([program, *rest], context.inside(name))


def _coreutils(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    program = next((word.partition("=")[2] for word in arguments[:1] if word.startswith("--coreutils-prog")), "")
    return line.resolve([program, *arguments[1:]], context.inside(name)) if program else INPUT_IGNORED


def _parallel(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the words before ``:::`` as a command with more words; without a command the other words are commands."""
    end = next((at for at, word in enumerate(arguments) if word.startswith(":::")), None)
    command = list(arguments[:end])
    at, found, sure = parse_options(command, WRAPPERS["parallel"].options)
    if sure and found.keys() & {"dry-run", "dryrun"}:
        return INPUT_IGNORED
    for word in arguments[end:] if end is not None else ():
        line.found.suspects.append(Suspect(name, text=word, runs=True))
    if not sure:
        return suspect_wrapper(line, name, arguments, context)
    if not command[at:]:
        given = arguments[end + 1 :] if end is not None else ()
        for word in given:
            line.run_text(word, context, name)
        return INPUT_RUN if not given else INPUT_SUSPECT
    if end is not None and arguments[end] == ":::" and not is_text(command[at]) and _are_plain(arguments[end + 1 :]):
        has_place = any("{}" in word for word in command[at:])
        for value in arguments[end + 1 :]:
            words = [word.replace("{}", value) for word in command[at:]]
            line.resolve(words if has_place else [*words, value], context.inside(name))
        return INPUT_SUSPECT
    words = [_PLACES_OF_PARALLEL.sub(ONE, word) for word in command[at:]]
    words += [MANY] if words == command[at:] else []
    if len(command[at:]) > 1:
        return line.resolve(words, context.inside(name))
    text = " ".join(words) if all(map(is_known, command)) else MANY
    return max(INPUT_SUSPECT, line.run_text(text, context, name, "parallel adds words"))


def _are_plain(words: Sequence[str]) -> bool:
    return len(words) <= _MOST_VALUES and all(re.fullmatch(r"[\w./:@%+=,-]+", word) for word in words)


def _setarch(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Pass the architecture, which may be left out, and the options on both sides of it."""
    spec = WRAPPERS["setarch"].options
    at, _, sure = parse_options(arguments, spec)
    if name == "setarch" and at < len(arguments) and re.fullmatch(_ARCHITECTURE, arguments[at]):
        more, _, sure_again = parse_options(arguments[at + 1 :], spec)
        at, sure = at + 1 + more, sure and sure_again
    if not sure:
        return suspect_wrapper(line, name, arguments, context)
    return run_wrapper(line, name, Wrapper(), arguments[at:], context)


def _set(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    line.arithmetic.holds_text |= bool(arguments)
    return INPUT_IGNORED


def _fd(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Read the command after -x, which fd runs for each file."""
    at = next((at for at, word in enumerate(arguments) if word in ("-x", "-X", "--exec", "--exec-batch")), None)
    if at is None or at + 1 >= len(arguments):
        return INPUT_IGNORED
    return line.resolve([*(word.replace("{}", ONE) for word in arguments[at + 1 :]), MANY], context.inside("fd -x"))


def _run_parts(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    line.found.cannot_read("run-parts runs the files of a directory", "file")
    return INPUT_SUSPECT


def _exec(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    if not arguments and any(
        one.is_input and one.target not in ("/dev/null", "/dev/tty") for one in context.raw.redirections
    ):
        line.found.cannot_read("exec gives the shell something else to read", "input")
    return run_wrapper(line, "exec", WRAPPERS["exec"], arguments, context) if arguments else INPUT_IGNORED


def _python_module_runner(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    return run_wrapper(
        line,
        name,
        Wrapper("qvn nproc-per-node= nproc_per_node= nnodes= master-port= master_port= standalone"),
        arguments,
        context,
    )


def _is_safe_text(words: Sequence[str], context: Context) -> bool:
    """Return whether a text is wholly what a program prints to set a shell up: ``eval "$(ssh-agent)"``."""
    ranges = context.raw.substituted
    if len(words) != 1 or words[0] not in (ONE, MANY) or len(ranges) != 1:
        return False
    commands = context.parsed.commands[slice(*ranges[0])]
    if (
        len(commands) != 1
        or not _is_for_completion(commands[0].assigned)
        or commands[0].substituted
        or not commands[0].words
        or not all(map(is_known, commands[0].words[1:]))
        or not is_known(written_of(commands[0].words[0]))
    ):
        return False
    if not _is_installed(commands[0].words[0]) or commands[0].redirections:
        return False
    given = [base_name(word) if at == 0 else word for at, word in enumerate(commands[0].words)]
    if (commands[0].assigned and len(given) == 1 and _prints_completion([*given, "completion", "bash"])) or (
        not commands[0].assigned and _prints_completion(given)
    ):
        return not context.parsed.functions
    return (
        any(tuple(given[: len(safe)]) == safe for safe in programs.SETTINGS_PRINTERS) and not context.parsed.functions
    )


def _is_generated(line: Resolver, words: Sequence[str], context: Context) -> bool:
    """Return whether a text is what a program prints for shells by its words: ``eval "$(./tool shell-init)"``."""
    ranges = context.raw.substituted
    if len(words) != 1 or words[0] not in (ONE, MANY) or len(ranges) != 1 or context.parsed.functions:
        return False
    commands = context.parsed.commands[slice(*ranges[0])]
    if len(commands) != 1 or commands[0].redirections or commands[0].assigned or commands[0].substituted:
        return False
    given = commands[0].words
    if (
        not 2 <= len(given) <= _MOST_GENERATING
        or not all(map(_PLAIN_WORD.fullmatch, given))
        or line.files.wrote(given[0])
    ):
        return False
    name = base_name(given[0])
    readers = programs.INERT | programs.SHELLS | INTERPRETERS.keys() | WRAPPERS.keys() | READERS.keys()
    return name not in readers | programs.WRITERS.keys() and any(map(_GENERATES.fullmatch, given[1:]))


_MOST_GENERATING = 5
_PLAIN_WORD = regex(r"(?!/(?:dev|proc|tmp|var/tmp)/)[\w./=@+-]+", re.ASCII)
_GENERATES = regex(r"(?:--?)?(?:(?:\w+-)?(?:completions?|env|hook|init)|shellenv|activate|complete-\w+)", re.ASCII)


def _is_for_completion(assigned: Sequence[tuple[str, str]]) -> bool:
    """Return whether the variables only make a program print its completion: ``_X_COMPLETE=bash_source``."""
    return all(re.fullmatch(r"_\w+_COMPLETE", name) and re.fullmatch(r"\w+", value) for name, value in assigned)


def _prints_completion(words: Sequence[str]) -> bool:
    """Return whether a command is ``X completion SHELL``, as many programs have it."""
    shells = {"bash", "zsh", "fish", "powershell"}
    is_program = (
        words[0] not in programs.INERT | programs.SHELLS | INTERPRETERS.keys() | WRAPPERS.keys() | READERS.keys()
    )
    return (
        is_program and len(words) == 3 and words[1].lstrip("-") in ("completion", "completions") and words[2] in shells
    )


def _is_installed(program: str) -> bool:
    """Return whether a program is named alone, or below a directory of the system or the home."""
    path = written_of(program)
    return "/" not in path or (path.startswith(("/", "~/")) and not path.startswith(("/tmp/", "/var/tmp/", "/dev/")))  # noqa: S108


_BY_READER: Mapping[ProgramReader, str] = {
    _source: ". source",
    _eval: "eval",
    _alias: "alias",
    _trap: "trap",
    _find: "find",
    _env: "env",
    _su: "su runuser sg",
    _script: "script scriptlive",
    _joined: "watch",
    _flock: "flock",
    _set: "set",
    _ssh: "ssh slogin autossh mosh",
    _docker: "docker podman nerdctl nvidia-docker",
    read_git: "git",
    read_awk: "awk gawk mawk nawk",
    read_sed: "sed gsed",
    read_cmake: "cmake",
    read_debugger: "gdb lldb rust-gdb rust-lldb cgdb",
    read_make: "make gmake bsdmake",
    read_editor: "vim vi nvim ex ed view rvim vimdiff red",
    _reads_commands: "at batch crontab",
    _callback: "mapfile readarray complete compgen bind",
    _changes_names: "hash enable fc history",
    _jobs: "jobs",
    _command: "command",
    _sudo: "sudo",
    _tmux: "tmux",
    _capsh: "capsh",
    _exec: "exec",
    _start_stop_daemon: "start-stop-daemon",
    suspect_wrapper: "systemd-nspawn",  # its options take any number of words
    _coreutils: "coreutils",
    _parallel: "parallel",
    _setarch: "setarch linux32 linux64 i386 x86_64",
    _run_parts: "run-parts",
    _fd: "fd fdfind",
    _python_module_runner: "torchrun",
}
READERS: Mapping[str, ProgramReader] = {
    **dict.fromkeys(INTERPRETERS, run_interpreter),
    **dict.fromkeys(programs.SHELLS, run_shell),
    **{name: reader for reader, names in _BY_READER.items() for name in names.split()},
}
