from strands import Agent, tool
from strands.middleware import InvokeModelStage
from strands.types.events import ModelStopReason

from interpose import Hooks, deny
from interpose.adapters.strands import provider


@tool
def shell(cmd: str) -> str:
    return f"ran {cmd}"


async def script(context, next_fn):  # answers in the place of the model
    calls = [{"toolUse": {"name": "shell", "toolUseId": cmd, "input": {"cmd": cmd}}} for cmd in ("ls", "rm -rf /")]
    content = [{"text": "done"}] if len(context.messages) > 1 else calls
    usage = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
    reason = "end_turn" if "text" in content[0] else "tool_use"
    yield ModelStopReason(reason, {"role": "assistant", "content": content}, usage, {"latencyMs": 0})


hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [lambda e: deny("no rm") if "rm" in str(e.tool_input) else None]}})
agent = Agent(tools=[shell], hooks=[provider(hooks)], callback_handler=None)
agent.add_middleware(InvokeModelStage, script)
print(agent("tidy up"), *[one["toolResult"]["content"] for one in agent.messages[2]["content"]], sep="\n")
