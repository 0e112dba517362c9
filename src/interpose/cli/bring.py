"""The examples that come with Interpose, and what bringing some of them into a project would write. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..config.files import read
from ..config.text import parse
from ..errors import ConfigError, UsageError, nearest
from .placing import Placed
from .starter import CASES, CONFIGURATION, FILES
from .weave import CannotWeave, weave

__all__ = ["Choice", "Example", "add_to", "begin", "choose", "configuration_in", "examples"]

_ABOUT = "README.md"
_CASES_KEY = "cases"
_CONFIGURATIONS = (CONFIGURATION, "hooks.yml", "hooks.json")


@dataclass(frozen=True, slots=True)
class Example:
    """One example: a folder with a configuration, what it runs, and cases for it."""

    name: str
    folder: Path
    purpose: str
    variants: tuple[str, ...]
    """In which other languages it is there as well, such as ``node``."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"name": self.name, "purpose": self.purpose, "variants": list(self.variants), "folder": str(self.folder)}


@dataclass(frozen=True, slots=True)
class Choice:
    """An example that somebody wants, in one of its languages."""

    example: Example
    variant: str = ""

    def hooks(self) -> str:
        """Return the text of its configuration."""
        name = f"hooks.{self.variant}.yaml" if self.variant else CONFIGURATION
        return (self.example.folder / name).read_text("utf-8")

    def cases(self) -> str:
        """Return the text of its cases, which are the same in every language."""
        return (self.example.folder / CASES).read_text("utf-8")

    def files(self) -> Iterator[Path]:
        """Return the files that its configuration names: scripts, and modules by the names of their functions."""
        hooks = self.hooks()
        for path in sorted(self.example.folder.iterdir()):
            named = path.name in hooks or (path.suffix == ".py" and f" {path.stem}." in hooks)
            if path.is_file() and path.name not in (_ABOUT, CASES) and named:
                yield path


def examples() -> dict[str, Example]:
    """Return the examples by their names."""
    folders = (path for path in sorted(_place().iterdir()) if (path / CONFIGURATION).is_file())
    return {folder.name: _example(folder) for folder in folders}


def _place() -> Path:
    """Return where they are: beside this file once they are installed, else at the top of the source."""
    here = Path(__file__).resolve()
    for place in (here.parent / "examples", here.parents[3] / "examples"):
        if place.is_dir():
            return place
    raise UsageError("the examples are not there", hint="install interpose again")


def _example(folder: Path) -> Example:
    lines = (folder / _ABOUT).read_text("utf-8").splitlines()
    purpose = next(line for line in lines[1:] if line.strip())
    variants = tuple(sorted(path.name.split(".")[1] for path in folder.glob("hooks.*.yaml")))
    return Example(folder.name, folder, purpose, variants)


def choose(words: Iterable[str]) -> list[Choice]:
    """Read ``NAME``, ``NAME:LANGUAGE`` and lists of them with commas; each example once, in the order of the words."""
    known = examples()
    chosen: dict[str, Choice] = {}
    for word in (part.strip() for text in words for part in text.split(",")):
        name, colon, variant = word.partition(":")
        if name not in known:
            hint = nearest(name, known) or "`interpose init --list` shows them"
            raise UsageError(f"--with: there is no example {name!r}", hint=hint)
        if (colon and not variant) or (variant and variant not in known[name].variants):
            there = ", ".join([name, *(f"{name}:{one}" for one in known[name].variants)])
            raise UsageError(f"--with: {name} is not there in {variant!r}", hint=f"there is {there}")
        if name in chosen and chosen[name].variant != variant:
            raise UsageError(f"--with: {name} is named twice, in two languages", hint="choose one of them")
        chosen[name] = Choice(known[name], variant)
    return list(chosen.values())


def configuration_in(folder: str) -> str | None:
    """Return the name of the configuration that a folder has already."""
    return next((name for name in _CONFIGURATIONS if os.path.lexists(os.path.join(folder, name))), None)


def begin(choices: Sequence[Choice]) -> list[Placed]:
    """Return what a new configuration is made of: the starter, and what the examples add to it."""
    files = {name: Placed(name, text(), purpose) for name, (text, purpose) in FILES.items()}
    for name, added in ((CONFIGURATION, Choice.hooks), (CASES, Choice.cases)):
        files[name] = replace(files[name], text=_woven(files[name].text, added, choices, name))
    return [*files.values(), *_files_of(choices)]


def add_to(folder: str, name: str, choices: Sequence[Choice]) -> list[Placed]:
    """Return what bringing examples changes in a folder; raise CannotWeave if somebody has to do it by hand."""
    path = os.path.join(folder, name)
    if name.endswith(".json"):
        raise CannotWeave("it is JSON, to which no lines are added", where=path)
    before = _text_of(path)
    _refuse_twins(before, path, choices)
    hooks = _woven(before, Choice.hooks, choices, path)
    cases = _cases_with(os.path.join(folder, CASES), choices)
    scripts = [file for file in _files_of(choices) if not _is_there(folder, file)]
    return [Placed(name, hooks, f"with the hooks of {_listed(choices)}", before), cases, *scripts]


def _text_of(path: str) -> str:
    """Read a file that is to be added to; a link would be replaced by what is behind it."""
    if os.path.islink(path):
        raise CannotWeave("it is a symbolic link", where=path)
    data = read(path, found=False).data
    parse(data, path, format="yaml")  # says what is wrong with it, and where
    return data.decode()


def _cases_with(path: str, choices: Sequence[Choice]) -> Placed:
    purpose = f"with the cases of {_listed(choices)}"
    if not os.path.lexists(path):
        return Placed(CASES, _woven("", Choice.cases, choices, path).lstrip("\n"), purpose)
    before = _text_of(path)
    is_mapping = isinstance(parse(before.encode(), path, format="yaml").value or [], Mapping)
    woven = _woven(before, _cases_in_mapping if is_mapping else Choice.cases, choices, path)
    names = [case["name"] for case in _cases_of(woven) if isinstance(case, Mapping) and "name" in case]
    if twin := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"there is a case {twin!r} already, and nothing was written", where=path, hint="rename it")
    return Placed(CASES, woven, purpose, before)


def _cases_in_mapping(choice: Choice) -> str:
    """Return the cases of an example as a file has them that names its configuration too."""
    return f"{_CASES_KEY}:\n" + "".join(f"  {line}\n" for line in choice.cases().splitlines())


def _cases_of(text: str) -> list[Any]:
    value = parse(text.encode(), CASES, format="yaml").value
    cases = value[_CASES_KEY] if isinstance(value, Mapping) else value
    return cases if isinstance(cases, list) else []


def _woven(text: str, added: Callable[[Choice], str], choices: Sequence[Choice], path: str) -> str:
    for choice in choices:
        try:
            text = weave(text, added(choice), choice.example.name)
        except CannotWeave as error:
            raise CannotWeave(error.text, where=path) from None
    return text


def _files_of(choices: Iterable[Choice]) -> list[Placed]:
    return [Placed(path.name, path.read_text("utf-8"), f"what {choice.example.name} runs")
            for choice in choices for path in choice.files()]  # fmt: skip


def _is_there(folder: str, file: Placed) -> bool:
    """Say whether a folder has a file with this very text; one with another text is refused when files are placed."""
    try:
        return read(os.path.join(folder, file.name), found=False).data == file.text.encode()
    except ConfigError:
        return False


def _listed(choices: Sequence[Choice]) -> str:
    return ", ".join(choice.example.name for choice in choices)


def _refuse_twins(text: str, path: str, choices: Iterable[Choice]) -> None:
    """Refuse an example whose hooks have names that their events have already: it was brought in before."""
    there = _hooks_in(text)
    for choice in choices:
        for event, hooks in _hooks_in(choice.hooks()).items():
            before = set(_names(there.get(event)))
            if twin := next((name for name in _names(hooks) if name in before), None):
                raise UsageError(f"{event} has a hook {twin} already, and nothing was written", where=path,
                                 hint=f"leave {choice.example.name} out, or rename the hook")  # fmt: skip


def _hooks_in(text: str) -> Mapping[str, Any]:
    configuration = parse(text.encode(), CONFIGURATION, format="yaml").value
    hooks = configuration.get("hooks") if isinstance(configuration, Mapping) else None
    return hooks if isinstance(hooks, Mapping) else {}


def _names(hooks: Any) -> Iterator[str]:
    """Return the names of hooks, those in groups too."""
    for hook in hooks if isinstance(hooks, list) else ():
        if isinstance(hook, Mapping):
            if isinstance(hook.get("name"), str):
                yield hook["name"]
            yield from _names(hook.get("hooks"))
