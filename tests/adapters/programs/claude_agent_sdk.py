import asyncio

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool

from interpose import Hooks
from interpose.adapters.claude_agent_sdk import options

hooks = Hooks()
hooks.declare_tools({"run_command": {"as": "Bash", "fields": {"cmd": "command"}}})
hooks.use("recommended")


@tool("run_command", "Run a command.", {"cmd": str})
async def run_command(given):
    print("ran", given["cmd"])
    return {"content": [{"type": "text", "text": "ok"}]}


async def main():
    servers = {"house": create_sdk_mcp_server("house", tools=[run_command])}
    own = ClaudeAgentOptions(mcp_servers=servers, allowed_tools=["mcp__house__run_command"])
    print([one async for one in query(prompt="Tidy up.", options=options(hooks, own))][-1].result)


asyncio.run(main())
