"""A host in miniature: it does what it does in a session of the product, and keeps what came of it."""

from typing import Any

from interpose import Answer, Hooks, Session


class Host:
    """Keeps what it did, in order: the values that reached the model, the tool, the file or the caller."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.did: list[Any] = []

    async def act(self, event: str, **fields: Any) -> Answer:
        """Do the action that an event belongs to."""
        async with self.hooks.session() as session:
            return await self._act(session, event, fields)

    async def _act(self, session: Session, event: str, fields: dict[str, Any]) -> Answer:
        match event:
            case "pre:message":
                return await session.message(
                    fields["prompt"], lambda prompt, system: self.did.append({"prompt": prompt}), model=fields["model"]
                )
            case "post:message":
                answer = await session.message(fields["prompt"], lambda prompt, system: fields["output"])
                self.did.append({"output": answer.content})
            case "pre:tool":
                return await session.tool(
                    fields["tool_name"], fields["tool_input"], lambda given: self.did.append({"tool_input": given})
                )
            case "post:tool":
                answer = await session.tool(
                    fields["tool_name"], fields["tool_input"], lambda given: fields["tool_response"]
                )
                self.did.append({"tool_response": answer.content})
            case "pre:agent:spawn":
                return await session.spawn(
                    fields["agent"], lambda child, config: self.did.append({"config": config}), config=fields["config"]
                )
            case "pre:session:phase":
                answer = await session.phase(fields["to_phase"])
                if session.phase_now:
                    self.did.append({"to_phase": session.phase_now})
            case "pre:git:write":
                return await session.write(
                    fields["path"],
                    fields["content"],
                    lambda path, content: self.did.append({"path": path, "content": content}),
                )
            case "pre:view:render":
                answer = await session.render(fields["view"], fields["data"])
                self.did.append({"data": answer.content})
            case _:
                raise AssertionError(f"no action belongs to {event}")
        return answer

    async def tool(self, name: str, tool_input: Any, run: Any) -> list[str]:
        """Call a tool; return the messages that the model gets to see."""
        async with self.hooks.session() as session:
            answer = await session.tool(name, tool_input, run)
        return [answer.content, *answer.user_messages] if answer.ok else [f"error: {answer.reason}"]
