"""Clicks and keys in a real Chromium, on a page that shows events as they come."""

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks.ui.served import Served

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

_KEEP = """() => addEventListener("click", (event) =>
  sessionStorage.setItem("clicked", String(performance.timeOrigin + event.timeStamp)), {capture: true})"""
_SHOWN = """() => {
  const page = performance.getEntriesByType("navigation")[0], clicked = Number(sessionStorage.getItem("clicked"));
  return [page.responseStart, page.domContentLoadedEventEnd].map((at) => performance.timeOrigin + at - clicked);
}"""
_KEY = """() => new Promise((done) => addEventListener("keydown", (event) =>
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp))), {once: true}))"""


def chromium() -> str:
    """The path of a Chromium on this machine, if there is also the package that drives it; else empty."""
    if find_spec("playwright") is None:
        return ""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


def clicks_in_browser(served: Served, goes_on: Callable[[], bool]) -> dict[str, list[float]]:
    """Use the live page while something goes on: seconds from a click to the first byte of the next page and until that
    is shown, and from a key to the frame that shows what it did."""
    from playwright.sync_api import sync_playwright

    found: dict[str, list[float]] = {"first byte": [], "shown": [], "key": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        context = browser.new_context()
        name, _, value = served.headers["Cookie"].partition("=")
        context.add_cookies([{"name": name, "value": value, "domain": "127.0.0.1", "path": served.base}])
        page = context.new_page()
        while goes_on():
            page.goto(f"http://127.0.0.1:{served.port}{served.base}/now")
            page.wait_for_selector("#live[data-state=on]")
            page.wait_for_timeout(700)  # lines come in
            for _ in range(3):
                found["key"].append(_pressed(page))
            page.evaluate(_KEEP)
            page.click("nav a[href$='/questions']")
            page.wait_for_url("**/questions")
            page.wait_for_load_state("domcontentloaded")
            first, shown = page.evaluate(_SHOWN)
            found["first byte"].append(first / 1000)
            found["shown"].append(shown / 1000)
        browser.close()
    return found


def _pressed(page: Any) -> float:
    """Press ``j``; return the seconds until a frame shows the line that it selects."""
    page.evaluate(f"() => {{ window.pressed = ({_KEY})(); }}")
    page.keyboard.press("j")
    return float(page.evaluate("() => window.pressed")) / 1000
