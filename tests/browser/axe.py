"""axe-core, which npm installs outside of the repository; without npm or a network our own check is alone."""

import sys
from typing import Any

from tests.clients.install import CannotInstall, install

VERSION = "4.14.0"
_RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
  (one) => `${one.impact}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`)"""


def source() -> str:
    """The script; empty if it cannot be installed."""
    try:
        return (install("axe-core", VERSION) / "node_modules/axe-core/axe.min.js").read_text("utf-8")
    except CannotInstall as error:
        print(f"axe-core does NOT check the pages: {error}", file=sys.stderr)
        return ""


def problems(page: Any, script: str) -> list[str]:
    """What axe-core finds wrong with the page that is shown."""
    page.evaluate(script)  # by the debugger, which the content security policy does not bind
    found: list[str] = page.evaluate(_RUN)
    return found
