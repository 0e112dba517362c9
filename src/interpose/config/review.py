"""Read what a configuration runs, for a person to look at and for a snapshot: its files, its commands, what is live.

Live is what hooks run or read that is no part of the snapshot: it can change after it was trusted. A guard may not name
a live file of its project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..errors import ConfigError, InterposeError, Problem
from ..events import Table
from ..handlers.declared_command import current_interpreter, program_of
from ..handlers.projects import OF_NO_PROJECT, own_project
from ..model import Hook
from ..routes import is_guard
from ..runtime.regex import regex
from .commands import imports_from_cwd, runs_script_too
from .contents import Contents
from .files import FileRead, seen
from .files import read as read_file
from .mapping import Configuration, settings_from
from .read import Source, read_configuration
from .redirect import redirect_line, redirect_value, redirect_words
from .snapshots import LINKED, Snapshot, snapshot_name, snapshot_path, store_snapshot, use_temporary_directory
from .state import user_directory

__all__ = ["Review", "references_in_place", "review", "review_and_store"]

_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/opt/", "/nix/", "/System/", "/Library/",
           "/dev/", "/proc/", "/etc/")  # fmt: skip
_IN_SCRIPT = regex(rb"\$\{?(?:CLAUDE|INTERPOSE)_PROJECT_DIR\}?[\"']?/([\w./@+-]+)")
_PARENT = regex(rb"\.\./([\w.-][\w./-]*)")
_NAMES = regex(r"[^\s'\"`;|&()<>=:,{}\[\]$!*?\\]+")
"""What may be the name of a file in any text."""
_SEARCHED = regex(
    r"\b(PATH|PYTHONPATH|PYTHONHOME|NODE_PATH|PERL5LIB|PERLLIB|RUBYLIB|LUA_PATH|CLASSPATH|LD_[A-Z_]+|DYLD_[A-Z_]+)"
    r"=(\S+)"
)
"""Variables by which programs find others, and modules."""
_OF_A_PROCESS = regex(r"/(?:proc/[^/]+/(?:task/[^/]+/)?(?:cwd|root|fd)|dev/fd)(?:/|$)")
"""Paths that lead elsewhere in each process."""
_SCRIPT = regex(r".*\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|lua)")


class Review:
    """A configuration as it is now: its hooks, and everything that a snapshot of it consists of."""

    def __init__(self, source: Source, found: Configuration, contents: Contents, real_path: str) -> None:
        self.source = source
        self.found = found
        self.contents = contents
        self.real_path = real_path
        self.commands: dict[str, Any] = {}
        self.live: list[dict[str, str]] = []
        self.beside: dict[str, dict[str, str]] = {}
        """What lies beside the files, which hooks that are not guards can use: per folder the places with the paths."""
        settings = settings_from(**found.settings)
        self.others = any(program_of(hook) and not is_guard(hook, settings) for hook in found.hooks)
        """Whether commands of hooks that are not guards are run."""
        self.refused: list[Problem] = []
        self.folder = ""
        """Where the snapshot is stored, if not with the person's own."""

    @property
    def digest(self) -> str:
        """The hash of all files that would be stored."""
        return self.contents.digest

    @property
    def originals(self) -> dict[str, str]:
        """The files that would be stored, by their paths, with their hashes."""
        return {file.path: file.sha256 for file in self.contents.files.values()}

    def _path_of_guards(self) -> str:
        """Return the PATH without directories of the project, and without those that depend on where a hook runs."""
        parts = os.environ.get("PATH", os.defpath).split(os.pathsep)
        inside = os.path.join(self.contents.root, "")
        outside = [part for part in parts if not os.path.join(os.path.realpath(part), "").startswith(inside)]
        return os.pathsep.join(filter(os.path.isabs, outside))

    def store(self, *, renew: bool = True) -> Snapshot:
        """Store the snapshot; raise ConfigError if a guard may not run like this."""
        if self.refused:
            raise ConfigError(self.refused)
        settings = settings_from(**self.found.settings)
        about = {"file": self.real_path, "commands": self.commands, "live": self.live, "beside": self.beside,
                 "others": self.others, "dialect": self.source.dialect, "layer": self.source.layer,
                 "path": self._path_of_guards(),
                 "guards": settings.error_behavior == "abort"}  # fmt: skip
        return store_snapshot(self.contents, about, self.real_path, renew=renew, folder=self.folder)


def review(table: Table, source: Source, commands: Any = None, *, folder: str = "") -> Review:
    """Read a configuration and all that it runs; raise ConfigError if that cannot be a snapshot.

    ``folder`` is where the snapshot is stored, if not with the person's own.
    """
    before = seen(source.path)
    file = read_file(source.path, found=True)
    directory = os.path.dirname(file.real_path)
    own = os.path.basename(directory) in (".interpose", ".claude") or source.layer == "user"
    contents = Contents(file, before, os.path.dirname(directory) if own else directory)
    ours = os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose")
    if os.path.basename(directory) == ".interpose" or directory == os.path.realpath(ours):
        contents.add_folder(directory)
    else:
        contents.add_folder(os.path.join(directory, "hooks"))
    found = read_configuration(table, source, file, commands=commands, read=contents.read)
    if found.audit is not None and "path" in found.audit:
        contents.leave_out(os.path.realpath(found.audit["path"]))
    made = Review(source, found, contents, file.real_path)
    made.folder = folder
    # The files that hooks name are found first; where they will be is known when all of them are.
    _redirect(made, "")
    _redirect(made, snapshot_path(snapshot_name(contents.digest, file.real_path), folder))
    if made.others and len(contents.files) > 1:
        made.beside = contents.beside()
    return made


def references_in_place(source: Source, file: FileRead, found: Configuration) -> dict[str, str]:
    """Return the files that a configuration runs in place, with their hashes."""
    try:
        made = Review(source, found, Contents(file, None, os.path.dirname(file.real_path)), file.real_path)
        for script in found.scripts:
            made.contents.add_file(script)
    except ConfigError:  # other users can write to it: a file that was named may be so
        return {}
    _redirect(made, "")
    return {path: digest for path, digest in made.originals.items() if path != file.real_path}


def review_and_store(table: Table, source: Source, commands: Any, may: Callable[[Review], bool]) -> Snapshot | None:
    """Review a configuration, and store it if it may be trusted as it is; a machine may have no state directory."""
    made = review(table, source, commands)
    if not may(made):
        return None
    try:
        return made.store(renew=False)
    except ConfigError:
        if made.refused:
            raise
        use_temporary_directory()
        return review(table, source, commands).store(renew=False)


def _redirect(made: Review, target: str) -> None:
    """Redirect the commands of all hooks into a directory; without one, only add the files that they run."""
    made.live, made.refused = [], []
    settings = settings_from(**made.found.settings)
    for hook in made.found.hooks:
        guard = is_guard(hook, settings)
        place, kind = _Placing(made, hook, guard, target), "guard " if guard else ""
        if (command := program_of(hook)) is not None:
            if command.is_line:
                made.commands[f"{kind}line {command.given[0]}"] = redirect_line(command.given[0], place)
            else:
                made.commands["\0".join((f"{kind}words", *command.given))] = redirect_words(command.given, place)
            for name, value in command.env.items():
                place.look_at_variable(name, value)
                made.commands[f"{kind}value {value}"] = redirect_value(value, place)
            place.look_at_path(command)
            place.look_at_imports(command.argv)
        elif hook.type == "python" and isinstance(hook.handler, str):
            place.module_of(hook.handler)
        place.look_into_scripts()
    made.live = [dict(entry) for entry in dict.fromkeys(tuple(entry.items()) for entry in made.live)]


class _Placing:
    """Where the files of one hook are run from."""

    def __init__(self, made: Review, hook: Hook, guard: bool, target: str) -> None:
        self._made = made
        self._hook = hook
        self._guard = guard
        self._target = target
        self._used: list[str] = []
        self._reported: set[str] = set()
        self.folder = os.path.dirname(made.real_path)
        self.project = own_project(self.folder, made.source.layer)
        if not self.project and made.source.layer not in OF_NO_PROJECT:
            self.project = made.contents.root

    def run(self, path: str) -> str | None:
        """Return the place of a file that is run; add the file first."""
        contents = self._made.contents
        if _OF_A_PROCESS.match(path):
            self.unknown(path)
            return None
        if contents.covers(path):
            self._look_at_interpreter(path)
            self._add_named_beside(path)
            return self._placed(path)
        if not os.path.exists(path):
            return self._missing(path)
        inside = self._is_inside(path)
        if path == current_interpreter() or (not inside and path.startswith(_SYSTEM)):
            return None
        if os.path.isdir(path):
            if inside and path != contents.root:
                self._not_kept(path, "a folder")
            return None
        if why := _unsuited(path, contents.root):
            self._not_kept(path, why)
            return None
        if not self._attempt(contents.add_file, path):
            return None
        self._look_at_interpreter(path)
        self._add_named_beside(path)
        return self._placed(path)

    def _look_at_interpreter(self, path: str) -> None:
        """Refuse a guard whose script is run by a program of the project."""
        file = self._made.contents.files.get(self._made.contents.place_of(path))
        first = os.fsdecode(file.data.partition(b"\n")[0]) if file is not None else ""
        for word in first[2:].split() if first.startswith("#!") else ():
            if "/" in word and (not os.path.isabs(word) or self._is_inside(os.path.normpath(word))):
                self._not_kept(word, f"the first line of {os.path.basename(path)} has it run the script")

    def _missing(self, path: str) -> str | None:
        """Return the place of a file that is not there: what appears later in a folder that is kept is not run."""
        folder = os.path.dirname(path)
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        if self._made.contents.covers(folder):
            return self._placed(path)
        if self._is_inside(path):
            self._not_kept(path, "it does not exist")
        return None

    def name(self, path: str) -> str | None:
        """Return the place of a file that is named; None if it is no part of the snapshot."""
        if self._made.contents.covers(path):
            return self._placed(path)
        if self._is_inside(path) and os.path.isfile(path):
            self._not_kept(path, "it is named, and not run")
        elif self._is_inside(path) and os.path.isdir(path) and path != self._made.contents.root:
            self._not_kept(path, "a folder")
        return None

    def asks(self, path: str) -> str | None:
        """Return the place of a path whose existence or content decides; refuse a guard for which an agent can set it.

        What other hooks look at stays what it is now.
        """
        if not self._guard:
            return None
        if self._made.contents.covers(path):
            return self._placed(path)
        if self._is_inside(path):
            self._not_kept(path, "the line looks at it, and it can come, go and change")
        return None

    def mentions(self, text: str, bases: Sequence[str]) -> None:
        """Refuse a guard whose line names, wherever it does, what is in the project and would not come from here."""
        for name, value in _SEARCHED.findall(text):
            self.look_at_variable(name, value)
        for name in dict.fromkeys(_NAMES.findall(text)) if self.project else ():
            for base in dict.fromkeys(bases):
                path = os.path.normpath(os.path.join(base, os.path.expanduser(name)))
                if not self._is_inside(path):
                    continue
                if os.path.isfile(path) or (self._guard and os.path.isdir(path)):
                    self._not_kept(path, "the text names it, and would use it where it is")
                elif self._guard and name.startswith(("./", "../")):
                    self._not_kept(path, "it does not exist")

    def look_at_variable(self, name: str, value: str) -> None:
        """Refuse a guard that looks for programs or modules in the project."""
        if _SEARCHED.fullmatch(f"{name}={value}"):
            self.searches(name, value)

    def searches(self, name: str, value: str) -> None:
        """Refuse a guard for which an interpreter looks for modules in the project."""
        for part in value.replace("'", "").replace('"', "").split(os.pathsep) if self._guard and value else ():
            if part.startswith("$") or self._made.contents.covers(os.path.join(self.project, part)):
                continue
            path = os.path.normpath(os.path.join(self.project, os.path.expanduser(part)))
            if not os.path.isabs(os.path.expanduser(part)) or self._is_inside(os.path.join(path, "")):
                self._not_kept(path, f"{name} has it, and anything can come to be there")

    def module(self, root: str, name: str) -> str | None:
        """Return the directory that a module is imported from; add the module first."""
        top = os.path.join(root, name.partition(".")[0])
        if not self._is_inside(top):
            return None
        if os.path.isdir(top):
            added = self._attempt(self._made.contents.add_folder, top)
        elif os.path.isfile(f"{top}.py"):
            added = self._attempt(self._made.contents.add_file, f"{top}.py")
            self._add_named_beside(f"{top}.py")
        else:
            return None
        return self._placed(root) if added else None

    def module_of(self, handler: str) -> None:
        """Add the module of a function; one that lies elsewhere in the project is live."""
        top = handler.replace(":", ".").partition(".")[0]
        if self.module(self.folder, top) is None and self.project:
            for path in (os.path.join(self.project, top), os.path.join(self.project, f"{top}.py")):
                if os.path.exists(path):
                    self._not_kept(path, "a module outside the folder of the configuration")

    def unknown(self, text: str) -> None:
        """Note what is known only when it runs."""
        shown = text.replace("\0", "$CLAUDE_PROJECT_DIR").replace("*", "…") or "…"
        self._not_kept(shown, "it is known only when it runs")

    def reads(self, path: str) -> None:
        """Note a file by which a program knows what to run."""
        if self._guard and self._is_inside(path):
            self._not_kept(path, "it says what is run")
        elif os.path.isfile(path) and self._is_inside(path) and not self._made.contents.covers(path):
            self._is_live(path, "it says what is run")

    def look_at_path(self, command: Any) -> None:
        """Note the directories of PATH that are in the project, for a guard."""
        for entry in os.environ.get("PATH", "").split(os.pathsep) if self._guard and self.project else ():
            if entry and os.path.isabs(entry) and self._is_inside(os.path.normpath(entry)):
                self._is_live(entry, "a directory of PATH in the project: guards do not look there")

    def look_at_imports(self, argv: Sequence[str]) -> None:
        """Refuse a guard that runs code of its line and a script: only one of them can be kept from the directory."""
        if self._guard and imports_from_cwd(argv) and runs_script_too(argv):
            self._not_kept("python -c with a script", "the code imports what is in the directory where it runs; add -I")

    def look_into_scripts(self) -> None:
        """Note the scripts of the project that a script of this hook names by the project's variable."""
        for path in self._used:
            file = self._made.contents.files.get(self._made.contents.place_of(path))
            for name in _IN_SCRIPT.findall(file.data) if file is not None else ():
                named = os.path.join(self._made.contents.root, os.fsdecode(name))
                if _SCRIPT.fullmatch(named) and os.path.isfile(named):
                    self._is_live(named, f"{os.path.basename(path)} names it; $INTERPOSE_HOOKS_DIR is what was trusted")

    def _add_named_beside(self, script: str) -> None:
        """Add what a script sources, imports or requires: files whose names it mentions, beside it or as ``../name``.

        Nothing of the project's own directory is added, where everything may be mentioned.
        """
        contents, unread, read = self._made.contents, [script], {script}
        while unread and not self._target:
            path = unread.pop()
            text = contents.files[contents.place_of(path)].data if contents.place_of(path) in contents.files else b""
            folder = os.path.dirname(path)
            words = {os.fsdecode(word) for word in (*re.findall(rb"[\w.-]+", text), *re.findall(rb"\w+", text))}
            named = [] if folder == contents.root else _listed(folder, words)
            named += [_above(folder, os.fsdecode(part)) for part in _PARENT.findall(text)]
            for beside in named:
                if beside in read or not self._is_inside(beside) or os.path.dirname(beside) == contents.root:
                    continue
                if folder == beside or folder.startswith(beside + os.sep):  # ../..: it is above
                    continue
                read.add(beside)
                if contents.covers(beside):
                    unread.append(beside)
                elif os.path.isfile(beside):
                    with suppress(InterposeError):
                        contents.add_file(beside)
                        unread.append(beside)
                elif os.path.isdir(beside):
                    with suppress(InterposeError):
                        contents.add_folder(beside, most_files=200)

    def _attempt(self, add: Callable[[str], None], path: str) -> bool:
        """Add a file or a folder; note why if that cannot be."""
        if self._target and not self._made.contents.covers(path):
            self._not_kept(path, "it appeared while the files were read")
            return False
        try:
            add(path)
        except InterposeError as error:
            self._not_kept(path, error.problem.what)
            return False
        return True

    def _placed(self, path: str) -> str:
        self._used.append(path)
        self._made.contents.named.add(self._made.contents.place_of(path))
        tree = "" if self._guard else LINKED
        return os.path.normpath(os.path.join(self._target, tree, self._made.contents.place_of(path)))

    def _is_inside(self, path: str) -> bool:
        return path.startswith(os.path.join(self._made.contents.root, ""))

    def _not_kept(self, path: str, why: str) -> None:
        """Refuse a guard that names a file which is no part of the snapshot; note it for other hooks."""
        if path in self._reported:
            return
        self._reported.add(path)
        if self._guard:
            where = self._hook.source or self._made.source.path
            self._made.refused.append(Problem(f"{self._hook.label}: a guard cannot use {path}: {why}", where=where,
                                              hint="put the file below .interpose, and name it there"))  # fmt: skip
        else:
            self._is_live(path, why)

    def _is_live(self, path: str, why: str) -> None:
        self._made.live.append({"hook": self._hook.label, "what": path, "why": why})


def _listed(folder: str, names: set[str]) -> list[str]:
    """Return the entries of a folder whose name, with or without its ending, is one of these."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in entries if {name, name.partition(".")[0]} & names - {""}]


def _above(folder: str, path: str) -> str:
    """Return the file, or the first folder, of a path that begins in the folder above."""
    whole = os.path.normpath(os.path.join(os.path.dirname(folder), path))
    return whole if os.path.isfile(whole) else os.path.normpath(os.path.join(folder, "..", path.partition("/")[0]))


def _unsuited(path: str, root: str) -> str:
    """Return why a program is not copied: it belongs to an environment, and works only there."""
    if os.path.islink(path) and os.path.realpath(path).startswith(_SYSTEM):
        return "a link to a program of the system"
    folder = os.path.dirname(path)
    while len(folder) > len(root):
        if os.path.basename(folder) == "node_modules" or os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
            return "a part of an environment"
        folder = os.path.dirname(folder)
    return ""
