import asyncio

from mcp import Client
from mcp.server.mcpserver import MCPServer

from interpose import Hooks, deny
from interpose.adapters.mcp import server

hooks = Hooks()


@hooks.on("PreToolUse", matcher="shell", on_error="abort")
def no_rm(event):
    return deny("rm is not allowed here") if event.tool_input["cmd"].startswith("rm") else None


async def main():
    errands = MCPServer("errands", middleware=[server(hooks)])
    errands.add_tool(lambda cmd: f"ran {cmd}", name="shell")
    async with Client(errands) as client:
        for cmd in ("ls", "rm -rf /"):
            print((await client.call_tool("shell", {"cmd": cmd})).content[0].text)


asyncio.run(main())
