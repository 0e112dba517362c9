"""The table: an event is a row. The only module of the engine half that knows an event by name.

A row says what a matcher is compared with, which fields an event carries, what a hook may do there, and the
facts that dialects need. Everything else asks the row what it *can*, never what it is called.

Fields are written in a short notation: ``tool_name`` is text that is always there, ``model?`` may be absent,
``tool_input:any``, ``final:flag``, ``index:number``, ``tool_calls:list``, ``config:object`` and
``custom_instructions:text|null`` say what a value is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from .errors import BadEvent, UnknownEvent, nearest
from .records import Record

__all__ = ["BASE_FIELDS", "TABLE", "ClaudeFacts", "EventSpec", "Field", "NotOk", "Table"]

Exit2 = Literal["deny", "keep going", "context", "user", "ignored"]

RIGHTS: frozenset[str] = frozenset({"deny", "ask", "allow", "context", "inject", "suppress", "keep going", "interrupt"})
_EMPTY: dict[str, Any] = {"text": str, "flag": bool, "number": int, "object": dict, "list": list}
_KINDS: dict[str, Any] = {"text": str, "text|null": (str, type(None)), "object": dict, "list": list, "flag": bool}
_POINT_WORDS = {"tool": "tool_name", "args": "tool_input", "result": "tool_response"}


class Field(Record, kw_only=False):
    """One field of an event: its name, what its value is, and whether it is always there."""

    name: str
    kind: str
    always: bool

    @classmethod
    def parse(cls, text: str) -> Field:
        """Read the short notation of this module."""
        name, _, kind = text.partition(":")
        return cls(name.rstrip("?"), kind or "text", not name.endswith("?"))

    def __repr__(self) -> str:
        return f"{self.name}{'' if self.always else '?'}:{self.kind}"

    def fits(self, value: object) -> bool:
        """Say whether a value may stand in this field after a change."""
        if self.kind == "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        kinds = _KINDS.get(self.kind)
        return kinds is None or isinstance(value, kinds)


class NotOk(Record, kw_only=False):
    """What ``ok: false`` of a model does: ``deny``, ``end turn``, ``keep going``, ``context`` or ``nothing``."""

    effects: str
    continued: str = ""  # with ``continueOnBlock``, and for hooks of type ``agent``; the same if nothing is said
    agents: bool = True  # whether hooks of type ``agent`` run there too


class ClaudeFacts(Record, kw_only=False):
    """What Claude Code does with a hook's answer at this event."""

    exit2: Exit2 = "ignored"
    timeout: float = 600.0
    stdout_is_context: bool = False
    failure_blocks: bool = True
    discards: str = ""  # names of outputs that have no effect there, or ``all``
    env_file: bool = False
    tool_event: bool = False
    timeout_denies: bool = False
    any_failure_denies: bool = False
    not_ok: NotOk | None = None  # None: no model is asked there
    http: bool = True  # whether hooks of type http run there
    mcp_tool_at: str = "*"  # the subjects at which hooks of type mcp_tool run: all, some by name, or none


_PLAIN_FACTS = ClaudeFacts()
_BASE = (
    "session_id transcript_path cwd hook_event_name permission_mode? agent_id? agent_type? prompt_id? effort?:object "
    "scratchpad_dir?"
)
BASE_FIELDS: tuple[Field, ...] = tuple(map(Field.parse, _BASE.split()))


class EventSpec:
    """One event: what a matcher is compared with, its fields, and what a hook may do there."""

    __slots__ = (
        "aliases", "can", "changes_need_allow", "claude", "claude_only", "continue_keeps_going", "fields", "known",
        "meaning", "modifies", "name", "optional", "subject", "subject_is_path_end", "words",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        meaning: str,
        *,
        subject: str | None = None,
        can: str | Iterable[str] = (),
        modifies: str = "",
        fields: str = "",
        alias: str | None = None,
        continue_keeps_going: bool | None = None,
        changes_need_allow: bool = False,
        subject_is_path_end: bool = False,
        claude: ClaudeFacts = _PLAIN_FACTS,
        claude_only: bool = False,
    ) -> None:
        rights = {part.strip() for part in can.split(",")} - {""} if isinstance(can, str) else set(can)
        if unknown := rights - RIGHTS:
            raise BadEvent(f"{name}: no such right: {', '.join(sorted(unknown))}",
                           hint=f"rights are {', '.join(sorted(RIGHTS))}")  # fmt: skip
        fields += " host_tool_name? tool_readings?:list" * (subject == "tool_name")  # its other names, if it has any
        own = {field.name: field for field in map(Field.parse, fields.split())}
        self.name = name
        self.meaning = meaning
        self.subject = subject
        self.can: frozenset[str] = frozenset(rights)
        self.modifies: frozenset[str] = frozenset(modifies.split())
        self.aliases: tuple[str, ...] = (alias,) if alias else ()
        self.continue_keeps_going = continue_keeps_going
        self.changes_need_allow = changes_need_allow
        self.subject_is_path_end = subject_is_path_end
        self.claude = claude
        self.claude_only = claude_only
        self.fields: dict[str, Field] = {field.name: field for field in BASE_FIELDS} | own
        self.optional: frozenset[str] = frozenset(f.name for f in self.fields.values() if not f.always)
        self.words: dict[str, str] = {w: name for w, name in _POINT_WORDS.items() if name in own and w not in own}
        for needed in (self.modifies | {subject}) - {None}:
            if needed not in self.fields:
                raise BadEvent(f"{name}: {needed} is not one of its fields", hint="name it in fields=")
        self.known: frozenset[str] = frozenset(self.fields) | frozenset(self.words)

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, "known"):  # the last one that is set
            raise AttributeError("a row cannot be changed")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventSpec) and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)

    def __hash__(self) -> int:
        return hash(self.name)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"EventSpec({self.name!r})"

    def defaults(self) -> dict[str, Any]:
        """Return what always-present fields hold when the host gives nothing."""
        values = {field.name: _EMPTY.get(field.kind, lambda: None)() for field in self.fields.values() if field.always}
        return values if values.get("tool_input", "") is not None else {**values, "tool_input": {}}


class Table(Mapping[str, EventSpec]):
    """Rows by name. Adding one gives a new table; aliases and suffixes are resolved by ``find``."""

    __slots__ = ("_rows", "_spellings")

    def __init__(self, rows: Iterable[EventSpec]) -> None:
        self._rows: dict[str, EventSpec] = {}
        self._spellings: dict[str, EventSpec] = {}
        for row in rows:
            for spelling in (row.name, *row.aliases):
                if spelling in self._spellings:
                    raise BadEvent(f"{spelling} is in the table already", hint="choose another name")
                self._spellings[spelling] = row
            self._rows[row.name] = row

    def __getitem__(self, name: str) -> EventSpec:
        return self._spellings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def spellings(self) -> tuple[str, ...]:
        """Return every name and alias."""
        return tuple(self._spellings)

    def with_row(self, row: EventSpec) -> Table:
        """Return this table with one more row."""
        return Table([*self._rows.values(), row])

    def find(self, spelling: object) -> tuple[EventSpec, str | None]:
        """Return the row, and the matcher that a suffix such as ``pre:tool:shell`` stands for."""
        if not isinstance(spelling, str):
            raise UnknownEvent("an event is named by text", hint=f"got {type(spelling).__name__}")
        if row := self._spellings.get(spelling):
            return row, None
        head = spelling
        while ":" in head:
            head = head.rpartition(":")[0]
            row = self._spellings.get(head)
            if row is not None and row.subject and len(head) + 1 < len(spelling):
                return row, spelling[len(head) + 1 :]
        hint = nearest(spelling, self._spellings) or "`interpose events` lists them"
        raise UnknownEvent(f"{spelling} is not an event", hint=hint)


_SILENT = "systemMessage continue"
_TASK = "task_id task_subject task_description? teammate_name? team_name?"
_MODEL_SWITCH = (
    "from_model to_model requested_model:text|null source context_tokens:number prompt_cache_warm:flag "
    "cache_ttl estimated_cache_write_usd:number pricing"
)

TABLE = Table([
    # The events that Goat and MassGen took from Claude Code.
    EventSpec("PreToolUse", "before a tool runs", alias="pre:tool", subject="tool_name",
        can="deny, ask, allow, context", modifies="tool_input",
        fields="tool_name tool_input:any tool_use_id mcp_server?:object",
        claude=ClaudeFacts("deny", tool_event=True, not_ok=NotOk("deny, end turn", "deny"))),
    EventSpec("PostToolUse", "after a tool succeeded", alias="post:tool", subject="tool_name",
        can="inject, suppress, context", modifies="tool_response",
        fields="tool_name tool_input:any tool_response:any tool_use_id duration_ms?:number mcp_server?:object",
        claude=ClaudeFacts("context", tool_event=True, not_ok=NotOk("end turn", "context"))),
    EventSpec("PostToolUseFailure", "after a tool failed", subject="tool_name", can="context", modifies="error",
        fields="tool_name tool_input:any tool_use_id error is_interrupt?:flag duration_ms?:number mcp_server?:object",
        claude=ClaudeFacts("context", tool_event=True, not_ok=NotOk("context"))),
    EventSpec("PermissionRequest", "when a tool call needs a yes", subject="tool_name", can="deny, allow, interrupt",
        modifies="tool_input", changes_need_allow=True, fields="tool_name tool_input:any permission_suggestions?:list "
        "mcp_server?:object", claude=ClaudeFacts("ignored", tool_event=True, not_ok=NotOk("nothing", agents=False))),
    EventSpec("UserPromptSubmit", "when a person sends a prompt", can="deny, context",
        fields="prompt source? session_title?",
        claude=ClaudeFacts("deny", timeout=30, stdout_is_context=True, not_ok=NotOk("deny, end turn"))),
    EventSpec("Stop", "when the agent wants to stop", can="keep going, context", continue_keeps_going=True,
        fields="stop_hook_active:flag last_assistant_message? background_tasks?:list session_crons?:list",
        claude=ClaudeFacts("keep going", failure_blocks=False, not_ok=NotOk("keep going"))),
    EventSpec("SubagentStop", "when a subagent wants to stop", subject="agent_type", can="keep going, context",
        continue_keeps_going=True, fields="stop_hook_active:flag agent_id agent_transcript_path agent_type "
        "last_assistant_message? background_tasks?:list session_crons?:list",
        claude=ClaudeFacts("keep going", failure_blocks=False, not_ok=NotOk("keep going"))),
    EventSpec("SubagentStart", "when a subagent is spawned", subject="agent_type", can="context",
        fields="agent_id agent_type", claude=ClaudeFacts("user")),
    EventSpec("SessionStart", "when a session begins, resumes or was compacted", subject="source", can="context",
        fields="source agent_type? model? session_title? seconds_since_last_response?:number context_tokens?:number "
        "prompt_cache_likely_expired?:flag estimated_cache_write_usd?:number",
        claude=ClaudeFacts("user", stdout_is_context=True, env_file=True, http=False, mcp_tool_at="clear compact")),
    EventSpec("SessionEnd", "when a session ends", subject="reason", fields="reason",
        claude=ClaudeFacts("user", timeout=1.5, discards="all")),
    EventSpec("Setup", "before the first turn, or for maintenance", subject="trigger", can="context", fields="trigger",
        claude=ClaudeFacts("ignored", discards="all", env_file=True, http=False, mcp_tool_at="")),
    EventSpec("PreCompact", "before the conversation is compacted", subject="trigger", can="deny, context",
        modifies="custom_instructions", fields="trigger custom_instructions:text|null",
        claude=ClaudeFacts("deny", discards=_SILENT)),
    EventSpec("Notification", "when the person is notified", subject="notification_type", can="context",
        fields="message title? notification_type", claude=ClaudeFacts("ignored", discards=_SILENT)),
    EventSpec("TeammateIdle", "when a teammate has no task left", can="keep going, context", continue_keeps_going=False,
        fields="teammate_name team_name",
        claude=ClaudeFacts("keep going", failure_blocks=False, not_ok=NotOk("end turn", "keep going"))),
    EventSpec("TaskCompleted", "when a task is about to count as done", can="deny, context", fields=_TASK,
        claude=ClaudeFacts("deny", failure_blocks=False, not_ok=NotOk("deny"))),
    # Armament's points; pre:tool and post:tool are the first two rows.
    EventSpec("pre:message", "before a prompt goes to the model", can="deny", modifies="prompt tools",
        fields="prompt model? messages?:list tools?:list"),
    EventSpec("post:message", "after the model answered", modifies="output",
        fields="prompt output model? messages?:list tool_calls?:list"),
    EventSpec("pre:agent:spawn", "before an agent is created", subject="agent", can="deny", modifies="config",
        fields="agent config:object"),
    EventSpec("pre:agent:handoff", "before another agent takes over", subject="to_agent", can="deny",
        modifies="config", fields="agent to_agent config:object"),
    EventSpec("post:agent:complete", "after an agent finished", subject="agent", fields="agent result:any"),
    EventSpec("pre:session:phase", "before the session changes its phase", subject="to_phase", can="deny",
        fields="from_phase to_phase"),
    EventSpec("post:session:phase", "after the session changed its phase", subject="to_phase",
        fields="from_phase to_phase"),
    EventSpec("pre:git:write", "before a file write goes to the shadow git", subject="path", can="deny",
        modifies="content", fields="path content"),
    EventSpec("post:git:write", "after a file was written", subject="path", fields="path content commit"),
    EventSpec("pre:view:render", "before a frame is rendered", subject="view", modifies="data", fields="view data:any"),
    # What Claude Code has added since. Their special outputs pass through ``outcome.extra``.
    EventSpec("PostToolBatch", "after every call of a parallel batch", can="deny, context", claude_only=True,
        fields="tool_calls:list", claude=ClaudeFacts("deny", not_ok=NotOk("deny, end turn"))),
    EventSpec("UserPromptExpansion", "when a typed command expands into a prompt", subject="command_name",
        can="deny, context", claude_only=True, fields="expansion_type command_name command_args command_source? prompt",
        claude=ClaudeFacts("deny", stdout_is_context=True, not_ok=NotOk("deny, end turn"))),
    EventSpec("StopFailure", "when an API error ended the turn", subject="error", claude_only=True,
        fields="error error_details? last_assistant_message?", claude=ClaudeFacts("ignored", discards="all")),
    EventSpec("PostCompact", "after the conversation was compacted", subject="trigger", claude_only=True,
        fields="trigger compact_summary", claude=ClaudeFacts("user", discards=_SILENT)),
    EventSpec("PreModelSwitch", "before the model is switched", subject="to_model", can="deny, ask, allow",
        claude_only=True, fields=_MODEL_SWITCH, claude=ClaudeFacts("deny", timeout=30, timeout_denies=True)),
    EventSpec("PostModelSwitch", "after the model was switched", subject="to_model", can="context", claude_only=True,
        fields=_MODEL_SWITCH, claude=ClaudeFacts("user", timeout=30, stdout_is_context=True)),
    EventSpec("PermissionDenied", "after automatic mode refused a call", subject="tool_name", claude_only=True,
        fields="tool_name tool_input:any tool_use_id reason mcp_server?:object",
        claude=ClaudeFacts(tool_event=True, not_ok=NotOk("nothing"))),
    EventSpec("TaskCreated", "when a task is being created", can="deny", claude_only=True, fields=_TASK,
        claude=ClaudeFacts("deny", discards="continue", not_ok=NotOk("deny"))),
    EventSpec("Elicitation", "when an MCP server asks the person something", subject="mcp_server_name", can="deny",
        claude_only=True, fields="mcp_server_name message mode? url? elicitation_id? requested_schema?:object",
        claude=ClaudeFacts("deny", discards="reason systemMessage continue")),
    EventSpec("ElicitationResult", "before an answer goes back to the MCP server", subject="mcp_server_name",
        can="deny", claude_only=True, fields="mcp_server_name elicitation_id? mode? action content?:object",
        claude=ClaudeFacts("deny", discards="reason systemMessage continue")),
    EventSpec("ConfigChange", "when a settings file changed", subject="source", can="deny", claude_only=True,
        fields="source file_path?", claude=ClaudeFacts("deny", discards=_SILENT)),
    EventSpec("WorktreeCreate", "when a worktree is created", can="deny", claude_only=True, fields="name",
        claude=ClaudeFacts("deny", discards=_SILENT, any_failure_denies=True)),
    EventSpec("WorktreeRemove", "when a worktree is removed", can="deny", claude_only=True, fields="worktree_path",
        claude=ClaudeFacts("deny", discards="all", any_failure_denies=True)),
    EventSpec("InstructionsLoaded", "after a file of instructions was loaded", subject="load_reason", claude_only=True,
        fields="file_path memory_type load_reason globs?:list trigger_file_path? parent_file_path?",
        claude=ClaudeFacts("ignored", discards="all")),
    EventSpec("CwdChanged", "after the working directory changed", claude_only=True, fields="old_cwd new_cwd",
        claude=ClaudeFacts("user", discards="continue", env_file=True)),
    EventSpec("FileChanged", "after a watched file changed", subject="file_path", subject_is_path_end=True,
        claude_only=True, fields="file_path event", claude=ClaudeFacts("user", discards="continue", env_file=True)),
    EventSpec("DirectoryAdded", "after a working directory was added", subject="source", claude_only=True,
        fields="directory source", claude=ClaudeFacts("ignored", discards="continue")),
    EventSpec("MessageDisplay", "while assistant text is displayed", claude_only=True,
        fields="turn_id message_id index:number final:flag delta",
        claude=ClaudeFacts("ignored", timeout=10, discards=_SILENT)),
])  # fmt: skip
