"""The text of a configuration file to plain data with places; whatever is wrong with it is found with its place."""

import sys
from typing import Any, Literal

import pytest
from tests.tables import rows

from interpose import ConfigError
from interpose.config import text, yaml_text
from interpose.config.positions import DEEPEST, MOST_PROBLEMS, MOST_VALUES
from interpose.config.text import Parsed, parse, spell


@pytest.fixture(params=["C", "Python"])
def _either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "Python":
        monkeypatch.setattr(yaml_text, "_parser", lambda: yaml_text._PythonParser)


both_parsers = pytest.mark.usefixtures("_either_parser")


def read(given: str | bytes, format: Literal["yaml", "json"] = "yaml") -> Parsed:
    return parse(given if isinstance(given, bytes) else given.encode(), "f", format=format)


def problems(given: str | bytes, format: Literal["yaml", "json"] = "yaml") -> list[str]:
    with pytest.raises(ConfigError) as refused:
        read(given, format)
    return [str(problem) for problem in refused.value.problems]


# What words mean.


@both_parsers
@rows(
    ("written", "meant"),
    [
        # Booleans are true and false; the other words of YAML 1.1 are text.
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False),
        ("yes", "yes"), ("no", "no"), ("NO", "NO"), ("on", "on"), ("off", "off"), ("y", "y"), ("n", "n"),
        ("null", None), ("~", None), ("", None),
        # Numbers are decimal.
        ("5", 5), ("-5", -5), ("+5", 5), ("0", 0), ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("010", "010"), ("0o10", "0o10"), ("0x1f", "0x1f"), ("0b1", "0b1"), ("1_000", "1_000"), ("12:30", "12:30"),
        ("12:30:45", "12:30:45"), ("190:20:30.15", "190:20:30.15"), ("1.2.3", "1.2.3"), ("-", [None]), ("٥", "٥"),
        ("2026-01-01", "2026-01-01"), ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"), ("=", "="), ("5s", "5s"),
        # In quotes, everything is text.
        ("'5'", "5"), ('"true"', "true"), ("'~'", "~"), ("'.inf'", ".inf"), ('"a\\nb"', "a\nb"), ("'\\d'", "\\d"),
        ("|\n  one\n  two\n", "one\ntwo\n"), (">\n  one\n  two\n", "one two\n"), ("[a, 'b', 3]", ["a", "b", 3]),
        # A tag may say what is there already.
        ("!!str 5", "5"), ("!!int 5", 5), ("!!float 5", 5.0), ("!!bool true", True), ("!!null ~", None),
        ("!!seq [1]", [1]), ("!!map {a: 1}", {"a": 1}), ("!", None),
    ],
)  # fmt: skip
def test_a_word_means_one_thing(written: str, meant: Any) -> None:
    value = read(f"a:\n  {written}" if written == "-" else f"a: {written}").value["a"]

    assert (value, type(value)) == (meant, type(meant))


@both_parsers
@rows("empty", ["", "\n", "# only\n# comments\n", "---\n", "---\n...\n", "\ufeff", "\ufeff# x"])
def test_a_yaml_file_with_nothing_in_it_is_an_empty_mapping(empty: str) -> None:
    parsed = read(empty)

    assert parsed.value == {}
    assert parsed.place("hooks.PreToolUse") == (1, 1)


@both_parsers
def test_a_document_that_says_nothing_outright_is_not_a_mapping() -> None:
    assert read("null").value is None


@rows("format", ["yaml", "json"])
def test_a_byte_order_mark_is_passed_over(format: Literal["yaml", "json"]) -> None:
    parsed = read('\ufeff{"a": 1}', format)

    assert (parsed.value, parsed.place("a")) == ({"a": 1}, (1, 2))


def test_json_text_means_the_same_in_both() -> None:
    written = '{"a": [1, -0.5, 1e3, true, false, null, "x", "\\u00e9", {}], "b": {"c": []}}'

    assert read(written).value == read(written, "json").value


def test_pyyaml_is_loaded_for_yaml_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delitem(sys.modules, "interpose.config.yaml_text", raising=False)

    assert read("{}", "json").value == {}
    with pytest.raises(ImportError):
        read("{}")


# Where things are.

YAML = """\
# hooks
hooks:
  errorBehavior: abort
  PreToolUse:
    - matcher: Bash
      timeout: no
    - {command: "é", x.y: {z: 1}}
  "odd.key":
  - |
    text
"""
JSON = """\
{

  "hooks": {
  "errorBehavior": "abort", "PreToolUse": [
      {"matcher": "Bash",
        "timeout": "no"},
      {"command": "é", "x.y": {"z": 1}}],
  "odd.key": ["text\\n"] }
}
"""


@both_parsers
@rows(
    ("path", "key", "value"),
    [
        ("", (2, 1), (2, 1)),
        ("hooks", (2, 1), (3, 3)),
        ("hooks.errorBehavior", (3, 3), (3, 18)),
        ("hooks.PreToolUse", (4, 3), (5, 5)),
        ("hooks.PreToolUse[0]", (5, 7), (5, 7)),
        ("hooks.PreToolUse[0].timeout", (6, 7), (6, 16)),
        ("hooks.PreToolUse[1]", (7, 7), (7, 7)),
        ("hooks.PreToolUse[1].x.y", (7, 22), (7, 27)),
        ("hooks.PreToolUse[1].x.y.z", (7, 28), (7, 31)),
        ('hooks.PreToolUse[1]["x.y"].z', (7, 28), (7, 31)),
        ("hooks.odd.key[0]", (9, 5), (9, 5)),
        ('hooks["odd.key"][0]', (9, 5), (9, 5)),
        # What is not there is missing where it should be.
        ("hooks.PreToolUse[0].id", (5, 7), (5, 7)),
        ("hooks.PreToolUse[7].id", (4, 3), (5, 5)),
        ("hooks.odd.key.more", (8, 3), (9, 3)),
        ("agents[0].id", (2, 1), (2, 1)),
    ],
)
def test_every_part_of_yaml_has_a_place(path: str, key: tuple[int, int], value: tuple[int, int]) -> None:
    parsed = read(YAML)

    assert (parsed.place(path), parsed.place(path, value=True)) == (key, value)


@rows(
    ("path", "key", "value"),
    [
        ("", (1, 1), (1, 1)),
        ("hooks", (3, 3), (3, 12)),
        ("hooks.PreToolUse[0].timeout", (6, 9), (6, 20)),
        ("hooks.PreToolUse[1].x.y.z", (7, 32), (7, 37)),
        ("hooks.odd.key[0]", (8, 15), (8, 15)),
        ("hooks.PreToolUse[0].id", (5, 7), (5, 7)),
    ],
)
def test_every_part_of_json_has_a_place(path: str, key: tuple[int, int], value: tuple[int, int]) -> None:
    parsed = read(JSON, "json")

    assert parsed.value == read(YAML).value
    assert (parsed.place(path), parsed.place(path, value=True)) == (key, value)


def test_a_place_can_be_asked_for_step_by_step() -> None:
    parsed = read(YAML)

    assert parsed.place_of(("hooks", "PreToolUse", 1, "x.y", "z")) == (7, 28)
    assert parsed.place_of(("hooks", "PreToolUse", "1")) == (4, 3)
    assert parsed.place_of(("hooks", 0)) == (2, 1)
    assert parsed.where("hooks.errorBehavior", value=True) == "f:3:18"


@rows(
    ("steps", "spelled"),
    [
        ((), ""),
        (("hooks", "PreToolUse", 0, "timeout"), "hooks.PreToolUse[0].timeout"),
        (("a.b",), '["a.b"]'),
        (("a", "b"), "a.b"),
        (("a", "", 'q"[0]', "x y", "é"), 'a[""]["q\\"[0]"]["x y"].é'),
        ((0, 1, "0"), "[0][1].0"),
    ],
)
def test_a_path_can_be_spelled_so_that_it_means_one_thing(steps: tuple[str | int, ...], spelled: str) -> None:
    assert spell(steps) == spelled


def test_keys_with_dots_are_told_apart() -> None:
    parsed = read("a.b: 1\na:\n  b: 2\n'[\"c\"]': 3\nc: 4\na.b.c: 5\n")

    for steps in (("a.b",), ("a", "b"), ('["c"]',), ("c",), ("a.b.c",)):
        assert parsed.place(spell(steps)) == parsed.place_of(steps)
    assert parsed.place("a.b") == (3, 3)  # as spelled, before the key that is written so
    assert parsed.place("a.b.c") == (6, 1)


@both_parsers
def test_lines_that_end_as_on_windows_count_once() -> None:
    assert read("a: 1\r\nb:\r\n  c: 2\r\n").place("b.c") == (3, 3)
    assert read('{"a": 1,\r\n"b": 2}', "json").place("b") == (2, 1)


# Anchors, aliases and merges.


@both_parsers
def test_an_alias_is_a_copy_that_has_the_places_of_the_original() -> None:
    parsed = read("x-one: &one\n  timeout: 5\ntwo: *one\nthree: [*one]\n")

    assert parsed.value["two"] == parsed.value["three"][0] == {"timeout": 5}
    assert parsed.value["two"] is not parsed.value["x-one"]
    assert parsed.place("two", value=True) == (3, 6)
    assert parsed.place("two.timeout") == parsed.place("three[0].timeout") == (2, 3)


@both_parsers
def test_what_a_mapping_says_itself_wins_over_what_is_merged() -> None:
    parsed = read(
        "d: &d {a: 1, b: 2}\ne: &e {b: 3, c: 4}\nx:\n  <<: *d\n  a: 5\ny:\n  b: 0\n  <<: [*e, *d]\n'z': {'<<': 1}\n"
    )

    assert parsed.value["x"] == {"a": 5, "b": 2}
    assert parsed.value["y"] == {"b": 0, "c": 4, "a": 1}
    assert parsed.value["z"] == {"<<": 1}
    assert (parsed.place("x.a"), parsed.place("x.b"), parsed.place("y.c")) == ((5, 3), (1, 14), (2, 14))


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@both_parsers
def test_a_few_aliases_of_aliases_do_not_make_millions_of_values() -> None:
    assert len(read(bomb(3)).value["a2"]) == 10
    assert [problem.partition(": ")[2] for problem in problems(bomb(8))] == [
        f"there are more than {MOST_VALUES} values (an alias counts as its copy)"
    ]


# What is wrong. Each case: a text, and all that is said about it.


@both_parsers
@rows(
    ("written", "said"),
    [
        # 176: syntax.
        ("a: [1, 2\nb: 3\n", ["1:4: this list in brackets is never closed, or a comma is missing ([one, two])"]),
        ("a: {x: 1\n", ["1:4: this mapping in braces is never closed, or a comma is missing ({key: value})"]),
        ("a: 'x\nb: 2\n", ["1:4: this text is never closed (the closing quote is missing)"]),
        ("a: b: c\n", ["1:5: a colon where no key can be (quote text that has a colon in it, or check the indentation)"]),
        ("a: 1\nfoo\nb: 2\n", ["3:1: a line that is neither key: value nor - item (is a colon missing?)"]),
        ("a:\n  b: 1\n c: 2\n", ["3:2: text that does not belong here (keys of one mapping, and items of one list, begin in the same column)"]),
        ("a:\n  - 1\n - 2\n", ["3:2: text that does not belong here (keys of one mapping, and items of one list, begin in the same column)"]),
        ("a: - 1\n", ["1:4: a list item where none can be (put it on a line of its own, below its key)"]),
        ("a: ]\n", ["1:4: a value is missing before this (quote text that begins with a bracket or a comma)"]),
        ("a: @x\n", ["1:4: text cannot begin with this character (quote it)"]),
        ("a: |x\n", ["1:5: nothing may follow | or > on its line (text begins on the next line, further in)"]),
        ("matcher: *\n", ['1:11: * begins an alias, and no name follows (quote text that begins with *: "*")']),
        ("a: &\n", ["1:5: & begins an anchor, and no name follows (quote text that begins with &)"]),
        ('a: "re:\\d+"\n', ["1:8: there is no such escape (use single quotes, or write \\\\ for a backslash)"]),
        ('a: "x\\UFFFFFFFF"\n', ["1:6: no character has this code (use single quotes for text with backslashes)"]),
        ("%YAML 3.0\n---\na: 1", ["1:1: lines that begin with % are for YAML itself (quote it, or leave it out)"]),
        ("%TAG ! x\n---\na: 1", ["1:1: %TAG is not supported (leave it out)"]),
        # Tabs.
        ("hooks:\n\tPreToolUse: []\n", ["2:1: a tab in the indentation (indent with spaces)"]),
        ("hooks:\n  a: 1\n \tb: 2\n", ["3:2: a tab in the indentation (indent with spaces)"]),
        # 180: a key is text.
        ("5: x\ntrue: y\n~: z\n[a]: q\n? {a: 1}\n: 3\n1.5: w", [
            "1:1: the key '5' is a number, not text (quote it)",
            "2:1: the key 'true' is true or false, not text (quote it)",
            "3:1: the key '~' is nothing, not text (quote it)",
            "4:1: this key is a list, not text (quote it)",
            "5:3: this key is a mapping, not text (quote it)",
            "7:1: the key '1.5' is a number, not text (quote it)",
        ]),
        # 181: one of two equal keys would be lost.
        ("a: 1\nb: {c: 1, 'c': 2}\na: 3\n", [
            "2:11: the key 'c' is there twice, first in line 2 (remove one of them)",
            "3:1: the key 'a' is there twice, first in line 1 (remove one of them)",
        ]),
        ("a: &a {}\nb:\n  <<: *a\n  <<: *a", ["4:3: the key '<<' is there twice, first in line 3 (remove one of them)"]),
        # 182: numbers that are none.
        ("a: .inf\nb: -.INF\nc: .NaN\nd: NaN\ne: Infinity\nf: 1e999", [
            "1:4: .inf is not a finite number (write a number, or quote it)",
            "2:4: -.INF is not a finite number (write a number, or quote it)",
            "3:4: .NaN is not a finite number (write a number, or quote it)",
            "4:4: NaN is not a finite number (write a number, or quote it)",
            "5:4: Infinity is not a finite number (write a number, or quote it)",
            "6:4: '1e999' is too large a number",
        ]),
        ("a: " + "9" * 5000, [f"1:4: '{'9' * 57}...' is too large a number"]),
        # 184, 185: aliases.
        ("a: &a [*a]", ["1:8: *a refers to itself (write it out)"]),
        ("a: &a\n  b: *a", ["2:6: *a refers to itself (write it out)"]),
        ("a: *b", ["1:4: *b is not defined (put &b before it, or quote text that begins with *)"]),
        ("a: &a 1\nb: &a 2", ["2:4: there are two anchors &a (give each a name of its own)"]),
        ("a:\n  <<: 5\nb:\n  <<: [{}, x]", [
            "2:7: a number where << needs a mapping (<<: *name, or quote the key)",
            "4:12: text where << needs a mapping (<<: *name, or quote the key)",
        ]),
        # 186: tags.
        ("a: !!python/object/apply:os.system [ls]\nb: !x {}\nc: !!binary aGk=\nd: !!int x\ne: !!set {}\nf: !y z", [
            "1:4: the tag !!python/object/apply:os.system is not supported (a configuration is plain data: leave it out)",
            "2:4: the tag !x is not supported (a configuration is plain data: leave it out)",
            "3:4: the tag !!binary is not supported (a configuration is plain data: leave it out)",
            "4:4: 'x' is not what its tag !!int says (leave out the tag)",
            "5:4: the tag !!set is not supported (a configuration is plain data: leave it out)",
            "6:4: the tag !y is not supported (a configuration is plain data: leave it out)",
        ]),
        # 188: depth.
        ("[" * 3000, [f"1:{DEEPEST + 1}: nested deeper than {DEEPEST} levels"]),
        ("- " * 3000, [f"1:{2 * DEEPEST + 1}: nested deeper than {DEEPEST} levels"]),
        ("{a: " * 3000, [f"1:{4 * DEEPEST + 1}: nested deeper than {DEEPEST} levels"]),
        (f"a: &a {'[' * 60}{']' * 60}\nb: {'[' * 60}*a{']' * 60}", [f"2:64: nested deeper than {DEEPEST} levels"]),
        # More than one document.
        ("a: 1\n---\nb: 2\n---\n", ["2:1: a second document (one file holds one: remove the ---)"]),
        # What cannot be seen.
        ("a: \x07\nb: \x7f\n", [
            "1:4: the character U+0007 cannot be seen (remove it, or write \\u0007 in double quotes)",
            "2:4: the character U+007F cannot be seen (remove it, or write \\u007f in double quotes)",
        ]),
        ("# a\u2028hooks: {}\n", ["1:4: the character U+2028 is a line break for some programs only (remove it, or write \\u2028 in double quotes)"]),
        ("# a\rhooks: {}\n", ["1:4: the character U+000D is a line break for some programs only (remove it, or write \\u000d in double quotes)"]),
        ("a: x\ufeffy", ["1:5: the character U+FEFF cannot be seen (remove it, or write \\ufeff in double quotes)"]),
        ("a: 1234\x00", ["1:8: the character U+0000 cannot be seen (remove it, or write \\u0000 in double quotes)"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_yaml_is_said_with_its_place(written: str, said: list[str]) -> None:
    assert problems(written) == [f"f:{problem}" for problem in said]


@rows(
    ("written", "said"),
    [
        # 175: a file that was cut off is not one without hooks.
        ("", ["1:1: there is no JSON document (write {} for an empty one)"]),
        (" \n", ["1:1: there is no JSON document (write {} for an empty one)"]),
        # 176: syntax; what can be passed over is, so that the rest is found too.
        ('{"a": [1, 2,],\n "b": 1,}', ["1:12: a comma before the closing ] (remove it)", "2:8: a comma before the closing } (remove it)"]),
        ('// x\n{"a": 1 /* y\n */, # z\n"b": 2}', [
            "1:1: JSON has no comments (use a key such as x-note, or a YAML file)",
            "2:9: JSON has no comments (use a key such as x-note, or a YAML file)",
            "3:6: JSON has no comments (use a key such as x-note, or a YAML file)",
        ]),
        ('{"a": 1\n"b": 2}', ["2:1: there is no comma before this (put one between two values)"]),
        ("{a: True, b-c: x}", [
            "1:2: the key 'a' without quotes (write \"a\")",
            "1:5: True is not JSON (write true)",
            "1:11: the key 'b-c' without quotes (write \"b-c\")",
            "1:16: 'x' without quotes (put text in \" quotes)",
        ]),
        ("{'a': 1}", ["1:2: \"'\" where a key is expected (put text in \" quotes)"]),
        ('{"a" 1}', ["1:6: '1' where a colon after the key 'a' is expected"]),
        ('{"a": }', ["1:7: '}' where a value is expected"]),
        ('{"a":', ["1:6: the end of the file where a value is expected"]),
        ('{"a": [1,\n2', ["1:7: this [ is never closed (the file ends before it)"]),
        ('{"a": 1', ["1:1: this { is never closed (the file ends before it)"]),
        ('{"a": [1 2]}', ["1:10: '2' where a comma or ] is expected"]),
        ('{"a": "x', ['1:7: this text is never closed (end it with ")']),
        ('{"a": "x\ny"}', ["1:9: a line break or control character inside text (write \\n, \\t or \\u0007 instead)"]),
        ('{"a": "re:\\d"}', ["1:11: there is no such escape in JSON (write \\\\ for a backslash)"]),
        ('{"a": "\\u12"}', ["1:9: no character has this code (\\u and four hexadecimal digits)"]),
        ('{"a": "\\ud800"}', ["1:7: \\ud800 is half a character (write the character itself, or both halves in JSON)"]),
        ("{}\n{}", ["2:1: there is more text after the JSON document (one file holds one document)"]),
        ("/* x", ["1:1: '/' where a value is expected"]),
        # 181: one of two equal keys would be lost.
        ('{"a": 1,\n "b": {"c": 1, "c": 2},\n "a": 3}', [
            "2:16: the key 'c' is there twice, first in line 2 (remove one of them)",
            "3:2: the key 'a' is there twice, first in line 1 (remove one of them)",
        ]),
        # 182: numbers that are none.
        ("[NaN, Infinity, -Infinity, 1e999, 010, 1., .5, +1, 0x1f, 1_0]", [
            "1:2: NaN is not JSON (write a number, or quote it)",
            "1:7: Infinity is not JSON (write a number, or quote it)",
            "1:17: -Infinity is not JSON (write a number, or quote it)",
            "1:28: '1e999' is too large a number",
            *(f"1:{column}: {word!r} is not a number in JSON (as in 10, 0.5 or 1e3, or quote it)"
              for column, word in [(35, "010"), (40, "1."), (44, ".5"), (48, "+1"), (52, "0x1f"), (58, "1_0")]),
        ]),
        ("[" + "9" * 5000 + "]", [f"1:2: '{'9' * 57}...' is too large a number"]),
        # 188: depth.
        ("[" * 3000, [f"1:{DEEPEST + 1}: nested deeper than {DEEPEST} levels"]),
        ('{"a":' * 3000, [f"1:{5 * DEEPEST + 1}: nested deeper than {DEEPEST} levels"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_json_is_said_with_its_place(written: str, said: list[str]) -> None:
    assert problems(written, "json") == [f"f:{problem}" for problem in said]


@both_parsers
def test_half_a_character_is_refused_whichever_parser_finds_it() -> None:
    assert len(problems('a: "\\ud800"')) == 1


@rows("format", ["yaml", "json"])
@rows(
    ("data", "said"),
    [
        # 189: encodings.
        ('{"a": 1}'.encode("utf-16"), "f:1:1: is UTF-16 or UTF-32 text (save it as UTF-8)"),
        ('{"a": 1}'.encode("utf-16-be"), "f:1:1: is UTF-16 or UTF-32 text (save it as UTF-8)"),
        ('{"a": 1}'.encode("utf-32"), "f:1:1: is UTF-16 or UTF-32 text (save it as UTF-8)"),
        ('{\n"é": "ü'.encode() + b'\xe9"}', "f:2:8: byte 0xe9 is not UTF-8 (save it as UTF-8)"),
        (b"\xef\xbb\xbf\xed\xa0\x80", "f:1:1: byte 0xed is not UTF-8 (save it as UTF-8)"),
        # 183: size.
        (b" " * (10 * 1024 * 1024 + 1), "f:1:1: has more than 10485760 bytes"),
    ],
    ids=["utf-16", "utf-16-be", "utf-32", "latin-1", "surrogate", "size"],
)
def test_bytes_that_are_no_text_are_refused(data: bytes, said: str, format: Literal["yaml", "json"]) -> None:
    assert problems(data, format) == [said]


@rows("format", ["yaml", "json"])
def test_values_are_counted(format: Literal["yaml", "json"]) -> None:
    def listed(count: int) -> str:
        return f"[{','.join(['1'] * (count - 1))}]"

    assert len(read(listed(MOST_VALUES), format).value) == MOST_VALUES - 1
    assert problems(listed(MOST_VALUES + 1), format) == [
        f"f:1:{2 * MOST_VALUES}: there are more than {MOST_VALUES} values (an alias counts as its copy)"
    ]


@rows("format", ["yaml", "json"])
def test_as_deep_as_allowed_is_not_too_deep(format: Literal["yaml", "json"]) -> None:
    assert read("[" * DEEPEST + "]" * DEEPEST, format).place("[0]" * (DEEPEST - 1)) == (1, DEEPEST)


def test_a_flood_of_problems_is_cut_off() -> None:
    assert len(problems("a: .inf\n" * 1000)) == MOST_PROBLEMS


def test_a_fault_of_the_parser_is_a_problem_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(yaml_text._PythonParser):
        def get_event(self) -> Any:
            raise IndexError

    monkeypatch.setattr(yaml_text, "_parser", lambda: Broken)

    assert problems("a: 1") == ["f:1:1: cannot be read as YAML: IndexError"]
    assert text.parse(b"{}", "f", format="json").value == {}
