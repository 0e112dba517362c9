"""Events of agents in our words: the names of events, fields and tools, and inputs under our keys."""

import pytest
from tests.unit.agent_payloads import payload_of

from interpose.dialects.agents import agent_dialect
from interpose.errors import BadEvent, UnknownEvent

SHELLS = [
    ("codex", "PreToolUse"), ("copilot", "PreToolUse"), ("gemini", "BeforeTool"), ("qwen", "PreToolUse"),
    ("cline", "PreToolUse"), ("droid", "PreToolUse"), ("cursor", "preToolUse"), ("cursor", "beforeShellExecution"),
    ("opencode", "tool.execute.before"), ("vscode", "PreToolUse"), ("windsurf", "pre_run_command"),
    ("kiro", "preToolUse"), ("auggie", "PreToolUse"), ("amp", "tool.call"), ("goose", "PreToolUse"),
    ("kimi", "PreToolUse"), ("antigravity", "PreToolUse"), ("grok", "PreToolUse"), ("hermes", "pre_tool_call"),
    ("deepagents", "PreToolUse"), ("openhands", "pre_tool_use"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "own"), SHELLS)
def test_a_call_of_the_shell_is_bash_with_a_command_in_every_agent(name, own):
    dialect = agent_dialect(name)

    event = dialect.read_event(own, payload_of(dialect, own, "git push"))

    assert (event.event, event.fields["tool_name"]) == ("PreToolUse", "Bash")
    assert event.fields["tool_input"]["command"] == "git push"
    assert (event.fields["client"], event.fields.get("session_id")) == (name, "s-1")


@pytest.mark.parametrize(
    ("name", "own", "tool", "given", "ours", "mapped"),
    [
        ("codex", "PreToolUse", "exec_command", {"cmd": "ls", "yield_time_ms": 5}, "Bash",
         {"command": "ls", "yield_time_ms": 5}),
        ("codex", "PreToolUse", "shell", {"command": ["bash", "-lc", "rm -r x"]}, "Bash", {"command": "rm -r x"}),
        ("codex", "PreToolUse", "shell", {"command": ["rm", "a b"]}, "Bash", {"command": "rm 'a b'"}),
        ("codex", "PreToolUse", "mcp__files__read", {"p": 1}, "mcp__files__read", {"p": 1}),
        ("codex", "PreToolUse", "new_tool", {"x": 1}, "new_tool", {"x": 1}),
        ("gemini", "BeforeTool", "write_file", {"file_path": "a", "content": "b"}, "Write",
         {"file_path": "a", "content": "b"}),
        ("gemini", "BeforeTool", "list_directory", {"dir_path": "a"}, "LS", {"path": "a"}),
        ("copilot", "PreToolUse", "Write", {"path": "a", "file_text": "b"}, "Write",
         {"file_path": "a", "content": "b"}),
        ("copilot", "PreToolUse", "view", {"path": "a"}, "Read", {"file_path": "a"}),
        ("droid", "PreToolUse", "Edit", {"file_path": "a", "old_str": "b", "new_str": "c"}, "Edit",
         {"file_path": "a", "old_string": "b", "new_string": "c"}),
        ("opencode", "tool.execute.before", "edit", {"filePath": "a", "oldString": "b", "newString": "c"}, "Edit",
         {"file_path": "a", "old_string": "b", "new_string": "c"}),
        ("kiro", "preToolUse", "@files/read", {"p": 1}, "mcp__files__read", {"p": 1}),
        ("goose", "PreToolUse", "files__read", {"p": 1}, "mcp__files__read", {"p": 1}),
    ],
)  # fmt: skip
def test_tools_and_keys_have_our_names(name, own, tool, given, ours, mapped):
    dialect = agent_dialect(name)
    keys = {"opencode": ("tool", "args")}.get(name, ("tool_name", "tool_input"))

    event = dialect.read_event(own, {**payload_of(dialect, own), keys[0]: tool, keys[1]: given})

    assert (event.fields["tool_name"], event.fields["tool_input"]) == (ours, mapped)


def test_tools_of_servers_are_named_as_rules_name_them():
    gemini, windsurf = agent_dialect("gemini"), agent_dialect("windsurf")
    server = {"mcp_context": {"server_name": "files", "tool_name": "read"}, "tool_name": "mcp_files_read"}

    one = gemini.read_event("BeforeTool", {**payload_of(gemini, "BeforeTool"), **server, "tool_input": {"p": 1}})
    two = windsurf.read_event("pre_mcp_tool_use", payload_of(windsurf, "pre_mcp_tool_use"))

    assert (one.fields["tool_name"], one.fields["tool_input"]) == ("mcp__files__read", {"p": 1})
    assert two.fields["tool_name"] == "mcp__s__t"


PATCH = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@
 one
-two
+three
*** Add File: .env
+KEY=1
*** Delete File: old.txt
*** End Patch"""


@pytest.mark.parametrize("key", ["command", "input", "patch"])
def test_a_patch_is_an_event_for_each_file(key):
    codex = agent_dialect("codex")

    event = codex.read_event("PreToolUse", {**payload_of(codex, "PreToolUse"), "tool_name": "apply_patch",
                                            "tool_input": {key: PATCH}})  # fmt: skip

    calls = [(one["tool_name"], one["tool_input"]) for one in (event.fields, *event.more)]
    assert calls == [
        ("Write", {"file_path": "src/b.py", "content": ""}),
        ("Edit", {"file_path": "src/a.py", "old_string": "one\ntwo\n", "new_string": "one\nthree\n"}),
        ("Write", {"file_path": ".env", "content": "KEY=1\n"}),
        ("Write", {"file_path": "old.txt", "content": ""}),
    ]


@pytest.mark.parametrize(
    "patch",
    [
        "  *** Add File: .env\n+x",
        "*** Begin Patch\n\t*** Add File:   .env  \n+x",
        "<<'EOF'\n*** Add File: .env\n+x\nEOF",
    ],
)
def test_a_patch_that_the_agent_would_apply_is_not_overlooked(patch):
    codex = agent_dialect("codex")

    event = codex.read_event("PreToolUse", {**payload_of(codex, "PreToolUse"), "tool_name": "apply_patch",
                                            "tool_input": {"command": patch}})  # fmt: skip

    assert event.fields["tool_input"]["file_path"] == ".env"


def test_a_file_whose_content_looks_like_a_patch_keeps_its_own_path():
    copilot = agent_dialect("copilot")

    event = copilot.read_event("PreToolUse", {**payload_of(copilot, "PreToolUse"), "tool_name": "create",
                                              "tool_input": {"path": ".env", "file_text": PATCH}})  # fmt: skip

    assert (event.fields["tool_input"]["file_path"], event.more) == (".env", ())


@pytest.mark.parametrize("patch", ["", "*** Begin Patch\n*** End Patch", "*** Add File: a\n" * 300])
def test_a_patch_without_files_or_with_too_many_is_refused(patch):
    codex = agent_dialect("codex")

    with pytest.raises(BadEvent):
        codex.read_event("PreToolUse", {**payload_of(codex, "PreToolUse"), "tool_name": "apply_patch",
                                        "tool_input": {"command": patch}})  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [{"tool_name": 5}, {"tool_name": ""}, {"tool_name": None}, {"tool_input": "text"}, {"tool_input": [1]},
     {"tool_input": None}, {"session_id": {"a": 1}}, {"cwd": 7}],
)  # fmt: skip
@pytest.mark.parametrize("name", ["codex", "qwen", "droid", "copilot", "kimi"])
def test_an_event_that_can_be_denied_is_refused_with_odd_types(name, wrong):
    dialect = agent_dialect(name)

    with pytest.raises(BadEvent):
        dialect.read_event("PreToolUse", {**payload_of(dialect, "PreToolUse"), **wrong})


def test_two_keys_that_would_be_one_and_disagree_are_refused():
    codex = agent_dialect("codex")
    call = {"tool_name": "exec_command", "tool_input": {"cmd": "rm -r x", "command": "ls"}}

    with pytest.raises(BadEvent, match="disagree"):
        codex.read_event("PreToolUse", {**payload_of(codex, "PreToolUse"), **call})


def test_the_payload_names_the_event_and_an_unknown_one_is_refused():
    codex = agent_dialect("codex")

    said = codex.read_event("PreToolUze", payload_of(codex, "PreToolUse"))

    assert said.event == "PreToolUse"
    with pytest.raises(UnknownEvent, match="PreToolUze is not an event of Codex"):
        codex.read_event("PreToolUze", {**payload_of(codex, "PreToolUse"), "hook_event_name": "Strange"})


def test_copilot_has_two_spellings():
    copilot = agent_dialect("copilot")
    camel = {"sessionId": "s-1", "timestamp": 1, "cwd": "/tmp", "toolName": "bash", "toolArgs": '{"command": "ls"}'}

    event = copilot.read_event("preToolUse", camel)

    assert (event.event, event.name, event.fields["tool_input"]) == ("PreToolUse", "PreToolUse", {"command": "ls"})
    assert event.fields["session_id"] == "s-1"


@pytest.mark.parametrize(
    ("name", "own", "tool", "readings"),
    [
        ("copilot", "PreToolUse", "my-files-read", ["mcp__my__files-read", "mcp__my-files__read", "my-files-read"]),
        ("copilot", "PostToolUse", "files-read", ["mcp__files__read", "files-read"]),
        ("opencode", "tool.execute.before", "my_files", ["mcp__my__files", "my_files"]),
    ],
)
def test_a_name_that_can_be_split_in_several_ways_is_one_call(name, own, tool, readings):
    dialect = agent_dialect(name)

    event = dialect.read_event(own, {**payload_of(dialect, own), "tool_name": tool, "tool": tool})

    assert (event.fields["tool_name"], event.fields["tool_readings"], event.more) == (readings[0], readings, ())
    assert event.fields["client_tool_name"] == tool


def test_an_agent_cannot_say_itself_how_a_name_is_read():
    codex = agent_dialect("codex")

    event = codex.read_event("PreToolUse", {**payload_of(codex, "PreToolUse"), "tool_readings": ["Read"]})

    assert "tool_readings" not in event.fields
