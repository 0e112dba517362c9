"""The first program of the README."""

import asyncio

from interpose import Hooks, deny, modify

hooks = Hooks()


@hooks.on("PreToolUse", matcher="Bash", priority=10, name="safety-check", on_error="abort")
def no_rm(event):
    if "rm -rf" in event.tool_input["command"]:
        return deny("Destructive command blocked by hook")


@hooks.on("PreToolUse", matcher="Bash", name="dry-run", timeout=2)
async def dry_run(event):
    if event.tool_input["command"].startswith("git push"):
        return modify(tool_input={"command": event.tool_input["command"] + " --dry-run"})


async def agent_wants_to_run(command):
    outcome = await hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": command})
    print(f"{command!r}: allowed={outcome.allowed} {outcome.reason or outcome.tool_input}")
    for result in outcome.results:
        print(f"    {result.hook}: {result.status}, {result.decision}")


asyncio.run(agent_wants_to_run("rm -rf /"))
asyncio.run(agent_wants_to_run("git push origin main"))
