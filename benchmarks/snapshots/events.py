"""The events that hooks of a project are asked about: some of each kind, and one for each tool that a matcher names."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

WRITTEN = {"src/app.py": "import os\n\n\ndef main():\n    print(os.getcwd())\n", "notes.md": "# Notes\n\nOne line.\n"}
"""The files that the events below are about; they are in every copy of a project."""

_BASH = ("ls -la", "rm -rf /", "git commit -m 'Mend the parser'", "git push --force origin main")
_READ = {"type": "text", "file": {"filePath": "src/app.py", "content": WRITTEN["src/app.py"]}}
_TYPICAL: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "UserPromptSubmit": ({"prompt": "Fix the failing test in src/app.py and commit it"}, {"prompt": "/help"}),
    "SessionStart": ({"source": "startup"}, {"source": "compact"}),
    "SessionEnd": ({"reason": "other"},),
    "Stop": ({"stop_hook_active": False, "last_assistant_message": "Done."},),
    "SubagentStart": ({"agent_type": "Explore"},),
    "SubagentStop": ({"agent_type": "Explore", "stop_hook_active": False},),
    "Notification": ({"message": "Claude needs your permission", "notification_type": "permission_prompt"},),
    "PreCompact": ({"trigger": "manual", "custom_instructions": ""}, {"trigger": "auto", "custom_instructions": ""}),
    "TaskCompleted": ({"task_id": "1", "task_subject": "Mend the parser"},),
    "TeammateIdle": ({"teammate_name": "Ana", "team_name": "core"},),
}
_TOOL_EVENTS: Mapping[str, Mapping[str, Any]] = {
    "PreToolUse": {},
    "PermissionRequest": {},
    "PermissionDenied": {},
    "PostToolUse": {"tool_response": "done"},
    "PostToolUseFailure": {"error": "exit status 1"},
}


def events_of(hooks: Mapping[str, Any], project: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of the kinds that the `hooks` of a file are for, each with its fields."""
    base = {"session_id": "11111111-2222-4333-8444-555555555555", "transcript_path": "", "cwd": project}
    for event, groups in hooks.items():
        if event in _TOOL_EVENTS:
            for tool, given in [*_calls(event, project), *_named(groups, project)]:
                call = {**_TOOL_EVENTS[event], "tool_name": tool, "tool_input": given, "tool_use_id": "toolu_01"}
                if event == "PostToolUse" and tool == "Read":
                    call["tool_response"] = _READ
                yield event, {**base, **call}
        else:
            for fields in _TYPICAL.get(event, ({},)):
                yield event, {**base, **fields}


def _calls(event: str, project: str) -> Iterator[tuple[str, dict[str, Any]]]:
    # What is asked before a call is asked about many; what is told after one, about few.
    for line in _BASH if event == "PreToolUse" else _BASH[:1]:
        yield "Bash", {"command": line, "description": "Run it"}
    for name, text in WRITTEN.items():
        yield "Write", {"file_path": f"{project}/{name}", "content": text}
    yield "Edit", {"file_path": f"{project}/src/app.py", "old_string": "main", "new_string": "start"}
    yield "Read", {"file_path": f"{project}/.env" if event == "PreToolUse" else f"{project}/src/app.py"}


def _named(groups: object, project: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A call of each further tool that a matcher names."""
    texts = (
        [group.get("matcher", "") for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    )
    words = {word for text in texts if isinstance(text, str) for word in re.findall(r"[A-Za-z]\w+", text)}
    for tool in sorted(words - {"Bash", "Write", "Edit", "Read"}):
        yield tool, {"file_path": f"{project}/src/app.py", "content": "", "pattern": "main", "prompt": "Look at it",
                     "subagent_type": "Explore", "url": "https://example.com/", "query": "parsers"}  # fmt: skip
