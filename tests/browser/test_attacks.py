"""What others may do in the browser of the person: servers that ran on the port, pages of other sites, a report, tabs."""

import http.server
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.asking import PATIENCE, until
from tests.browser.pages import Started, pages, sign_in
from tests.browser.watched import HOSTILE, Watched
from tests.fleet.nats_servers import free_ports

from interpose import AuditStore, Hooks
from interpose.cli.ui.project import LocalProject

FAKE = """<!doctype html><title>fake</title><p>fake<script>
navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready).then(() => { document.title = "planted"; });
</script>"""
WORKER = """self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => event.respondWith(new Response("<title>fake</title>", {headers: {"Content-Type": "text/html"}})));
"""


class Planting(http.server.BaseHTTPRequestHandler):
    """A server of an agent: each page of it leaves a service worker and a script that browsers keep."""

    def do_GET(self) -> None:
        is_script = self.path.endswith(".js")
        body = (WORKER if self.path == "/worker.js" else "document.title = 'fake'" if is_script else FAKE).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_script else "text/html")
        self.send_header("Cache-Control", "max-age=31536000, immutable")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return None


@contextmanager
def serving(port: int = 0, page: type[http.server.BaseHTTPRequestHandler] = Planting) -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_a_server_that_ran_on_the_port_before_has_left_nothing_that_reaches_the_pages(
    chrome: Any, project: Path
) -> None:
    watched = Watched(chrome)
    page = watched.page
    with serving(free_ports(1)[0]) as port:
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_function("document.title === 'planted'")
    page.goto(f"http://127.0.0.1:{port}/")
    assert page.title() == "fake", "the worker answers, although its server has ended"

    with pages(project, "--config", "hooks.yaml", "--port", str(port)) as started:
        assert started.port == port
        base = sign_in(page, started)
        assert page.title() == "Now · Interpose"
        assert page.evaluate("navigator.serviceWorker.getRegistrations().then((found) => found.length)") == 0
        assert base.startswith(started.address)
    watched.context.close()


class Linking(http.server.BaseHTTPRequestHandler):
    """A page of another site that links to the pages and loads from them."""

    place = ""

    def do_GET(self) -> None:
        body = f'<!doctype html><title>other</title><a href="{self.place}">look</a><iframe src="{self.place}"></iframe>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return None


def test_a_link_of_another_site_opens_the_page_and_that_site_reads_nothing(started: Started, watched: Watched) -> None:
    page = watched.page
    base = sign_in(page, started)
    other = watched.context.new_page()
    linking = type("LinkingHere", (Linking,), {"place": f"{base}/search?q=ls"})
    with serving(page=linking) as port:
        other.goto(f"http://127.0.0.1:{port}/")
        said = other.evaluate(
            f"fetch('{base}/now.json', {{credentials: 'include'}}).then((found) => found.text(), String)"
        )
        opaque = other.evaluate(
            f"fetch('{base}/now.json', {{credentials: 'include', mode: 'no-cors'}}).then((one) => one.type, String)"
        )
        assert other.frames[1].evaluate("document.body ? document.body.innerText : ''").count("ls") == 0
        other.click("a")
        other.wait_for_url("**/search?q=ls")

    assert "TypeError" in said
    assert "TypeError" in opaque
    assert other.title() == "Search · Interpose", "the browser is signed in"
    assert other.input_value("main input[name=q]") == "ls"


def test_many_tabs_leave_connections_for_clicks(chrome: Any, project: Path, started: Started) -> None:
    watched = Watched(chrome)
    base = sign_in(watched.page, started)
    tabs = []
    for _ in range(8):
        tab = watched.context.new_page()
        tab.add_init_script("Object.defineProperty(document, 'hidden', {get: () => window.isBehind ?? false});")
        tab.goto(f"{base}/now", timeout=PATIENCE * 1000)
        tab.wait_for_selector("#live[data-state=on]")
        tab.evaluate("() => { window.isBehind = true; document.dispatchEvent(new Event('visibilitychange')); }")
        tabs.append(tab)

    watched.page.click("nav a[href$='/hooks']")
    watched.page.wait_for_url("**/hooks")
    fire(project, "a new one")
    tabs[3].evaluate("() => { window.isBehind = false; document.dispatchEvent(new Event('visibilitychange')); }")
    tabs[3].wait_for_selector("#live-rows >> text=a new one")

    watched.context.close()
    assert watched.wrong == []


def fire(project: Path, command: str, **fields: Any) -> None:
    hooks = Hooks()
    with AuditStore(project / "audit.db") as store:
        hooks.record(store)
        hooks.fire_sync(
            "PreToolUse", tool_name="Bash", tool_input={"command": command}, **{"session_id": "s1", **fields}
        )


def test_sessions_that_run_appear_without_reload(project: Path, started: Started, watched: Watched) -> None:
    page = watched.page
    sign_in(page, started)
    page.wait_for_selector("#live[data-state=on]")

    fire(project, "ls", session_id="another")

    page.wait_for_selector("#running >> text=another")


def test_a_session_that_is_called_like_an_option_is_compared_as_a_session(
    project: Path, started: Started, watched: Watched
) -> None:
    session = "--live"
    fire(project, "npm publish", session_id=session)
    (project / "new.yaml").write_text("hooks: {}\n")
    page = watched.page
    base = sign_in(page, started)
    page.goto(f"{base}/sessions")

    page.click(f"main a >> text={session}")
    page.click("text=Compare >> nth=-1")
    page.fill("input[name=against]", "new.yaml")
    page.click("main form button")
    page.wait_for_selector("text=all would be decided the same", timeout=PATIENCE * 1000)

    assert "1 event" in page.inner_text(".note")


def test_a_command_for_a_comparison_ends_the_options_before_the_session(project: Path) -> None:
    (project / "new.yaml").write_text("hooks: {}\n")
    with AuditStore(project / "audit.db") as store:
        made = LocalProject([], None, store).replay_command(
            since="", session="--live", against=str(project / "new.yaml")
        )

    assert made[-2:] == ["--", "--live"]


def test_a_report_of_hostile_text_runs_and_loads_nothing(chrome: Any, project: Path) -> None:
    hooks = Hooks()
    hostile = (
        f"</style></title><svg onload=alert(3)><style>*{{background:url(http://evil.example/)}}</style>]]>{HOSTILE}"
    )
    with AuditStore(project / "audit.db") as store:
        hooks.record(store)
        hooks.register("PreToolUse", lambda event: {"decision": "deny", "reason": hostile}, name=hostile)
        hooks.fire_sync(
            "PreToolUse", tool_name=hostile, tool_input={"command": hostile}, session_id=f"s{hostile}", agent_id=hostile
        )
    target = project / "day.html"
    subprocess.run([Path(sys.executable).parent / "interpose", "report", "--html", target, "--store", project / "audit.db"], check=True,
                   env={"PATH": os.environ["PATH"], "HOME": str(project)}, capture_output=True)  # fmt: skip
    watched = Watched(chrome)
    asked: list[str] = []
    watched.page.on("request", lambda request: asked.append(request.url))

    watched.page.goto(target.as_uri())

    assert asked == [target.as_uri()]
    assert watched.page.locator("script, img, iframe, object, [onload], [onerror], [style]").count() == 0
    assert watched.page.locator("style").count() == 1
    assert watched.page.evaluate("getComputedStyle(document.querySelector('.badge')).borderRadius") == "4px", (
        "its style counts"
    )
    assert "</style>" in watched.page.inner_text("main")
    assert "\u202e" not in watched.page.content()
    watched.context.close()
    assert watched.wrong == []


def test_wrong_codes_do_not_fill_the_terminal(started: Started) -> None:
    place = f"http://127.0.0.1:{started.port}"
    for _ in range(60):
        request = urllib.request.Request(f"{place}/sign-in", b"code=aaaa-aaaa", {"Origin": place})
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(request, timeout=30)
    until(lambda: any("wrong codes" in line for line in started.lines))

    assert len([line for line in started.lines if line.startswith("code: ")]) == 4
