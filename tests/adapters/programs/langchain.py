from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from interpose import Hooks, deny
from interpose.adapters.langchain import middleware


def shell(cmd: str) -> str:
    """Run a command."""
    return f"ran {cmd}"


def no_rm(event):
    return deny("rm is not allowed here") if event.tool_input["cmd"].startswith("rm") else None


hooks = Hooks()
hooks.register("PreToolUse", no_rm, matcher="shell", on_error="abort")
calls = [{"name": "shell", "args": {"cmd": cmd}, "id": cmd} for cmd in ("ls", "rm -rf /")]
model = GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")]))
object.__setattr__(model, "bind_tools", lambda tools, **more: model)  # a model that says what it is given
agent = create_agent(model, [shell], middleware=[middleware(hooks)])
for message in agent.invoke({"messages": [("user", "clean up")]})["messages"][2:]:
    print(message.content)
