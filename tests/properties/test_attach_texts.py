"""Whatever a settings file holds: our entries are in it afterwards, everything else means the same, and it comes back."""

import json
import tomllib
from typing import Any

import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from interpose.attach.agents import find_agent
from interpose.attach.entry import MARK, SettingsEntry
from interpose.attach.json_edit import JsonText
from interpose.attach.shapes import JsonHooks, TomlHooks, YamlHooks, toml_flat

ENTRIES = [
    SettingsEntry(name, name, f"/bin/sh -c 'o=$(x {name} --reply claude)' {MARK}", 60)
    for name in ("PreToolUse", "Stop", "A \"b\" 'c'")
]

NAMES = st.sampled_from(["hooks", "PreToolUse", "Stop", "model", "env", "größe", 'a"b', "//", "disableAllHooks"])
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
GROUPS = st.lists(st.dictionaries(st.sampled_from(["matcher", "hooks", "x"]), VALUES, max_size=2), max_size=3)
HOOKS = st.dictionaries(st.sampled_from(["PreToolUse", "Stop", "Other"]), GROUPS, max_size=3)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=4).flatmap(
    lambda rest: (
        st.none().map(lambda _: {k: v for k, v in rest.items() if k != "hooks"})
        | HOOKS.map(lambda hooks: {**rest, "hooks": hooks})
    )
)
SPACES = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n", "\r\n\t"])
COMMENTS = st.sampled_from(["", "", "// one\n", "/* two */", " // {\n", "/* \n */"])


@st.composite
def texts(draw: st.DrawFn, *, comments: bool) -> str:
    """A document with white space, comments and trailing commas wherever they can be."""
    trivia = st.builds("".join, st.tuples(SPACES, COMMENTS if comments else st.just(""), SPACES))

    def write(value: Any) -> str:
        gap = lambda: draw(trivia)  # noqa: E731
        if isinstance(value, dict):
            parts = [f"{gap()}{json.dumps(k)}{gap()}:{gap()}{write(v)}{gap()}" for k, v in value.items()]
        elif isinstance(value, list):
            parts = [f"{gap()}{write(v)}{gap()}" for v in value]
        else:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        end = "," if parts and comments and draw(st.booleans()) else ""
        begin, close = "{}" if isinstance(value, dict) else "[]"
        return begin + (",".join(parts) or gap()) + end + (gap() if end else "") + close

    document = write(draw(DOCUMENTS))
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    return f"{bom}{draw(trivia)}{document}{draw(trivia)}"


def value_of(text: str) -> Any:
    root = JsonText(text).root
    return root.plain() if root is not None else {}


@given(text=texts(comments=False))
def test_json_that_is_strict_stays_strict(text: str) -> None:
    shape = JsonHooks()
    after, _ = shape.write(text, ENTRIES, "f")
    value = json.loads(after.removeprefix("\ufeff"))
    assert not shape.lost(after, ENTRIES, "f")
    before = json.loads(text.removeprefix("\ufeff"))
    hooks = value["hooks"]
    assert {k: v for k, v in value.items() if k != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    for name, groups in before.get("hooks", {}).items():
        assert hooks[name][: len(groups)] == groups


@given(text=texts(comments=True))
def test_json_with_comments_means_the_same_without_our_entries(text: str) -> None:
    shape = find_agent("gemini").shape
    before = value_of(text)
    after, made = shape.write(text, ENTRIES, "f")
    assert not shape.lost(after, ENTRIES, "f")
    left = shape.remove(after, made, "f")
    assert value_of(left) == before
    assert MARK not in left
    for comment in ("// one", "/* two */", "// {"):
        assert left.count(comment) == text.count(comment)


@given(text=texts(comments=True))
def test_writing_twice_is_writing_once(text: str) -> None:
    shape = JsonHooks()
    once, _ = shape.write(text, ENTRIES, "f")
    twice, _ = shape.write(once, ENTRIES, "f")
    assert value_of(twice) == value_of(once)


TOML = st.lists(
    st.sampled_from([
        'model = "k2"', "# a comment", "", "[table]", "[[list]]", 'text = """\n[[hooks]]\n"""', "x = [1, 2, # in\n 3]",
        '[[hooks]]\nevent = "Stop"\ncommand = "theirs"', "[a.b]\nc = {d = 1}",
    ]),
    max_size=6,
)  # fmt: skip


@given(lines=TOML, end=st.sampled_from(["\n", "\r\n"]), last=st.booleans(), bom=st.booleans())
def test_toml_comes_back(lines: list[str], end: str, last: bool, bom: bool) -> None:
    text = ("\ufeff" if bom else "") + "\n".join(lines).replace("\n", end) + (end if last else "")
    try:
        before = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        assume(False)
    shape = TomlHooks(toml_flat)
    after, made = shape.write(text, ENTRIES, "f")
    assert not shape.lost(after, ENTRIES, "f")
    left = shape.remove(after, made, "f")
    assert tomllib.loads(left.removeprefix("\ufeff")) == before
    assert left.rstrip("\r\n") == text.rstrip("\r\n")


YAML = st.lists(
    st.sampled_from([
        "model: x", "# a comment", "", "list:\n- 1\n- 2", "text: |\n  hooks:\n    - x\n", 'quoted: "a # b"',
        "hooks:\n  PreToolUse:\n    - command: theirs\n      timeout: 3", "hooks:\n  Other:\n  - {command: theirs}", "hooks:",
    ]),
    max_size=5, unique=True,
)  # fmt: skip


@given(lines=YAML, end=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
def test_yaml_comes_back(lines: list[str], end: str, last: bool) -> None:
    assume(sum(line.startswith("hooks:") for line in lines) < 2)
    text = "\n".join(lines).replace("\n", end) + (end if last else "")
    before = yaml.safe_load(text) or {}
    shape = YamlHooks()
    entries = ENTRIES[:2]
    after, made = shape.write(text, entries, "f")
    assert not shape.lost(after, entries, "f")
    left = yaml.safe_load(shape.remove(after, made, "f")) or {}
    assert {k: v for k, v in left.items() if v is not None} == {k: v for k, v in before.items() if v is not None}
