"""What is true of every configuration file, be it one or not."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from interpose import ConfigError
from interpose.config import yaml_text
from interpose.config.positions import SourceText, Stopped
from interpose.config.text import Parsed, parse, spell
from interpose.strict_json import BadJson, decode

Format = Literal["yaml", "json"]
formats = st.sampled_from(["yaml", "json"])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["no", "on", "y", "~", "", "null", "5", "010", "1e3", ".inf", "NaN", "<<", "=", "a.b", "[0]", "12:30", "2026-01-01"]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=10
)

# Pieces of both languages: put together at random they are nearly right more often than characters are.
pieces = st.lists(
    st.sampled_from(
        ["a", "b: ", "- ", "\n", "\n  ", "[", "]", "{", "}", ", ", ": ", '"y"', "'x'", "#c", "*a", "&a ", "!", "!!str ",
         "|\n  t", "? ", "---", "...", "\t", "~", "5", "true", "<<: ", "é", "%", "@", "\\", '"\\ud800"', "//", "NaN",
         '"k": ', "1e999", "\r", "\x00", "\u2028"]
    ),
    max_size=12,
).map(lambda found: "".join(found).encode())  # fmt: skip


def steps_of(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every path in a value."""
    yield above
    if isinstance(value, (dict, list)):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from steps_of(item, (*above, step))


def written(value: Any, format: str, indent: int | None) -> str:
    if format == "json":
        return json.dumps(value, indent=indent, ensure_ascii=indent is None)
    made = yaml.dump(value, allow_unicode=indent is not None, default_flow_style=None if indent is None else False,
                     Dumper=NoAliases, width=10_000, indent=indent)  # fmt: skip
    assert isinstance(made, str)
    return made


class NoAliases(yaml.SafeDumper):
    """Writes every value out, and quotes the words that the dumper takes for plain text and YAML 1.2 does not."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> Any:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style='"')


NoAliases.add_representer(str, NoAliases.represent_text)


def readable(text: str) -> bool:
    """Whether YAML may hold the characters of a text as they are."""
    return not yaml_text._FORBIDDEN.search(text)


@given(data, formats, st.sampled_from([None, 2]))
def test_what_was_written_is_read(value: Any, format: Format, indent: int | None) -> None:
    text = written(value, format, indent)
    if format == "json" or readable(text):
        assert parse(text.encode(), "f", format=format).value == value


@given(data)
def test_json_is_read_as_a_command_s_answer_is(value: Any) -> None:
    text = json.dumps(value).encode()

    assert parse(text, "f", format="json").value == decode(text)


@given(pieces)
def test_what_is_refused_from_a_command_is_refused_in_a_file(text: bytes) -> None:
    try:
        decode(text)
    except BadJson:
        assert isinstance(attempt(text, "json"), ConfigError)


@given(st.dictionaries(texts, data, max_size=3), formats)
def test_every_key_is_where_its_place_says(value: Any, format: Format) -> None:
    text = written(value, format, 2)
    if format == "yaml" and not readable(text):
        return
    parsed = parse(text.encode(), "f", format=format)
    lines = text.split("\n")

    for steps in steps_of(value):
        line, column = parsed.place_of(steps)
        assert parsed.place(spell(steps)) == (line, column)
        assert parsed.place_of(steps, value=True) >= (line, column)
        if steps and isinstance(steps[-1], str) and steps[-1].isalnum() and max(steps[-1]) < "\u0100":
            assert lines[line - 1][column - 1 :].lstrip('"').startswith(steps[-1])


@given(st.dictionaries(texts, data, max_size=3), st.text(max_size=20))
def test_every_path_leads_somewhere(value: Any, path: str) -> None:
    parsed = parse(json.dumps(value).encode(), "f", format="json")

    assert parsed.place(path) >= (1, 1)


def attempt(text: bytes, format: Format) -> Parsed | ConfigError:
    try:
        return parse(text, "f", format=format)
    except ConfigError as error:
        return error


@given(st.binary(max_size=40) | pieces, formats)
@example(b"\xef\xbb\xbf", "yaml")
@example(b'"\\UFFFFFFFF"', "yaml")
def test_any_bytes_are_read_or_refused(text: bytes, format: Format) -> None:
    result = attempt(text, format)

    if isinstance(result, ConfigError):
        places = [problem.where.split(":") for problem in result.problems]
        assert places
        assert all(name == "f" and int(line) > 0 and int(column) > 0 for name, line, column in places)


@given(pieces)
def test_both_parsers_of_yaml_read_the_same_or_refuse(text: bytes) -> None:
    first = attempt(text, "yaml")
    page = SourceText("f", text.decode())
    try:
        value, _ = read_in_python(page)
        page.refuse_if_wrong()
    except (ConfigError, Stopped):
        return
    if isinstance(first, Parsed):
        assert first.value == value


def read_in_python(page: SourceText) -> tuple[Any, Any]:
    chosen = yaml_text._parser
    yaml_text._parser = lambda: yaml_text._PythonParser
    try:
        return yaml_text.read_yaml(page)
    finally:
        yaml_text._parser = chosen
