"""Deny shell commands that destroy what cannot be restored; ask if the effect of a command is unknown.

A command can delete files below the working directory or in a folder for temporary files, but not one of these folders
as a whole. A line is parsed as a shell would parse it, by the parser of `if` rules.
"""

import os
import re

from interpose import ask, deny, shell_commands

NEVER = ["mkfs", "mke2fs", "wipefs", "blkdiscard", "sgdisk", "parted", "git clean"]
"""Commands that are denied. The first word is the program; the others are among its arguments."""

ASK = [
    "git reset --hard", "git checkout --force", "git checkout -f", "git checkout .", "git restore .", "git stash clear",
    "git stash drop", "git branch -D", "git branch --delete", "git reflog expire", "git filter-branch",
    "git restore :/", "git switch -f", "git switch --force", "git switch --discard-changes", "git rm -f",
    "git rm --force", "git update-ref -d", "git worktree remove", "git push --force", "git push -f",
    "git push --delete", "git push --mirror",
    "rsync --delete", "crontab -r", "dropdb", "terraform destroy", "kubectl delete", "docker system prune",
    "docker volume rm", "docker volume prune",
]  # fmt: skip
"""Commands that a person is asked about, in the same form."""

DELETE = {"rm", "rmdir", "unlink", "shred", "truncate"}
TEMPORARY = ["/tmp", "/var/tmp", os.environ.get("TMPDIR") or "/tmp"]
KEPT = {".git"}
"""Folders that are never deleted, nor anything in them."""

FILTERS = {"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-mtime", "-mmin", "-newer", "-size"}
"""Options of find. At least one of them is needed to delete below the working directory."""

_DISK = re.compile(r"/dev/(?:[hsv]d[a-z]|xvd|nvme|mmcblk|r?disk\d|mapper/|md\d|dm-)")
_ONTO_DISK = re.compile(rf"(?:>[>|&]*|\bof=)\s*[\"']?{_DISK.pattern}")
_EVERYTHING = re.compile(r"(?<![^\s/])\*+(?=/?(?:[\s;&|)]|$))")  # the last part of a path, if it is only a star
_HOME = re.compile(r"\$(?:HOME\b|\{HOME\})")
_MADE_LATER = re.compile(r"[$`]|\{(?!\})|\bxargs\b")  # a line with words that are computed while it runs
_NOT_ONLY_AND = re.compile(r"[;|()\n]|(?<!&)&(?!&)")


def check(event):
    """Check one call of the shell."""
    command = event.tool_input["command"]
    # Everything in a folder counts as the folder: /* is read as /., and * as a dot. A star in quotes is left alone.
    line = _EVERYTHING.sub(".", _HOME.sub(os.path.expanduser("~"), command))
    if _ONTO_DISK.search(line):
        return deny(f"Destructive: writes onto a disk: {command}")
    commands = shell_commands(line)
    if commands is None:
        return ask(f"It cannot be told what this would run: {command}")
    doubts = list(_Line(event.cwd, line).doubts(commands))
    for verdict in (deny, ask):
        for wish, why in doubts:
            if wish is verdict:
                return verdict(f"{'Destructive: ' if verdict is deny else ''}{why}: {command}")


class _Line:
    """One command line: the directories in which its commands can run, and what they would do."""

    def __init__(self, cwd, line):
        self.here = os.path.realpath(cwd or "/")
        self.home = os.path.realpath(os.path.expanduser("~"))
        self.places = {self.here}
        self.is_lost = False
        self.follows = not _NOT_ONLY_AND.search(line)  # `cd x && …` runs in x; `cd x; …` can run in either directory
        self.is_made_later = bool(_MADE_LATER.search(line))

    def doubts(self, commands):
        """Yield each objection to the line: deny or ask, and the reason."""
        for first, *rest in commands:
            name = os.path.basename(first.text)
            words = [word.text for word in rest]
            if not first.known or (name == "git" and rest and not rest[0].known):
                yield ask, "It cannot be told what this would run"
            elif name in ("cd", "pushd", "popd"):
                self.move(rest)
            elif rule := _rule_for(NEVER, name, words):
                if not (rule == "git clean" and _has(words, "n", "--dry-run")):
                    yield deny, f"{rule} cannot be undone"
            elif rule := _rule_for(ASK, name, words):
                yield ask, f"{rule} may throw work away"
            elif name == "git" and "push" in words and any(word[:1] in ("+", ":") for word in words):
                yield ask, "git push with + or : may throw work away"
            elif name == "git" and any(word.startswith("alias.") for word in words):
                yield ask, "It gives git another meaning"
            elif name in DELETE:
                yield from self.deletes(rest, recursive=_has(words, "rR", "--recursive"))
            elif name == "find" and ("-delete" in words or DELETE & set(map(os.path.basename, words))):
                yield from self.finds(rest)
            elif name in ("chmod", "chown", "chgrp") and _has(words, "R", "--recursive"):
                yield from self.deletes(rest, recursive=True, whole=True)
            elif name in ("cp", "install", "mv", "tee"):
                yield from self.replaces(name, rest)

    def move(self, words):
        """Follow a cd: add a directory in which the rest can run, or note that the directory is unknown."""
        target = next((word for word in words if not word.text.startswith("-")), None)
        if target is None or not target.known or len(self.places) > 8:
            self.is_lost = True
            return
        moved = {os.path.join(place, os.path.expanduser(target.text)) for place in self.places}
        self.places = moved if self.follows else self.places | moved

    def deletes(self, words, *, recursive, whole=False):
        """Check what a command deletes, or with ``whole`` what it changes recursively."""
        for word in words:
            path = os.path.expanduser(word.text)
            folder, _, begun = path.rpartition("/")
            if path.startswith("-"):
                continue
            if path.startswith("~"):  # ~+ is the working directory, ~- the one before
                yield ask, "It cannot be told what this would delete"
            elif self.is_lost and not path.startswith("/"):
                yield ask, "It cannot be told where this would run"
            elif word.known:
                yield from self.touches(path, whole)
            elif self.is_made_later or (recursive and (begun in ("", "..") or _begins_kept(begun))):
                yield ask, "It cannot be told what this would delete"
            else:  # a glob: something in that folder
                yield from self.touches(os.path.join(folder, "x"), whole)

    def touches(self, path, whole=False):
        for place in self.places:
            target = os.path.realpath(os.path.join(place, path))
            if KEPT & set(target.casefold().split(os.sep)):
                yield deny, f"{target} is kept"
            elif self.is_root(target) and not (whole and target == self.here):
                yield deny, f"{target} is not to be touched as a whole"
            elif not any(_holds(folder, target) and (whole or folder != target) for folder in self.free(target)):
                yield deny, f"{target} is not below {self.here}"

    def is_root(self, target):
        """Return whether a folder contains the working directory or the home directory."""
        return _holds(target, self.here) or _holds(target, self.home)

    def free(self, target):
        """Return the folders below which files can be deleted; the home directory is never one of them."""
        if not _holds(self.home, target):
            yield from map(os.path.realpath, TEMPORARY)
        if self.here not in ("/", self.home):
            yield self.here

    def finds(self, words):
        """Check where a find that deletes begins. It can begin in the working directory if it has a filter."""
        texts = [word.text for word in words]
        until = next((at for at, text in enumerate(texts) if text[:1] in ("-", "(", "!")), len(texts))
        pairs = zip(texts, [*texts[1:], ""], strict=True)
        inner = "x" if any(option in FILTERS and value.strip("*./") for option, value in pairs) else ""
        for word in words[:until]:
            if not word.known:
                yield ask, "It cannot be told where this would delete"
        for root in [word.text for word in words[:until] if word.known] if until else ["."]:
            yield from self.touches(os.path.join(os.path.expanduser(root), inner))

    def replaces(self, name, words):
        """Check what is overwritten or moved away."""
        for word in words:
            target = os.path.realpath(os.path.join(self.here, os.path.expanduser(word.text)))
            if _DISK.match(word.text):
                yield deny, f"{name} writes onto a disk"
            elif name == "mv" and word is not words[-1] and self.is_root(target):
                yield deny, f"{target} is not to be moved away"


def _rule_for(rules, name, words):
    """Return the first rule whose words are all in the command; mkfs also matches mkfs.ext4."""
    for rule in rules:
        first, *rest = rule.split()
        if (name == first or name.startswith(f"{first}.")) and all(_is_among(part, words) for part in rest):
            return rule
    return None


def _is_among(part, words):
    if len(part) == 2 and part.startswith("-"):
        return any(part[1] in word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    if not part.startswith("--"):
        return part in words
    # A long option can be shortened, have a value, or be the beginning of a longer one (--delete-after).
    return any(len(word) > 3 and word.startswith("--") and (part.startswith(word) or word.startswith(part))
               for word in words)  # fmt: skip


def _begins_kept(begun):
    """Return whether the name of a kept folder begins with this text, which stands before a wildcard."""
    return any(name.startswith(begun.casefold()) for name in KEPT)


def _has(words, letters, long):
    """Return whether an option is given: alone, with others as in -rf, or by its long name, which can be shortened."""
    return any(
        len(word) > 2 and long.startswith(word) if word.startswith("--") else set(word[1:]) & set(letters)
        for word in words
        if word.startswith("-")
    )


def _holds(folder, path):
    """Return whether a path is the folder or is below it."""
    return path == folder or path.startswith(os.path.join(folder, ""))
