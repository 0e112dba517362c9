"""The table: what hooks may cost in an agent of each framework.

Runs in the environments that `benchmarks.adapters` makes: each row in that of its framework.
"""

import asyncio
import sys
from functools import partial

from benchmarks.adapters import agents
from benchmarks.command import parser, run
from benchmarks.measure import Contestant, Limit, Row, in_event_loop

LIMITS: dict[str, tuple[agents.Make, str, float]] = {
    "pydantic_ai": (agents.pydantic_ai, "pydantic-ai", 1.1),
    "google_adk": (agents.google_adk, "Google ADK", 1.1),
    "langchain": (agents.langchain, "LangChain", 1.3),
    "agent_framework": (agents.agent_framework, "Agent Framework", 1.3),
    "openai_agents": (agents.openai_agents, "OpenAI Agents", 1.3),
    "strands": (agents.strands, "Strands", 1.3),
    "mcp": (agents.mcp, "a server of MCP", 1.3),
    "fastmcp": (agents.fastmcp, "a server of FastMCP", 1.3),
    "functions": (agents.functions, "plain functions", 1.3),
}
"""Each adapter whose framework has a model that a script can be: the agent, its name, and the limit."""


def row(key: str, runner: asyncio.Runner) -> Row:
    make, name, at_most = LIMITS[key]
    with_hooks, without = agents.Agent(make, governed=True), agents.Agent(make, governed=False)
    return Row(
        key,
        f"{name}: {agents.CALLS} calls of a tool that takes 1 ms, one hook before and one after each",
        [
            Contestant("with hooks", in_event_loop(runner, with_hooks.run), agents.CALLS),
            Contestant("without hooks", in_event_loop(runner, without.run), agents.CALLS),
        ],
        [Limit("a tool call", "with hooks", "without hooks", at_most)],
    )


def main() -> int:
    options = parser("adapters", "What hooks cost in an agent of a framework.").parse_args()
    with asyncio.Runner() as runner:
        return run(options, {key: partial(row, key, runner) for key in LIMITS}, {})


if __name__ == "__main__":
    sys.exit(main())
