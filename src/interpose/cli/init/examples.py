"""The examples that come with Interpose, and the files that adding some of them would write. Writes no file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...config.files import read
from ...config.text import parse
from ...errors import ConfigError, UsageError, nearest
from .merge_yaml import CannotMerge, merge_yaml
from .policies import add_policies, only_policies
from .starter import CASES, CONFIGURATION, FILES
from .write_files import FileToWrite

__all__ = [
    "Choice", "Example", "add_examples", "choose_examples", "configuration_in", "examples", "new_configuration",
]  # fmt: skip

_README = "README.md"
_CASES_KEY = "cases"
_CONFIGURATIONS = (CONFIGURATION, "hooks.yml", "hooks.json")


@dataclass(frozen=True, slots=True)
class Example:
    """One example: a folder with a configuration, the files that it runs, and its cases."""

    name: str
    folder: Path
    purpose: str
    variants: tuple[str, ...]
    """Other languages that the example exists in, such as ``node``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the example as JSON."""
        return {"name": self.name, "purpose": self.purpose, "variants": list(self.variants), "folder": str(self.folder)}


@dataclass(frozen=True, slots=True)
class Choice:
    """An example that the user chose, in one of its languages."""

    example: Example
    variant: str = ""

    def hooks(self) -> str:
        """Return the text of its configuration."""
        name = f"hooks.{self.variant}.yaml" if self.variant else CONFIGURATION
        return (self.example.folder / name).read_text("utf-8")

    def cases(self) -> str:
        """Return the text of its cases, which are the same for every language."""
        return (self.example.folder / CASES).read_text("utf-8")

    def files(self) -> Iterator[Path]:
        """Return the files that its configuration names: scripts, and modules by the names of their functions."""
        hooks = self.hooks()
        for path in sorted(self.example.folder.iterdir()):
            named = path.name in hooks or (path.suffix == ".py" and f" {path.stem}." in hooks)
            if path.is_file() and path.name not in (_README, CASES) and named:
                yield path


def examples() -> dict[str, Example]:
    """Return the examples by their names."""
    folders = (path for path in sorted(_directory().iterdir()) if (path / CONFIGURATION).is_file())
    return {folder.name: _example(folder) for folder in folders}


def _directory() -> Path:
    """Return the directory of the examples: in the installed package, or at the top of the source tree."""
    command_line = Path(__file__).resolve().parents[1]
    for directory in (command_line / "examples", command_line.parents[2] / "examples"):
        if directory.is_dir():
            return directory
    raise UsageError("the examples are missing", hint="install interpose again")


def _example(folder: Path) -> Example:
    lines = (folder / _README).read_text("utf-8").splitlines()
    purpose = next(line for line in lines[1:] if line.strip())
    variants = tuple(sorted(path.name.split(".")[1] for path in folder.glob("hooks.*.yaml")))
    return Example(folder.name, folder, purpose, variants)


def choose_examples(words: Iterable[str]) -> list[Choice]:
    """Parse ``NAME``, ``NAME:LANGUAGE`` and lists of them with commas; return each example once, in order."""
    known = examples()
    chosen: dict[str, Choice] = {}
    for word in (part.strip() for text in words for part in text.split(",")):
        name, colon, variant = word.partition(":")
        if name not in known:
            hint = nearest(name, known) or "`interpose init --list` shows them"
            raise UsageError(f"--with: there is no example {name!r}", hint=hint)
        if (colon and not variant) or (variant and variant not in known[name].variants):
            there = ", ".join([name, *(f"{name}:{one}" for one in known[name].variants)])
            raise UsageError(f"--with: {name} has no variant {variant!r}", hint=f"there is {there}")
        if name in chosen and chosen[name].variant != variant:
            raise UsageError(f"--with: {name} is named twice, in two languages", hint="choose one of them")
        chosen[name] = Choice(known[name], variant)
    return list(chosen.values())


def configuration_in(folder: str) -> str | None:
    """Return the name of the configuration in a folder, or None."""
    return next((name for name in _CONFIGURATIONS if os.path.lexists(os.path.join(folder, name))), None)


def new_configuration(choices: Sequence[Choice], policies: Sequence[str] = ()) -> list[FileToWrite]:
    """Return the files of a new configuration: the starter, with the examples added, and with the chosen policies."""
    files = {name: FileToWrite(name, text(), purpose) for name, (text, purpose) in FILES.items()}
    if policies:
        files[CONFIGURATION] = replace(files[CONFIGURATION], text=only_policies(files[CONFIGURATION].text, policies))
    for name, added in ((CONFIGURATION, Choice.hooks), (CASES, Choice.cases)):
        files[name] = replace(files[name], text=_merged(files[name].text, added, choices, name))
    return [*files.values(), *_files_of(choices)]


def add_examples(folder: str, name: str, choices: Sequence[Choice], policies: Sequence[str] = ()) -> list[FileToWrite]:
    """Return the files that adding examples and policies to a folder writes.

    Raises CannotMerge if it has to be done by hand.
    """
    path = os.path.join(folder, name)
    if name.endswith(".json"):
        what = "examples are" if choices else "policies are"
        raise CannotMerge(f"it is JSON, and {what} added to YAML only", where=path)
    before = _text_of(path)
    _refuse_duplicates(before, path, choices)
    hooks = _merged(before, Choice.hooks, choices, path)
    if policies:
        hooks = add_policies(hooks, policies, path)
    added = [f"the hooks of {_listed(choices)}"] if choices else []
    added += [f"the {'policies' if len(policies) > 1 else 'policy'} {', '.join(policies)}"] if policies else []
    cases = [_cases_with(os.path.join(folder, CASES), choices)] if choices else []
    scripts = [file for file in _files_of(choices) if not _is_unchanged(folder, file)]
    return [FileToWrite(name, hooks, f"with {' and '.join(added)}", before), *cases, *scripts]


def _text_of(path: str) -> str:
    """Read a file that will be changed; refuse a symbolic link, which the change would replace."""
    if os.path.islink(path):
        raise CannotMerge("it is a symbolic link", where=path)
    data = read(path, found=False).data
    parse(data, path, format="yaml")  # raises ConfigError for a mistake in it
    return data.decode()


def _cases_with(path: str, choices: Sequence[Choice]) -> FileToWrite:
    purpose = f"with the cases of {_listed(choices)}"
    if not os.path.lexists(path):
        return FileToWrite(CASES, _merged("", Choice.cases, choices, path).lstrip("\n"), purpose)
    before = _text_of(path)
    is_mapping = isinstance(parse(before.encode(), path, format="yaml").value or [], Mapping)
    merged = _merged(before, _cases_in_mapping if is_mapping else Choice.cases, choices, path)
    names = [case["name"] for case in _cases_of(merged) if isinstance(case, Mapping) and "name" in case]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"it has a case {duplicate!r} already; nothing was written", where=path, hint="rename it")
    return FileToWrite(CASES, merged, purpose, before)


def _cases_in_mapping(choice: Choice) -> str:
    """Return the cases of an example for a file of cases that also names its configuration."""
    return f"{_CASES_KEY}:\n" + "".join(f"  {line}\n" for line in choice.cases().splitlines())


def _cases_of(text: str) -> list[Any]:
    value = parse(text.encode(), CASES, format="yaml").value
    cases = value[_CASES_KEY] if isinstance(value, Mapping) else value
    return cases if isinstance(cases, list) else []


def _merged(text: str, added: Callable[[Choice], str], choices: Sequence[Choice], path: str) -> str:
    for choice in choices:
        try:
            text = merge_yaml(text, added(choice), choice.example.name)
        except CannotMerge as error:
            raise CannotMerge(error.text, where=path) from None
    return text


def _files_of(choices: Iterable[Choice]) -> list[FileToWrite]:
    return [FileToWrite(path.name, path.read_text("utf-8"), f"run by {choice.example.name}")
            for choice in choices for path in choice.files()]  # fmt: skip


def _is_unchanged(folder: str, file: FileToWrite) -> bool:
    """Return whether a folder has this file with the same text; ``write_files`` refuses one with another text."""
    try:
        return read(os.path.join(folder, file.name), found=False).data == file.text.encode()
    except ConfigError:
        return False


def _listed(choices: Sequence[Choice]) -> str:
    return ", ".join(choice.example.name for choice in choices)


def _refuse_duplicates(text: str, path: str, choices: Iterable[Choice]) -> None:
    """Raise UsageError if an event has a hook of the same name already: the example was added before."""
    existing = _hooks_in(text)
    for choice in choices:
        for event, hooks in _hooks_in(choice.hooks()).items():
            before = set(_names(existing.get(event)))
            if duplicate := next((name for name in _names(hooks) if name in before), None):
                raise UsageError(f"{event} has a hook {duplicate} already; nothing was written", where=path,
                                 hint=f"leave {choice.example.name} out, or rename the hook")  # fmt: skip


def _hooks_in(text: str) -> Mapping[str, Any]:
    configuration = parse(text.encode(), CONFIGURATION, format="yaml").value
    hooks = configuration.get("hooks") if isinstance(configuration, Mapping) else None
    return hooks if isinstance(hooks, Mapping) else {}


def _names(hooks: Any) -> Iterator[str]:
    """Return the names of hooks, also of those in groups."""
    for hook in hooks if isinstance(hooks, list) else ():
        if isinstance(hook, Mapping):
            if isinstance(hook.get("name"), str):
                yield hook["name"]
            yield from _names(hook.get("hooks"))
