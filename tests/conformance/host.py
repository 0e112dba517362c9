"""A host in miniature: before an action it fires an event, and then it does what the outcome says."""

from typing import Any

from interpose import Hooks, Outcome


class Host:
    """Keeps what it did, in order: each action with the input that it ran on."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.did: list[Any] = []

    async def act(self, event: str, **fields: Any) -> Outcome:
        """Do what an event announces, if it may be done, on the input that the hooks left."""
        outcome = await self.hooks.fire(event, **fields)
        if outcome.allowed:
            self.did.append({name: outcome.input[name] for name in fields})
        return outcome

    async def tool(self, name: str, tool_input: Any, run: Any) -> list[str]:
        """Call a tool; return the messages that the model gets to see."""
        before = await self.hooks.fire("PreToolUse", tool_name=name, tool_input=tool_input)
        if not before.allowed:
            return [f"error: {before.reason}"]
        call = {"tool_name": name, "tool_input": before.tool_input, "tool_use_id": before.tool_use_id}
        try:
            self.did.append(name)
            result = run(before.tool_input)
        except Exception as error:
            await self.hooks.fire("PostToolUseFailure", **call, error=str(error))
            return [f"error: {error}"]
        after = await self.hooks.fire("PostToolUse", **call, tool_response=result)
        inside = [item.content for item in after.inject if item.strategy == "tool_result"]
        messages = [item.content for item in after.inject if item.strategy == "user_message"]
        shown = "(hidden)" if after.suppress_output else after.tool_response
        return ["".join([shown, *inside]), *messages]
