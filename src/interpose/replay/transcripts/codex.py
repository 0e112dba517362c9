"""Transcripts of Codex ("rollouts"): items of the model, each in an envelope since 0.32, bare before."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ...runtime.regex import regex
from ..recording import UNKNOWN
from .base import NOT_TOLD, REFUSED, REFUSED_BY_PERSON, Read, TranscriptReader, mapping_of, object_in, text_of

__all__ = ["CodexReader"]

_ENVELOPES = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_ITEMS = ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call",
          "message", "reasoning")  # fmt: skip
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call")

_SHELL = ("shell", "local_shell", "shell_command", "exec_command", "container.exec", "exec", "Bash")
_INVALID = regex(r"unsupported (custom tool )?call: |failed to parse function arguments|tool call error: ")
_BY_HOOK = regex(r"(Command|Tool call) blocked by PreToolUse hook: ?")
_BY_PERSON = regex(r"(exec |exec command |patch )?rejected by (the )?user\b(?! approval settings)|aborted by user")
_BY_RULE = regex(r".{0,40}(rejected by user approval settings|blocked by policy)")
_EXIT = regex(r"(?:Process exited with code|Exit code:) (?P<status>-?\d+)")
_CWD = regex(r"<cwd>(?P<new>[^<\n]{1,4096})</cwd>|Current working directory: (?P<old>[^\n]{1,4096})")
_NOT_TYPED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>",
              "<user_shell_command>", "<subagent_notification>", "<permissions instructions>")  # fmt: skip


class CodexReader(TranscriptReader):
    """Reads the entries of Codex."""

    AGENT = "codex"
    SAME_IDS = True
    UNSEEN = frozenset({"write_stdin"})

    @classmethod
    def knows(cls, entry: Mapping[str, Any]) -> bool:
        """Say whether an entry is one of Codex, in an envelope or bare."""
        kind = entry.get("type")
        if isinstance(entry.get("payload"), Mapping):
            return kind in _ENVELOPES
        return entry.get("record_type") == "state" or (
            kind in _ITEMS and not {"message", "sessionId", "uuid", "data"} & entry.keys()
        )

    def take(self, entry: Mapping[str, Any]) -> Iterator[Read]:
        """Yield what an entry says."""
        time, item = text_of(entry.get("timestamp")), mapping_of(entry.get("payload"))
        kind = entry.get("type")
        if not item:
            if kind is None and text_of(entry.get("id")):  # the first line before there were envelopes
                self._begin(entry)
            elif kind in (*_ITEMS, "mcp_tool_call"):
                yield from self._item(entry, time)
        elif kind == "session_meta":
            self._begin(item)
        elif kind == "turn_context":
            self.cwd = text_of(item.get("cwd")) or self.cwd
        elif kind == "event_msg" and item.get("type") == "thread_name_updated":
            self.title = text_of(item.get("thread_name")) or text_of(item.get("name")) or self.title
        elif kind == "response_item":
            yield from self._item(item, time)

    def _begin(self, meta: Mapping[str, Any]) -> None:
        # A forked session repeats the first entry of the session that it comes from.
        self.session = self.session or text_of(meta.get("id"))
        self.cwd = text_of(meta.get("cwd")) or self.cwd
        self.version = text_of(meta.get("cli_version")) or self.version

    def _item(self, item: Mapping[str, Any], time: str) -> Iterator[Read]:
        kind, call = text_of(item.get("type")), text_of(item.get("call_id")) or text_of(item.get("id"))
        if kind in _CALLS:
            tool, given = _tool(item)
            where = text_of(given.get("workdir"))
            base = {"session_id": self.session, "transcript_path": self.path, "cwd": where or self.cwd}
            yield from self.called(call, tool, given, time, base)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from self._output(call, item.get("output"), time)
        elif kind == "message" and item.get("role") == "user":
            yield from self._message(item.get("content"), time)

    def _output(self, call: str, output: Any, time: str) -> Iterator[Read]:
        text = _text(output)
        if _INVALID.match(text):
            yield from self.refused(call, UNKNOWN, NOT_TOLD)
        elif found := _BY_HOOK.match(text):
            yield from self.refused(call, "deny", REFUSED, text[found.end() :])
        elif _BY_RULE.match(text):
            yield from self.refused(call, "deny", REFUSED, text)
        elif _BY_PERSON.match(text):
            yield from self.refused(call, "ask", REFUSED_BY_PERSON)
        else:
            yield from self.ended(call, {"stdout": text, **_status(output, text)}, time)

    def _message(self, content: Any, time: str) -> Iterator[Read]:
        blocks = content if isinstance(content, list) else []
        text = "\n".join(text_of(mapping_of(block).get("text")) for block in blocks)
        if not self.cwd and (found := _CWD.search(text)):
            self.cwd = (found["new"] or found["old"]).strip()
        if not text.lstrip().startswith(_NOT_TYPED):
            yield from self.prompted(text, time)


def _tool(item: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return a call as Codex gives it to hooks: a command line is ``Bash.command``, a patch ``apply_patch.command``."""
    name = text_of(item.get("name")) or ("local_shell" if item.get("type") == "local_shell_call" else "")
    space = text_of(item.get("namespace"))
    if item.get("type") == "custom_tool_call":
        return name, {"command": text_of(item.get("input"))}
    given = object_in(item.get("action") if name == "local_shell" else item.get("arguments"))
    if name in _SHELL and not space:
        line = given.get("command", given.get("cmd"))
        where = given.get("workdir") or given.get("working_directory")
        if isinstance(line, (str, list)):
            return "Bash", {"command": _line(line), **({"workdir": where} if text_of(where) else {})}
    if name == "apply_patch":
        return name, {"command": text_of(given.get("input")) or text_of(given.get("patch"))}
    return f"{space}{name}" if space.startswith("mcp__") else name, given


def _line(command: str | list[Any]) -> str:
    """Return a command line; of a shell that is started with one, that line."""
    if isinstance(command, str):
        return command
    words = [str(word) for word in command]
    if len(words) == 3 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1] in ("-c", "-lc", "-ic"):
        return words[2]
    return shlex.join(words)


def _text(output: Any) -> str:
    """Return the text of a result: plain, in JSON with the exit status, or in blocks."""
    if isinstance(output, list):
        return "\n".join(text_of(mapping_of(block).get("text")) for block in output)
    if isinstance(output, Mapping):
        return text_of(output.get("content")) or text_of(output.get("output"))
    text = text_of(output)
    inner = object_in(text) if text.startswith("{") else {}
    return text_of(inner.get("output")) if "output" in inner else text


def _status(output: Any, text: str) -> dict[str, int]:
    """Return the exit status of a command, if the result says it."""
    told = mapping_of(object_in(output).get("metadata")).get("exit_code") if str(output)[:1] == "{" else None
    if isinstance(told, int):
        return {"exit_code": told}
    found = _EXIT.search(text[:2000])
    return {"exit_code": int(found["status"])} if found else {}
