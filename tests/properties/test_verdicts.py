"""No answer of a model is ok by accident, and no event can end the place in which it stands."""

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interpose.models import ToolCall, Turn
from interpose.models.judging import filled, read_ruling

KEYS = st.sampled_from(["ok", "reason", "impossible", "OK", "verdict", "allow"])
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.booleans(), st.none(), st.integers(0, 1), st.sampled_from(["true", "false", "yes", ""]), st.just([])
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def is_yes(said: Any) -> bool:
    """Say whether an object is a verdict that is ok, to the letter."""
    return (
        said.keys() <= {"ok", "reason", "impossible"}
        and said.get("ok") is True
        and isinstance(said.get("reason"), str)
        and said.get("impossible", False) is False
    )


@given(OBJECTS)
def test_a_call_is_ok_only_to_the_letter(said: dict[str, Any]) -> None:
    ruling = read_ruling(Turn(calls=(ToolCall("1", "verdict", said),), stop_reason="tool_use"))

    assert (ruling.ok is True) is is_yes(said)
    assert (ruling.ok is False) is (said.get("ok") is False)


@given(
    OBJECTS, st.sampled_from(["", " ", "Sure: ", "```", "{", "\x00"]), st.sampled_from(["", "\n", " Fine.", "```", "}"])
)
def test_a_text_is_ok_only_if_all_of_it_is_the_verdict(said: dict[str, Any], before: str, after: str) -> None:
    ruling = read_ruling(Turn(text=f"{before}{json.dumps(said)}{after}"))

    assert (ruling.ok is True) is (is_yes(said) and not (before + after).strip())


@given(st.text())
def test_an_event_stays_between_its_marks(content: str) -> None:
    event = json.dumps({"content": content})

    text = filled("Judge: $ARGUMENTS", event)

    found = re.fullmatch(r"Judge: <(event-[0-9a-f]{16})>\n(.*)\n</\1>", text, re.DOTALL)
    assert found is not None
    assert found[2] == event
    assert f"</{found[1]}>" not in event


@given(st.text(alphabet="\\$ARGUMENTS x"))
def test_the_event_is_always_in_the_text(prompt: str) -> None:
    assert "THE EVENT" in filled(prompt, "THE EVENT")
