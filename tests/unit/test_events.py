"""The table of events: rows, fields, aliases and suffixes."""

import pytest

from interpose import BadEvent, EventSpec, UnknownEvent
from interpose.events import TABLE, Field, Table


@pytest.mark.parametrize(
    ("text", "name", "kind", "always"),
    [
        ("tool_name", "tool_name", "text", True),
        ("model?", "model", "text", False),
        ("tool_input:any", "tool_input", "any", True),
        ("effort?:object", "effort", "object", False),
        ("custom_instructions:text|null", "custom_instructions", "text|null", True),
    ],
)
def test_a_field_is_read_from_the_short_notation(text: str, name: str, kind: str, always: bool) -> None:
    field = Field.parse(text)

    assert (field.name, field.kind, field.always) == (name, kind, always)


@pytest.mark.parametrize(
    ("kind", "fitting", "misfits"),
    [
        ("text", ["", "a"], [None, 5, b"a", ["a"]]),
        ("text|null", ["", None], [5, False]),
        ("object", [{}, {"a": 1}], [None, [], "a"]),
        ("list", [[], [1]], [None, {}, (1,), "a"]),
        ("flag", [True, False], [0, 1, None, "true"]),
        ("number", [0, 1.5, -3], [True, "1", None]),
        ("any", [None, 5, "a", {}, []], []),
    ],
)
def test_a_field_takes_values_of_its_kind_only(kind: str, fitting: list[object], misfits: list[object]) -> None:
    field = Field("x", kind, True)

    assert all(field.fits(value) for value in fitting)
    assert not any(field.fits(value) for value in misfits)


def test_every_row_has_the_common_fields_and_its_own() -> None:
    for row in TABLE.values():
        assert {"session_id", "cwd", "hook_event_name"} <= set(row.fields)
        assert row.subject is None or row.subject in row.fields
        assert row.modifies <= set(row.fields)


def test_defaults_are_there_for_always_present_fields_and_fresh_each_time() -> None:
    row = TABLE["pre:agent:spawn"]

    one, other = row.defaults(), row.defaults()

    assert one["config"] == {}
    assert one["config"] is not other["config"]
    assert "permission_mode" not in one
    assert set(one) == {field.name for field in row.fields.values() if field.always}


def test_the_input_of_a_tool_is_an_object_unless_the_host_says_otherwise() -> None:
    assert TABLE["PreToolUse"].defaults()["tool_input"] == {}
    assert TABLE["PostToolUse"].defaults()["tool_response"] is None


def test_a_right_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadEvent, match="no such right: fly"):
        EventSpec("Mine", "…", can="deny, fly")


@pytest.mark.parametrize("options", [{"subject": "path"}, {"modifies": "content"}])
def test_a_subject_or_a_change_that_is_no_field_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(BadEvent, match="is not one of its fields"):
        EventSpec("Mine", "…", **options)  # type: ignore[arg-type]


def test_the_point_words_stand_for_fields_that_a_row_has() -> None:
    assert TABLE["PreToolUse"].words == {"tool": "tool_name", "args": "tool_input"}
    assert TABLE["PostToolUse"].words["result"] == "tool_response"
    assert TABLE["Stop"].words == {}
    assert "result" not in TABLE["post:agent:complete"].words  # a field of its own


@pytest.mark.parametrize(
    ("spelling", "row", "suffix"),
    [
        ("PreToolUse", "PreToolUse", None),
        ("pre:tool", "PreToolUse", None),
        ("pre:tool:shell", "PreToolUse", "shell"),
        ("PreToolUse:Bash", "PreToolUse", "Bash"),
        ("post:tool:mcp__a__b:c", "PostToolUse", "mcp__a__b:c"),
        ("pre:git:write:src/x.py", "pre:git:write", "src/x.py"),
        ("SessionStart:resume", "SessionStart", "resume"),
    ],
)
def test_a_spelling_is_resolved_to_its_row_and_its_suffix(spelling: str, row: str, suffix: str | None) -> None:
    found, rest = TABLE.find(spelling)

    assert (found.name, rest) == (row, suffix)


@pytest.mark.parametrize(
    ("spelling", "said"),
    [
        ("PreToolUze", "did you mean PreToolUse?"),
        ("pretooluse", "did you mean PreToolUse?"),
        ("Stop:x", "is not an event"),  # a row without a matcher has no suffix
        ("pre:tool:", "is not an event"),
        ("", "is not an event"),
        (5, "named by text"),
        (None, "named by text"),
    ],
)
def test_a_spelling_that_is_no_event_is_refused_with_the_nearest_name(spelling: object, said: str) -> None:
    with pytest.raises(UnknownEvent) as refused:
        TABLE.find(spelling)

    assert said in str(refused.value)


def test_the_only_aliases_are_those_of_the_two_tool_events() -> None:
    assert {row.name: row.aliases for row in TABLE.values() if row.aliases} == {
        "PreToolUse": ("pre:tool",),
        "PostToolUse": ("post:tool",),
    }


def test_a_table_reads_as_a_mapping_of_names_and_finds_aliases_too() -> None:
    assert "PreToolUse" in TABLE
    assert "pre:tool" in TABLE
    assert TABLE["pre:tool"] is TABLE["PreToolUse"]
    assert "pre:tool" not in list(TABLE)
    assert len(TABLE) == len(list(TABLE))
    assert "pre:tool" in TABLE.spellings()


def test_a_row_is_added_to_a_new_table_and_the_old_one_stays() -> None:
    row = EventSpec("deploy", "before a deployment", can="deny", subject="target", fields="target")

    more = TABLE.with_row(row)

    assert more["deploy"] is row
    assert more.find("deploy:production") == (row, "production")
    assert "deploy" not in TABLE


@pytest.mark.parametrize("name", ["PreToolUse", "pre:tool"])
def test_a_name_that_is_taken_is_refused(name: str) -> None:
    with pytest.raises(BadEvent, match="in the table already"):
        TABLE.with_row(EventSpec(name, "…"))


def test_two_rows_of_one_name_are_refused() -> None:
    with pytest.raises(BadEvent):
        Table([EventSpec("a", "…"), EventSpec("a", "…")])
