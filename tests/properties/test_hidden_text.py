"""What is true of every text from which hidden text is removed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from interpose.policies.hidden_characters import strip_characters, strip_escapes
from interpose.policies.hidden_html import strip_html

PIECES = st.sampled_from([
    "a", " ", "\n", "\u200b", "\u200c", "\u200d", "\u202e", "\u2067", "\u2069", "\u200f", "\ufe0f", "\ufe01", "\U000e0041",
    "\U000e007f", "\U0001f3f4", "\U0001f469", "\u05d0", "\u0645", "\ufeff", "\u3164", "\u845b", "\U000e0100", "\x1b[", "m",
    "8", "0;31", "\x1b]", "\x07", "\x1b\\", "\x08", "<!--", "-->", "<div hidden>", "</div>", "`", "```\n", "\x9b",
])  # fmt: skip
TEXTS = st.lists(PIECES, max_size=20).map("".join)


@given(TEXTS)
def test_nothing_hidden_is_left_to_remove(text: str) -> None:
    for strip in (strip_characters, strip_escapes):
        once = strip(text, Counter())

        assert strip(once, Counter()) == once


@given(TEXTS)
def test_what_stays_is_in_its_order(text: str) -> None:
    made = strip_html(strip_characters(strip_escapes(text, Counter()), Counter()), Counter())

    left = iter(text)
    assert all(character in left for character in made)


@given(st.text(st.characters(categories=("L", "N", "P", "Z"))))
def test_visible_text_stays(text: str) -> None:
    visible = (
        text.replace("<", "").replace("\u115f", "").replace("\u1160", "").replace("\u3164", "").replace("\uffa0", "")
    )
    removed: Counter[str] = Counter()

    assert strip_html(strip_characters(strip_escapes(visible, removed), removed), removed) == visible
    assert not removed
