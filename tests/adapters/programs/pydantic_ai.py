from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from interpose import Hooks, deny
from interpose.adapters.pydantic_ai import capability


def shell(cmd: str) -> str:
    return f"ran {cmd}"


def model(messages, info):  # a model that calls the tool twice and says what it saw
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("shell", {"cmd": "ls"}), ToolCallPart("shell", {"cmd": "rm -rf /"})])
    return ModelResponse([TextPart("\n".join(part.content for part in messages[-1].parts))])


def no_rm(event):
    return deny("rm is not allowed here") if event.tool_input["cmd"].startswith("rm") else None


hooks = Hooks()
hooks.register("PreToolUse", no_rm, matcher="shell", on_error="abort")
print(Agent(FunctionModel(model), tools=[shell], capabilities=[capability(hooks)]).run_sync("clean up").output)
