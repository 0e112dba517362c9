from agents import Agent, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from interpose import Hooks, deny
from interpose.adapters.openai_agents import governed

hooks = Hooks()


@hooks.on("PreToolUse", matcher="shell", on_error="abort")
def no_rm(event):
    return deny("rm is not allowed here") if event.tool_input["cmd"].startswith("rm") else None


@function_tool
def shell(cmd: str) -> str:
    return f"ran {cmd}"


calls = [function_call("shell", {"cmd": cmd}, call_id=cmd) for cmd in ("ls", "rm -rf /")]
model = ScriptedModel([calls, [assistant_message("done")]])  # or "gpt-5.4"
agent = Agent("helper", model=model, tools=[shell])

result = Runner.run_sync(governed(hooks, agent), "tidy up")
print([item.output for item in result.new_items if item.type == "tool_call_output_item"], result.final_output)
