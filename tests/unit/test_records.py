"""Records: frozen nouns with named parts."""

import copy
import pickle
from unittest.mock import ANY

import pytest

from interpose.records import Record, made_by, replace


class Point(Record, kw_only=False):
    x: int
    y: int = 0
    notes: list[str] = made_by(factory=list)


class Named(Record):
    name: str = ""
    place: str = ""

    _hidden = frozenset({"place"})
    _uncompared = frozenset({"place"})


class Thing(Record, eq=False):
    name: str = ""


def test_parts_are_given_by_position_or_by_name_and_have_defaults() -> None:
    assert (Point(1).x, Point(1).y, Point(x=1, y=2).y) == (1, 0, 2)


def test_keywords_only_unless_said_otherwise() -> None:
    with pytest.raises(TypeError):
        Named("a")  # type: ignore[call-arg]


def test_a_part_that_is_required_must_be_given() -> None:
    with pytest.raises(TypeError, match="x"):
        Point()  # type: ignore[call-arg]


def test_a_default_that_is_made_is_made_for_each() -> None:
    assert Point(1).notes is not Point(1).notes


def test_nothing_can_be_changed() -> None:
    point = Point(1)

    with pytest.raises(AttributeError, match="cannot be changed"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot be changed"):
        del point.x
    with pytest.raises(AttributeError):
        object.__setattr__(point, "z", 2)


def test_records_are_equal_by_their_parts_and_kind() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(1, 3)
    assert Point(1) != Named()
    assert Point(1) == ANY  # what it does not know may know better
    assert Named(name="a", place="here") == Named(name="a", place="there")
    assert len({Named(name="a", place="here"), Named(name="a")}) == 1


def test_some_are_equal_to_nothing_but_themselves() -> None:
    thing = Thing(name="a")

    assert thing == thing  # noqa: PLR0124 - that is the point
    assert thing != Thing(name="a")
    assert len({thing, Thing(name="a")}) == 2


def test_they_show_their_parts() -> None:
    assert repr(Point(1, 2)) == "Point(x=1, y=2, notes=[])"
    assert repr(Named(name="a", place="secret")) == "Named(name='a')"


def test_a_copy_with_changes() -> None:
    assert replace(Point(1, 2), y=3) == Point(1, 3)


def test_they_can_be_copied_and_pickled() -> None:
    point = Point(1, 2, ["a"])

    assert pickle.loads(pickle.dumps(point)) == point
    assert copy.deepcopy(point) == point
    assert copy.deepcopy(point).notes is not point.notes
