import asyncio

from fastmcp import Client, FastMCP

from interpose import Hooks, deny
from interpose.adapters.fastmcp import middleware

hooks = Hooks()


@hooks.on("PreToolUse", matcher="shell", on_error="abort")
def no_rm(event):
    return deny("rm is not allowed here") if event.tool_input["cmd"].startswith("rm") else None


async def main():
    errands = FastMCP("errands", middleware=[middleware(hooks)])
    errands.tool(lambda cmd: f"ran {cmd}", name="shell")
    async with Client(errands) as client:
        for cmd in ("ls", "rm -rf /"):
            result = await client.call_tool("shell", {"cmd": cmd}, raise_on_error=False)
            print(result.content[0].text)


asyncio.run(main())
