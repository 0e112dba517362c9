"""Payloads of each agent, outcomes with one effect each, and what becomes of them: for the tests of the dialects."""

from __future__ import annotations

from typing import Any

from interpose import Hooks, allow, ask, context, deny, modify
from interpose.dialects.agents import AgentDialect
from interpose.dialects.agents.contract import AgentEvent, HookExit, HookOutput, Prediction
from interpose.events import TABLE
from interpose.model import Outcome

NEW_INPUT = {"command": "echo TOKINPUT"}
FAILURES = {
    "error": HookExit(stderr="broken", status=1), "killed": HookExit(status=-9),
    "missing": HookExit(stderr="sh: 1: /nowhere: not found", status=127), "timeout": HookExit(status=None),
    "silent_block": HookExit(status=2), "garbage": HookExit(stdout="{not json", status=0),
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "deny": deny("TOKREASON"), "reason": deny("TOKREASON"), "grant": allow("fine"), "ask": ask("TOKREASON"),
    "rewrite": modify(tool_input=NEW_INPUT), "result": modify(tool_response="TOKRESULT"),
    "context": context("TOKCTX"), "keep_going": {"decision": "block", "reason": "TOKREASON"},
    "stop": {"continue": False, "stopReason": "TOKSTOP"},
}  # fmt: skip


def payload_of(dialect: AgentDialect, own: str, command: str = "ls") -> dict[str, Any]:
    """Return an event of an agent, as that agent sends it: a call of its shell, if the event is about a tool."""
    event = dialect.EVENTS.get(own, own)
    special = _SPECIAL.get(dialect.NAME)
    if special is not None:
        found: dict[str, Any] = special(own, event, command)
        return found
    shell = _SHELLS.get(dialect.NAME, "Bash")
    tool: dict[str, Any] = {"tool_name": shell, "tool_input": {"command": command}, "tool_use_id": "call-1"}
    about: dict[str, dict[str, Any]] = {
        "UserPromptSubmit": {"prompt": "hello"}, "UserPromptExpansion": {"prompt": "hello"},
        "Stop": {"stop_hook_active": False},
        "SubagentStop": {"stop_hook_active": False, "agent_id": "a", "agent_type": "t"},
        "SessionStart": {"source": "startup"}, "SessionEnd": {"reason": "other"},
        "PostToolUse": {**tool, "tool_response": _RESULTS.get(dialect.NAME, "TOKRAN1")}, "PostToolUseFailure": {**tool, "error": "no"},
    }  # fmt: skip
    own_fields = about.get(event, tool if TABLE[event].subject == "tool_name" else {})
    return {"hook_event_name": own, "session_id": "s-1", "cwd": "/tmp", **own_fields}


def _gemini(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {
        "hook_event_name": own,
        "session_id": "s-1",
        "cwd": "/tmp",
        "timestamp": "2026-11-16T00:00:00Z",
    }
    tool: dict[str, Any] = {"tool_name": "run_shell_command", "tool_input": {"command": command, "description": "d"}}
    if own in ("BeforeTool", "AfterTool"):
        given |= tool
    if own == "AfterTool":
        given["tool_response"] = {"llmContent": "TOKRAN1", "returnDisplay": "TOKRAN1"}
    if own in ("BeforeAgent", "AfterAgent"):
        given |= {"prompt": "hello", "prompt_response": "done", "stop_hook_active": False}
    return given


def _copilot(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {
        "hook_event_name": own,
        "session_id": "s-1",
        "cwd": "/tmp",
        "timestamp": "2026-11-16T00:00:00Z",
    }
    if TABLE[event].subject == "tool_name":
        given |= {"tool_name": "Bash", "tool_input": {"command": command, "description": "d"}}
    if event == "PostToolUse":
        given["tool_result"] = {"result_type": "success", "text_result_for_llm": "TOKRAN1"}
    if event == "PostToolUseFailure":
        given["error"] = "no"
    if event == "UserPromptSubmit":
        given["prompt"] = "hello"
    return given


def _cline(own: str, event: str, command: str) -> dict[str, Any]:
    names = {"PreToolUse": "tool_call", "PostToolUse": "tool_result", "UserPromptSubmit": "prompt_submit",
             "TaskStart": "agent_start", "TaskResume": "agent_resume", "TaskComplete": "agent_end",
             "PreCompact": "pre_compact", "SessionShutdown": "session_shutdown"}  # fmt: skip
    given: dict[str, Any] = {"clineVersion": "3.0.65", "hookName": names[own], "taskId": "s-1",
                             "workspaceRoots": ["/tmp"], "timestamp": "x", "agent_id": "agent-1"}  # fmt: skip
    call = {"id": "call-1", "name": "run_commands", "input": {"commands": [command]}}
    if own == "PreToolUse":
        given |= {"tool_call": call, "preToolUse": {"toolName": "run_commands", "parameters": {"commands": "…"}}}
    if own == "PostToolUse":
        given["tool_result"] = {**call, "output": "TOKRAN1"}
    if own == "UserPromptSubmit":
        given["userPromptSubmit"] = {"prompt": "hello"}
    return given


def _cursor(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {"hook_event_name": own, "conversation_id": "s-1", "generation_id": "g", "cursor_version": "2.0",
             "workspace_roots": ["/tmp"], "cwd": ""}  # fmt: skip
    if own in ("preToolUse", "postToolUse", "postToolUseFailure"):
        given |= {"tool_name": "Shell", "tool_input": {"command": command}, "tool_use_id": "call-1"}
    if own == "postToolUse":
        given["tool_output"] = "TOKRAN1"
    if own == "beforeShellExecution":
        given["command"] = command
    if own == "beforeReadFile":
        given |= {"file_path": "/tmp/a", "content": "x"}
    if own == "beforeMCPExecution":
        given |= {"tool_name": "query", "tool_input": '{"command": "x"}', "url": "http://localhost"}
    if own == "afterFileEdit":
        given |= {"file_path": "/tmp/a", "edits": []}
    if own == "beforeSubmitPrompt":
        given["prompt"] = "hello"
    return given


def _opencode(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {"hook_event_name": own, "sessionID": "s-1", "cwd": "/tmp"}
    if event != "UserPromptSubmit":
        given |= {"tool": "bash", "callID": "call-1", "args": {"command": command, "description": "d"}}
    return given | ({"tool_response": "TOKRAN1"} if event == "PostToolUse" else {"prompt": "hello"})


def _amp(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {"hook_event_name": own, "session_id": "s-1"}
    if event == "UserPromptSubmit":
        return {**given, "message": "hello"}
    given |= {"tool": "Bash", "toolUseID": "call-1", "input": {"cmd": command}}
    return given | ({"output": "TOKRAN1"} if event == "PostToolUse" else {})


def _windsurf(own: str, event: str, command: str) -> dict[str, Any]:
    about = {
        "run_command": {"command_line": command, "cwd": "/tmp"}, "write_code": {"file_path": "/tmp/a", "edits": []},
        "read_code": {"file_path": "/tmp/a"}, "user_prompt": {"user_prompt": "hello"},
        "mcp_tool_use": {"mcp_server_name": "s", "mcp_tool_name": "t", "mcp_tool_arguments": {}},
    }  # fmt: skip
    return {"agent_action_name": own, "trajectory_id": "s-1", "execution_id": "e", "timestamp": "x",
            "tool_info": about.get(own.partition("_")[2], {"response": "done"})}  # fmt: skip


def _grok(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {"sessionId": "s-1", "cwd": "/tmp", "workspaceRoot": "/tmp"}
    if TABLE[event].subject == "tool_name":
        given |= {"toolName": "bash", "toolInput": {"command": command}}
    return given | ({"prompt": "hello"} if event == "UserPromptSubmit" else {})


def _antigravity(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {
        "hookEventName": own,
        "conversationId": "s-1",
        "workspacePaths": ["/tmp"],
        "stepIdx": 1,
    }
    if TABLE[event].subject == "tool_name":
        given["toolCall"] = {"name": "run_command", "args": {"CommandLine": command}}
    return given


def _goose(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {"event": own, "session_id": "s-1", "matcher_context": "x", "working_dir": "/tmp"}
    if TABLE[event].subject == "tool_name":
        given |= {"tool_name": "developer__shell", "tool_input": {"command": command}}
    return given | ({"message": "hello"} if event == "UserPromptSubmit" else {})


def _openhands(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {"event_type": own, "session_id": "s-1", "working_dir": "/tmp"}
    if TABLE[event].subject == "tool_name":
        given |= {"tool_name": "terminal", "tool_input": {"command": command}}
    return given | ({"message": "hello"} if event == "UserPromptSubmit" else {})


def _auggie(own: str, event: str, command: str) -> dict[str, Any]:
    given: dict[str, Any] = {"hook_event_name": own, "conversation_id": "s-1", "workspace_roots": ["/tmp"]}
    if TABLE[event].subject == "tool_name":
        given |= {"tool_name": "launch-process", "tool_input": {"command": command}}
    return given | ({"user_prompt": "hello"} if event == "UserPromptSubmit" else {})


_RESULTS: dict[str, Any] = {"claude": {"stdout": "TOKRAN1", "stderr": "", "interrupted": False, "isImage": False}}
_SHELLS = {"qwen": "run_shell_command", "droid": "Execute", "codex": "Bash", "vscode": "runTerminalCommand",
           "kiro": "execute_bash", "kimi": "Shell", "hermes": "terminal", "deepagents": "execute"}  # fmt: skip
_SPECIAL: dict[str, Any] = {
    "gemini": _gemini, "copilot": _copilot, "cline": _cline, "cursor": _cursor, "opencode": _opencode, "amp": _amp,
    "windsurf": _windsurf, "grok": _grok, "antigravity": _antigravity, "goose": _goose, "openhands": _openhands,
    "auggie": _auggie,
}  # fmt: skip


def fired(event: AgentEvent, answer: Any) -> list[Outcome]:
    """Return the outcomes of an event through one hook with this answer."""
    hooks = Hooks()
    hooks.register(event.event, lambda _: answer, name="h")
    return [hooks.fire_sync(event.event, **fields) for fields in (event.fields, *event.more)]


def answered(dialect: AgentDialect, own: str, answer: Any, payload: dict[str, Any] | None = None) -> HookOutput:
    """Return what an agent is answered if one hook answers so."""
    event = dialect.read_event(own, payload if payload is not None else payload_of(dialect, own))
    return dialect.write_answer(event, *fired(event, answer))


def foreseen(dialect: AgentDialect, own: str, answer: HookOutput) -> Prediction:
    """Return what the agent does with an answer."""
    return dialect.predict(own, HookExit(answer.stdout, answer.stderr, answer.status))


def has_effect(dialect: AgentDialect, own: str, effect: str, said: HookOutput) -> bool:
    """Return whether an answer has the effect that it was written for, as the agent is known."""
    event, seen = dialect.EVENTS[own], foreseen(dialect, own, said)
    sees, words = seen.model_sees, str(getattr(dialect, "CAN", {}).get(own, "deny grant")).split()
    match effect:
        case "deny" if event in ("PreToolUse", "PermissionRequest"):
            return not seen.tool_ran and not seen.asks
        case "deny" if event in ("UserPromptSubmit", "UserPromptExpansion"):
            return seen.model_calls == 0 or (event == "UserPromptExpansion" and "deny" in words)
        case "deny":
            return bool(said.stdout.strip("{}\n ")) or said.status == 2
        case "reason":
            return bool({"reason", "stderr"} & sees)
        case "grant":
            return "allow" in said.stdout
        case "ask":
            return seen.asks
        case "rewrite":
            return "input" in sees and not seen.tool_ran
        case "result":
            return "tool_output" not in sees and bool({"result", "reason", "stop_reason"} & sees)
        case "context" if event in _UNOBSERVED:
            return "TOKCTX" in said.stdout
        case "context":
            return bool({"context", "stdout"} & sees)
        case "keep_going":
            return seen.model_calls == 3
        case "stop":
            return seen.model_calls < 2 or (event == "Stop" and "TOKSTOP" in said.stdout)
        case _:
            raise AssertionError(effect)


_UNOBSERVED = frozenset({"SubagentStart", "PostToolBatch", "PostToolUseFailure", "Notification", "SubagentStop", "Stop",
                         "UserPromptExpansion", "PostModelSwitch", "TeammateIdle", "TaskCompleted", "PreCompact",
                         "Setup"})  # fmt: skip
"""Events whose context was not watched in the agents: what counts is that it is written."""


def support(dialect: AgentDialect, own: str, our: str, effect: str) -> str:
    """Return how an agent supports an effect, as its answers and its predictions say."""
    said = answered(dialect, own, ANSWERS[effect])
    if has_effect(dialect, own, effect, said):
        ends_run = effect == "deny" and our == "PreToolUse" and foreseen(dialect, own, said).model_calls < 2
        return "degraded" if ends_run or (effect == "result" and dialect.NAME == "qwen") else "honoured"
    if effect in ("ask", "rewrite", "stop") and our == "PreToolUse" and not foreseen(dialect, own, said).tool_ran:
        return "degraded"
    return "impossible"


def fails_open(dialect: AgentDialect, own: str, our: str, failure: str) -> bool:
    """Return whether the action goes on, or the result is shown, if the program of a hook fails so."""
    seen = dialect.predict(own, FAILURES[failure])
    if our == "UserPromptSubmit":
        return seen.model_calls > 0
    return "tool_output" in seen.model_sees if our == "PostToolUse" else seen.tool_ran
