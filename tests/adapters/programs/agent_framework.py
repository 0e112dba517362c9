import asyncio

import agent_framework as af

from interpose import Hooks, deny
from interpose.adapters.agent_framework import middleware


def shell(cmd: str) -> str:
    return f"ran {cmd}"


class Model(af.FunctionInvocationLayer, af.ChatMiddlewareLayer, af.BaseChatClient):
    async def _inner_get_response(self, *, messages, **_):  # calls the tool twice and says what it saw
        calls = [af.Content.from_function_call(cmd, "shell", arguments={"cmd": cmd}) for cmd in ("ls", "rm -rf /")]
        told = ["\n".join(one.result for one in messages[-1].contents)] if len(messages) > 1 else calls
        return af.ChatResponse(messages=[af.Message("assistant", told)])


hooks = Hooks()
hooks.register("PreToolUse", lambda event: deny("no rm") if "rm" in event.tool_input["cmd"] else None)
agent = af.Agent(Model(), tools=[shell], middleware=[middleware(hooks)])
print(asyncio.run(agent.run("clean up")).text)
