"""Compare a path with the pattern of a rule, by every name that the path and the pattern's directory have.

Both sides are compared as written and as resolved. A rule that denies matches if one name matches; a rule that allows
covers a path if all of them do.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from unicodedata import normalize

from ..runtime.regex import regex
from .globs import glob_to_regex, has_wildcards, overlap, samples, widened
from .grades import Grade
from .names import Predicate, linear

__all__ = ["PathPattern", "Unreadable", "is_hard_link", "leads_elsewhere", "names_of", "readings_of"]

_MOST_COMPILED = 64
_MOST_PARTS = 4_096
_MOST_LINKS = 40
_MOST_VARIABLES = 16
_LONGEST_NAME = 255
_LONGEST_PATH = 4_096  # in bytes, for one call of the system


class Unreadable(Exception):
    """The file that a path leads to cannot be found out."""


class PathPattern:
    """The pattern in ``Read(…)``: relative to the event's directory, ``//`` to the root, ``~/`` to a home.

    A name without a slash is meant at any depth. A folder is meant with everything below it. One slash at the beginning
    is the event's directory; many write it for the root, so a rule that denies, asks or selects is about both.
    """

    __slots__ = ("_compiled", "_is_folder", "_text")

    def __init__(self, text: str) -> None:
        self._is_folder = text.endswith("/")
        self._text = text.rstrip("/") or text[:2]
        self._compiled: dict[tuple[str, ...], Predicate] = {}
        if any(mark in text for mark in "[{\\"):
            self._predicate("/", self._text)  # raises ValueError if it cannot be compiled

    def grade(self, path: str, cwd: str) -> Grade | None:
        """Return how sure it is that the pattern means a file."""
        forms = self._forms(cwd)
        try:
            for spelling, grade in _spellings(path, cwd):
                if self._means(spelling, forms):
                    return grade
        except (Unreadable, OSError, ValueError):
            return "opaque"
        return None

    def covers(self, path: str, cwd: str) -> bool:
        """Return whether the pattern certainly means a file: below the event's directory, or below the rule's own."""
        if path.startswith("~"):  # which the tool may expand to a home
            return False
        base = cwd or os.sep
        try:
            real, real_base = _resolved(os.path.join(base, path), base), _resolved(base, base)
            spellings = [spelling for spelling, _ in _spellings(path, base)]
        except (Unreadable, OSError, ValueError):
            return False
        if not self._text.startswith(("//", "~")) and os.path.commonpath([real, real_base]) != real_base:
            return False
        strict = [self._predicate(head, tail, below=self._is_folder) for head, tail in self._forms(base, wide=False)]
        return all(any(matches(spelling) for matches in strict) for spelling in spellings)

    def grade_search(
        self, roots: Sequence[str], globs: Sequence[str], cwd: str, *, from_cwd: bool = False
    ) -> Grade | None:
        """Return ``certain`` if the pattern means all that a search finds, ``opaque`` if it may mean a part of it.

        With ``from_cwd`` a glob with a slash may begin at the event's directory too, as for ripgrep.
        """
        forms = self._forms(cwd)
        meant = [_folded(one) for head, tail in forms for one in self._wholes(head, tail, cwd)]

        def is_near(whole: str) -> bool:
            return any(overlap(_folded(whole), one) for one in meant)

        try:
            found = [spelling for root in roots for spelling, _ in _spellings(root, cwd)]
            folders = [root for root in found if not os.path.isfile(root)]  # there is nothing below a file
            searched = [search for root in folders for glob in globs for search in _searches(root, glob, cwd)]
            if from_cwd and any(is_near(_literal(root) + "/**") for root in folders):
                begin = cwd or os.sep
                searched += [search for glob in globs if "/" in glob for search in _searches(begin, glob, cwd)]
        except (Unreadable, OSError, ValueError):
            return "opaque"
        if any(self._means(root, forms) for root in found):
            return "certain"
        wholes = list(dict.fromkeys(_literal(head) + ("/" + tail if tail else "") for head, tail in searched))
        for paths in (paths for whole in wholes for paths in samples(whole)):
            if all(self._means(os.path.normpath(path), forms) for path in paths):
                return "certain"
        return "opaque" if any(map(is_near, wholes)) else None

    def files(self, cwd: str) -> Callable[[str], bool]:
        """Return a function that says whether the pattern means a file, for many absolute paths in one directory."""
        forms = self._forms(cwd)

        def means(path: str) -> bool:
            try:
                names = {path, _resolved(path, cwd)} if os.path.islink(path) else {path}
                return any(self._means(name, forms) for name in names)
            except (Unreadable, OSError, ValueError):
                return True

        return means

    # What the pattern stands for.

    def _forms(self, cwd: str, *, wide: bool = True) -> list[tuple[str, str]]:
        """Return the pattern as a directory and a glob below it, by each name of the directory.

        With ``wide`` the directory is also the one in which the host was started: Claude Code's ``cwd`` follows ``cd``.
        """
        names = self._names(cwd)
        if wide and re.match(r"/[^/]", self._text):
            names += _named("/", self._text, cwd)
        project = os.environ.get("CLAUDE_PROJECT_DIR", "")
        if wide and os.path.isabs(project) and project != cwd:
            names = list(dict.fromkeys((*names, *self._names(project))))
        return [(_composed(head), _composed(tail)) for head, tail in names]

    def _names(self, cwd: str) -> list[tuple[str, str]]:
        text, base = self._text, cwd or os.sep
        if text.startswith("//"):
            return _named("/", text, cwd)
        home, _, rest = text.partition("/")
        if home.startswith("~") and os.path.expanduser(home) != home:
            return _named(os.path.expanduser(home), rest, cwd)
        if text.startswith("**/"):
            return [("", text)]
        if "/" not in text:
            # At any depth. A link of that name in the directory itself is followed.
            own = [] if has_wildcards(text) else [form for form in _named(base, text, cwd) if form[1] == ""]
            return [("", f"**/{text}"), *own]
        return _named(base, text.lstrip("/"), cwd)

    def _wholes(self, head: str, tail: str, cwd: str) -> Iterator[str]:
        """Yield the globs of what a form means: files, and the content of folders.

        A name with a dot is taken for a folder if there is one: most are files, and then no file is below them.
        """
        whole = _literal(head) + ("/" + tail if tail else "")
        yield whole
        last = whole.rpartition("/")[2]
        if last == "**":
            yield whole.removesuffix("/**")
        elif (
            self._is_folder
            or ("." not in last and not has_wildcards(last))
            or os.path.isdir(head if not tail else os.path.join(cwd, self._text))
        ):
            yield f"{whole}/**"

    def _means(self, path: str, forms: Sequence[tuple[str, str]]) -> bool:
        """Return whether one form matches; where the file system ignores case, in any case."""
        path = _composed(path)
        if any(self._predicate(head, tail, below=True)(path) for head, tail in forms):
            return True
        if any(self._predicate(head, tail, "(?i)", below=True)(path) for head, tail in forms) and _ignores_case(path):
            return True
        return is_hard_link(path, [head for head, tail in forms if not tail])

    def _predicate(self, head: str, tail: str, flags: str = "", *, below: bool = False) -> Predicate:
        """Compile a form; cached, since a relative pattern is compiled for each directory.

        With ``below`` a pattern that ends in a plain name means the folder of that name too, and what is in it.
        """
        key = (head, tail, flags, str(below))
        found = self._compiled.get(key)
        if found is None:
            last = tail.rpartition("/")[2]
            body = tail.removesuffix("**").removesuffix("/") if below and last == "**" else tail
            regex = re.escape(head.rstrip("/")) + (glob_to_regex("/" + body) if body else "")
            if below and (last == "**" or self._is_folder or not has_wildcards(last)):
                regex += "(?s)(?:/.*)?"
            if len(self._compiled) >= _MOST_COMPILED:
                self._compiled.clear()
            found = self._compiled[key] = linear(flags + regex)
        return found


def _named(base: str, pattern: str, cwd: str) -> list[tuple[str, str]]:
    """Return the literal directories that a pattern begins with, as written and as resolved, and the rest."""
    head, tail = _split(base, pattern)
    whole = os.path.join(base, *_literal_parts(pattern))
    try:
        names = [head, _resolved(whole, cwd), *([_resolved(head, cwd)] if ".." in whole else [])]
    except (Unreadable, OSError, ValueError):  # then it is known by one name only
        names = [head]
    return [(name, tail) for name in dict.fromkeys(names)]


def _literal_parts(pattern: str) -> list[str]:
    parts = pattern.lstrip("/").split("/")
    return parts[: next((at for at, part in enumerate(parts) if has_wildcards(part)), len(parts))]


def _split(base: str, pattern: str) -> tuple[str, str]:
    """Return the directory that the literal parts of a pattern lead to, and the parts from the first wildcard on."""
    literal = _literal_parts(pattern)
    rest = pattern.lstrip("/").split("/")[len(literal) :]
    return _plain(os.path.join(base, *literal)), "/".join(part for part in rest if part not in ("", "."))


def _searches(root: str, glob: str, cwd: str) -> list[tuple[str, str]]:
    """Return what a search looks at: a directory and a glob below it, by each name of the directory."""
    found: list[tuple[str, str]] = []
    readings = [one for reading in (glob, *_other_readings(glob)) for one in widened(reading)]
    for one in dict.fromkeys(readings):
        found += _named(root, one, cwd) + (_named("/", one, cwd) if one.startswith("/") else [])
    if any(".." in tail.split("/") for _, tail in found):
        raise Unreadable
    return found


def leads_elsewhere(glob: str, cwd: str) -> bool:
    """Return whether the directories that a glob begins with have a link among them, or are unknown."""
    whole = os.path.join(cwd or os.sep, *_literal_parts(glob))
    try:
        return _resolved(whole, cwd) != _plain(os.path.join(_resolved(cwd or os.sep, cwd), *_literal_parts(glob)))
    except (Unreadable, OSError, ValueError):
        return True


def _literal(path: str) -> str:
    """Return a path with the wildcards of globs escaped."""
    return "".join(f"[{mark}]" if mark in "*?[{" else mark for mark in path.rstrip("/"))


# The names of a file.


def names_of(path: str, cwd: str) -> tuple[str, ...]:
    """Return a path without ``.`` and ``..``, and the paths that it leads to; the first alone if they are unknown."""
    base = cwd or os.sep
    try:
        return tuple(dict.fromkeys(_composed(name) for name in _names(path, base)))
    except (Unreadable, OSError, ValueError):
        return (_composed(_plain(os.path.join(base, path))),)


def readings_of(path: str) -> tuple[str, ...]:
    """Return what a tool may make of a path in its input: itself, and with a home, a variable or a URL resolved."""
    try:
        return (path, *_other_readings(path))
    except Unreadable:
        return (path,)


def _spellings(path: str, cwd: str) -> Iterator[tuple[str, Grade]]:
    """Yield the absolute paths that a text may stand for; raise Unreadable at the end if there may be others."""
    base = cwd or os.sep
    text, ended, _ = path.partition("\0")  # which ends a text for some programs
    for spelling in _names(text, base):
        yield spelling, "possible" if ended else "certain"
    for reading in _other_readings(text):
        for spelling in _names(reading, base):
            yield spelling, "possible"
    if ended:
        raise Unreadable


def _other_readings(path: str) -> list[str]:
    """Return what else a tool may make of a path: a home, a variable, a URL, another separator, blanks and quotes."""
    found = [path.strip(" \t\r\n\v\f\"'")]
    if path.lstrip().lower().startswith("file:"):
        from urllib.parse import unquote

        place = unquote(path.strip()[5:])
        found.append(re.sub(r"^//[^/]*", "", place) if place.startswith("//") else place)
    found += [one.replace("\\", "/") for one in found if "\\" in one]
    if path.count("$") > _MOST_VARIABLES:
        raise Unreadable
    found += [os.path.expandvars(one) for one in found if "$" in one]
    found += [os.path.expanduser(one) for one in found if one.startswith("~")]
    return [one for one in dict.fromkeys(found) if one != path]


_SAME_AS_ROOT = "/System/Volumes/Data/"  # on macOS
_BY_NUMBER = "/.vol/"  # on macOS a file by its number


def _names(path: str, base: str) -> Iterator[str]:
    """Yield a path without ``.`` and ``..``, and the paths that it leads to if links are followed first or last."""
    whole = os.path.join(base, path)
    written = _plain(whole)
    yield written
    real = _resolved(whole, base)
    if real != written:
        yield real
    if ".." in whole:
        yield _resolved(written, base)
    if written.startswith(_SAME_AS_ROOT):
        yield from _names(written.removeprefix(_SAME_AS_ROOT), "/")
    if written.startswith(_BY_NUMBER):
        raise Unreadable


def _plain(path: str) -> str:
    """Return an absolute path without ``.``, ``..`` and repeated slashes."""
    return os.path.normpath("/" + path.lstrip("/"))


_OWN_PROCESS = regex(r"/proc/(?:self|thread-self)(?![^/])")
_OF_PROCESS = regex(r"/proc/[^/]+(?:/task/[^/]+)?/(cwd|root|fd|map_files)(?:/.*)?")


def _resolved(path: str, cwd: str) -> str:
    """Return the path that a path leads to, as for a program that runs in ``cwd``.

    A part that is missing counts as a directory: ``missing/../link`` leads where the link does, as for most libraries.
    """
    ahead = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    if len(ahead) > _MOST_PARTS:
        raise Unreadable
    done, links, missing, steps = "", 0, None, 0
    while ahead:
        name = ahead.pop()
        steps += 1
        if steps > _MOST_PARTS:
            raise Unreadable
        if name in ("", "."):
            continue
        if name == "..":
            done = done.rpartition("/")[0]
            continue
        here = f"{done}/{name}"
        if missing is None or not here.startswith(f"{missing}/"):  # what is below a missing part is missing too
            target = _target(here, cwd)
            if target:
                links += 1
                if links > _MOST_LINKS:
                    raise Unreadable
                done = "" if target.startswith("/") else done
                ahead += reversed(target.split("/"))
                continue
            missing = here if target is None else missing
        done = here
    return done or "/"


def _target(path: str, cwd: str) -> str | None:
    """Return the target of a link; an empty text if the path is no link, and None if it does not exist."""
    if path.startswith(("/proc/", "/dev/fd/")):
        # What these lead to depends on the process that opens them, and that is not this one.
        if _OWN_PROCESS.fullmatch(path):
            return ""
        if path.startswith("/dev/fd/"):
            raise Unreadable
        if found := _OF_PROCESS.fullmatch(path):
            return _target_of_process(path, found[1], cwd)
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else ""
    except FileNotFoundError:
        return "" if path.startswith("/proc/") else None
    except (PermissionError, NotADirectoryError):
        return ""
    except OSError:
        # The system opens a file whose whole path is too long for one call, if links shorten what it is given.
        if len(os.fsencode(path)) >= _LONGEST_PATH and len(os.fsencode(os.path.basename(path))) <= _LONGEST_NAME:
            raise Unreadable from None
        return ""


def _target_of_process(path: str, what: str, cwd: str) -> str:
    if what not in ("cwd", "root"):
        raise Unreadable
    if _OWN_PROCESS.match(path):
        return "/" if what == "root" else cwd or "/"
    try:
        return os.readlink(path)
    except OSError:
        raise Unreadable from None


# File systems.


def _composed(path: str) -> str:
    return path if path.isascii() else normalize("NFC", path)


def _folded(path: str) -> str:
    return _composed(path).casefold()


def _ignores_case(path: str) -> bool:
    """Return whether the file system takes two names that differ in case for one, at the place of a path."""
    directory = os.path.dirname(path)
    while not os.path.isdir(directory):
        above = os.path.dirname(directory)
        if above == directory:
            return False
        directory = above
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry, _ in zip(entries, range(100), strict=False)]
    except OSError:
        names = []
    for place, name in ((directory, name) for name in (*names, "")):
        one = os.path.join(place, name) if name else place
        other = os.path.join(os.path.dirname(one), os.path.basename(one).swapcase())
        if one != other:
            return _is_same(one, other)
    return False


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except (OSError, ValueError):
        return False


def is_hard_link(path: str, others: Sequence[str]) -> bool:
    """Return whether an existing file with several names is one of these files."""
    if not others:
        return False
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_nlink < 2:
        return False
    for other in others:
        try:
            if os.path.samestat(found, os.stat(other)):
                return True
        except (OSError, ValueError):
            continue
    return False
