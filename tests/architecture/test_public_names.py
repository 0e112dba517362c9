"""The list of public names and the truth are the same list."""

from types import ModuleType

import interpose


def is_private(name: str) -> bool:
    return name.startswith("_")


def is_submodule(name: str, value: object) -> bool:
    return isinstance(value, ModuleType) and value.__name__ == f"interpose.{name}"


def test_every_listed_name_is_there_once() -> None:
    missing = [name for name in interpose.__all__ if not hasattr(interpose, name)]

    assert missing == []
    assert sorted(interpose.__all__) == sorted(set(interpose.__all__))


def test_every_name_that_is_there_is_listed() -> None:
    unlisted = [
        name
        for name, value in vars(interpose).items()
        if name not in interpose.__all__ and not is_private(name) and not is_submodule(name, value)
        if not name.startswith("@")  # pytest's own, in every module of a package that has a plugin for it
    ]

    assert unlisted == []
