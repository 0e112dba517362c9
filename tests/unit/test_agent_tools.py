"""What all tools have in common, and the small parts that they are made of."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.unit.workplace import call, workplace

from interpose import UsageError
from interpose.agent.tools import TOOLS
from interpose.agent.tools.truncated_output import TruncatedOutput
from interpose.handlers.mcp_servers import HttpServer, StdioServer, read_servers, servers_of


def test_the_tools_have_the_names_inputs_and_kinds_of_claude_codes():
    described = {tool.name: (tool.kind, set(tool.schema["properties"])) for tool in TOOLS}

    assert described == {
        "Bash": ("run", {"command", "timeout", "description"}),
        "Read": ("read", {"file_path", "offset", "limit"}),
        "Write": ("edit", {"file_path", "content"}),
        "Edit": ("edit", {"file_path", "old_string", "new_string", "replace_all"}),
        "Glob": ("read", {"pattern", "path"}),
        "Grep": ("read", {"pattern", "path", "glob", "output_mode", "-i", "-n", "head_limit"}),
    }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_is_one_and_takes_nothing_else(tool):
    Draft202012Validator.check_schema(tool.schema)

    assert tool.schema["additionalProperties"] is False
    assert set(tool.schema["required"]) <= set(tool.schema["properties"])


@pytest.mark.parametrize(
    ("tool", "given_", "said"),
    [
        ("Read", {}, "failed: input of Read: 'file_path' is a required property"),
        ("Read", {"file_path": 5}, "failed: input of Read: file_path: 5 is not of type 'string'"),
        ("Read", {"file_path": "a", "offset": 0}, "failed: input of Read: offset: 0 is less than the minimum of 1"),
        ("Bash", {"command": "ls", "cwd": "/"}, "failed: input of Bash: Additional properties are not allowed"),
        ("Bash", {"command": "ls", "timeout": 10**9}, "failed: input of Bash: timeout: 1000000000 is greater than"),
        ("Grep", {"pattern": "x", "output_mode": "all"}, "failed: input of Grep: output_mode: 'all' is not one of"),
    ],
)
def test_an_input_that_does_not_fit_is_refused_with_what_is_wrong(tmp_path, tool, given_, said):
    assert call(workplace(tmp_path), tool, **given_).startswith(said)


def test_a_refusal_does_not_repeat_an_input_of_any_length(tmp_path):
    assert len(call(workplace(tmp_path), "Grep", pattern="x", output_mode="y" * 10_000)) < 400


def fed(pieces: list[bytes], most: int) -> str:
    excerpt = TruncatedOutput(most)
    for piece in pieces:
        excerpt.feed(piece)
    excerpt.feed(b"", final=True)
    return excerpt.text()


@given(st.text(max_size=60), st.lists(st.integers(0, 200), max_size=8))
def test_a_text_that_fits_is_kept_however_it_is_cut(text, cuts):
    data = text.encode()
    marks = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    assert fed([data[start:end] for start, end in pairwise(marks)], 200) == text


@given(st.integers(11, 500), st.integers(1, 40))
def test_of_a_longer_text_both_ends_are_kept_and_the_rest_is_counted(length, size):
    text = "".join(chr(ord("a") + number % 26) for number in range(length))

    said = fed([text[start : start + size].encode() for start in range(0, length, size)], 10)

    assert said == f"{text[:5]}\n… {length - 10} characters left out …\n{text[-5:]}"


def test_half_a_character_at_the_end_is_shown_as_such():
    assert fed(["é".encode()[:1]], 100) == "\ufffd"


SERVERS = {
    "mcpServers": {
        "files": {"command": "${TOOLS:-/opt}/files", "args": ["--root", "${ROOT}"], "env": {"A": "b"}, "cwd": "."},
        "plain": {"command": "server", "type": "stdio"},
        "web": {"type": "http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-}"}},
        "also-web": {"url": "http://localhost:1/mcp"},
    }
}


def test_servers_are_read_as_they_stand_in_a_projects_file(tmp_path):
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps(SERVERS))

    servers = read_servers(path, {"ROOT": "/srv", "HOST": "example.org"})

    assert servers == {
        "files": StdioServer("/opt/files", ("--root", "/srv"), {"A": "b"}, "."),
        "plain": StdioServer("server"),
        "web": HttpServer("https://example.org/mcp", {"Authorization": "Bearer "}),
        "also-web": HttpServer("http://localhost:1/mcp"),
    }


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (5, "f: mcpServers.s: is not an object"),
        ({}, "f: mcpServers.s.command: is missing"),
        ({"command": ""}, "f: mcpServers.s.command: is not a text"),
        ({"command": "a", "args": "b"}, "f: mcpServers.s.args: is not a list"),
        ({"command": "a", "args": [1]}, "f: mcpServers.s.args[0]: is not a text"),
        ({"command": "a", "env": {"X": 1}}, "f: mcpServers.s.env.X: is not a text"),
        ({"command": "a", "env": []}, "f: mcpServers.s.env: is not an object"),
        ({"command": "a", "headers": {}}, "f: mcpServers.s.headers: is not a key of a server of type stdio"),
        ({"command": "${NO}"}, "f: mcpServers.s.command: the variable NO is not set"),
        ({"type": "sse", "url": "http://a"}, "f: mcpServers.s.type: 'sse' is not a type of server that can be used"),
        ({"type": [], "url": "http://a"}, "f: mcpServers.s.type: [] is not a type of server"),
        ({"url": "ftp://a"}, "f: mcpServers.s.url: 'ftp://a' is not a URL"),
    ],
)
def test_a_server_that_cannot_be_understood_is_refused_with_its_place(entry, said):
    with pytest.raises(UsageError) as caught:
        servers_of({"mcpServers": {"s": entry}}, "f", {})

    assert str(caught.value).startswith(said)
    assert caught.value.problem.hint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", ":1:2: not JSON"),
        (b"[]", ": has no servers"),
        (b'{"mcpServers": []}', ": has no servers"),
        (b"\xff", ": is not in UTF-8"),
        (b"[" * 100_000, ": is nested too deeply"),
        (None, ": cannot be read: No such file"),
    ],
)
def test_a_file_that_has_no_servers_is_refused_with_its_name(tmp_path: Path, content: bytes | None, said: str):
    path = tmp_path / ".mcp.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(UsageError) as caught:
        read_servers(path)

    assert str(caught.value).startswith(f"{path}{said}")
