"""Two classes do not share a name unless they are the same idea."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import interpose

PACKAGE = Path(interpose.__file__).parent
CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)

# Names that several classes have, and what each stands for.
SHARED = {
    "_Governed": "what an adapter puts in the place of an object of its framework",
    "_Governor": "what an adapter keeps for one agent that it governs",
}


def test_two_classes_do_not_share_a_name() -> None:
    places = defaultdict[str, list[str]](list)
    for name, place in classes():
        places[name].append(place)
    shared = {name: where for name, where in places.items() if len(where) > 1}

    assert {name: where for name, where in shared.items() if name not in SHARED} == {}
    assert sorted(SHARED) == sorted(shared), "a name in SHARED that is no longer shared"


def classes() -> Iterator[tuple[str, str]]:
    """Yield the name and the module of every class, also of those inside of functions and classes."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for found in CLASS.finditer(path.read_text("utf-8")):
            yield found[1], str(path.relative_to(PACKAGE))
