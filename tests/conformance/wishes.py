"""What a hook can wish for, and what each wish does where an event grants it and where it does not.

Rights are the words of the table of events: ``deny``, ``ask``, ``allow``, ``context``, ``inject``, ``suppress``,
``keep going``, ``interrupt`` and ``modify FIELD``.
"""

from collections.abc import Collection
from typing import Any

from interpose import Reply, allow, ask, deny, modify

VALUES: dict[str, Any] = {
    "tool_input": {"changed": True},
    "tool_response": "changed",
    "error": "changed",
    "custom_instructions": "changed",
    "prompt": "changed",
    "output": "changed",
    "config": {"changed": True},
    "content": "changed",
    "data": {"changed": True},
}
"""Every field that some event lets a hook modify, with another value for it."""

WISHES: dict[str, Any] = {
    "deny": deny("no"),
    "ask": ask("sure?"),
    "allow": allow("fine"),
    "no objection": {"decision": "allow"},
    "suppress": {"suppressOutput": True},
    "context": {"systemMessage": "note"},
    "inject": {"inject": {"content": "note", "strategy": "user_message"}},
    "keep going": Reply(keep_going=True),
    "continue": {"continue": True},
    "stop": {"continue": False, "stopReason": "enough"},
    **{f"modify {name}": modify({name: value}) for name, value in VALUES.items()},
}


def effect(wish: str, rights: Collection[str], *, continue_counts: bool = False) -> dict[str, Any]:
    """Return what a wish of the hook called first does at an event with these rights, and nothing else."""
    ignored: dict[str, Any] = {"ignored": [("first", wish)]}
    match wish:
        case "deny" if "deny" in rights:
            return {"decision": "deny", "reason": "no"}
        case "deny" if "keep going" in rights:
            return {"keep_going": True, "reason": "no"}
        case "deny" if "context" in rights:
            return {"context": ["no"]} | ignored
        case "ask" if "ask" in rights:
            return {"decision": "ask", "reason": "sure?"}
        case "ask" if "deny" in rights:
            # Nobody can be asked here; the action is held back all the same.
            return {"decision": "ask", "reason": "sure?"} | ignored
        case "allow" if "allow" in rights:
            return {"decision": "allow", "reason": "fine", "granted": True}
        case "no objection":
            return {"decision": "allow"} if "allow" in rights else {}
        case "suppress" if "suppress" in rights:
            return {"suppress_output": True}
        case "context" if "context" in rights:
            return {"context": ["note"]}
        case "inject" if "inject" in rights:
            return {"inject": [("note", "user_message")]}
        case "keep going" if "keep going" in rights:
            return {"keep_going": True}
        case "continue":
            return {"keep_going": True} if continue_counts else {}
        case "stop":
            denied = {"decision": "deny", "reason": "enough"} if "deny" in rights else {}
            return {"continue_": False, "stop_reason": "enough", "interrupt": "interrupt" in rights} | denied
        case _ if wish in rights:
            name = wish.removeprefix("modify ")
            return {"changed": {name: VALUES[name]}}
        case _:
            return ignored
