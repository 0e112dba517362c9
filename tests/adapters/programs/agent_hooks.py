import asyncio

from agent_hooks import AgentContextBuilder, InterceptionBlocked, InterceptionEmitter

from interpose import Hooks, deny
from interpose.adapters.agent_hooks import interceptor

hooks = Hooks()
hooks.register("PreToolUse", lambda event: deny("rm is not allowed here"), matcher="rm")


async def host() -> None:
    emitter = InterceptionEmitter().register(interceptor(hooks))
    points = AgentContextBuilder(agent_id="main", framework="example", session_id="one")
    for tool in ("ls", "rm"):
        try:
            await emitter.emit(points.pre_tool_call(call_id=tool, name=tool, args={"path": "/"}))
            print(f"{tool} may run")
        except InterceptionBlocked as blocked:
            print(blocked.result.verdict.message)


asyncio.run(host())
