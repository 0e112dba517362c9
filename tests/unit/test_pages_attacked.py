"""The pages against programs without the code, other pages, and records that were written to break them."""

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.asking import Asking, waiting
from tests.databases import database
from tests.unit.test_pages import HOSTILE, Served, check_harmless, inside, path, record, served

from interpose import AuditStore, Hooks, Questions
from interpose.audit import open_store
from interpose.server.pages.access import Access
from interpose.server.pages.text import marked, session_path

__all__ = ["inside", "path", "served"]

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:uvicorn", "ignore::DeprecationWarning:websockets"),
    pytest.mark.slow,
]


# A program of the same user that has found the port, and does not have the code.


def test_a_program_without_the_code_reads_and_changes_nothing(served: Served, path: Path) -> None:
    record(path, tool_input={"command": "a-word-of-the-record"})
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        (question,) = waiting(path)
        form = {"csrf": "", "digest": question.digest, "answer": "allow", "name": "guard", "to": "off", "against": "x"}
        for place in ("/questions/" + question.id, "/hooks/switch", "/compare", "/sign-out", "/now"):
            for prefix in (True, False):  # even if it knew where the pages are
                status, _, body = served.post(place, prefix=prefix, **form)
                assert status in (303, 403, 404)
                assert question.id not in body
        for place in (
            "/",
            "/now",
            "/live",
            "/static/",
            "/static/nowhere",
            "/questions.json",
            f"/questions/{question.id}",
        ):
            for beginning in ("", served.base):
                for method in ("GET", "HEAD"):
                    status, headers, body = served.ask(method, f"{beginning}{place}", Accept="application/json")
                    assert status in (200, 303, 404)
                    assert "a-word-of-the-record" not in body
                    assert "set-cookie" not in headers
        assert len(waiting(path)) == 1
        assert served.project.switched == []
        served.sign_in()
        served.post(f"/questions/{question.id}", csrf=served.csrf(), digest=question.digest, answer="deny")
        assert not asking.approval.approved


@pytest.mark.parametrize("place", [
    "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd", "/static/%2fetc%2fpasswd",
    "/static/..\\app.py", "/static/%00", "/static/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
])  # fmt: skip
def test_no_path_leads_to_another_file(inside: Served, place: str) -> None:
    for prefix in ("", inside.base):
        status, _, body = inside.ask("GET", f"{prefix}{place}")

        assert status in (303, 400, 404)
        assert "import" not in body
        assert "root:" not in body


# Pages of other servers, in the same browser.


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_gets_nothing_with_the_cookie_of_the_browser(inside: Served, site: str) -> None:
    for mode in ("no-cors", "cors", "websocket", ""):
        status, _, body = inside.get("/now.json", Sec_Fetch_Site=site, Sec_Fetch_Mode=mode)
        assert (status, body) == (403, "another page has asked for this\n")

    assert inside.get("/now", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate")[0] == 200, "a link is followed"


def test_a_link_of_another_site_is_followed_by_our_own_page(served: Served) -> None:
    status, headers, body = served.get("/now", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")

    assert (status, "location" in headers) == (200, False)
    assert 'http-equiv="refresh" content="0"' in body
    again = served.get("/now", Sec_Fetch_Site="same-origin", Sec_Fetch_Mode="navigate")
    assert (again[0], again[1]["location"]) == (303, "/?to=%2Fnow")


@pytest.mark.parametrize(("to", "place"), [
    ("/search?q=a%26b&tool=Bash", "/search?q=a%26b&tool=Bash"), ("/sessions/a b", "/sessions/a%20b"), ("", "/now"), ("//evil.example", "/now"),
    ("https://evil.example", "/now"), ("/now\r\nSet-Cookie: x=1", "/now%0D%0ASet-Cookie%3A%20x%3D1"), ("/\\evil.example", "/%5Cevil.example"),
    ("/now?\r\nx=1", "/now?%0D%0Ax=1"),
])  # fmt: skip
def test_after_signing_in_the_page_that_was_asked_for_is_opened_and_no_other(
    served: Served, to: str, place: str
) -> None:
    _, headers, _ = served.post("/sign-in", prefix=False, code=served.codes[-1], to=to)

    assert headers["location"] == f"{served.base}{place}"


def test_the_address_of_a_search_outlasts_signing_in(served: Served) -> None:
    _, headers, _ = served.get("/search?q=a%26b&tool=Bash")
    to = headers["location"]
    assert 'value="/search?q=a%26b&amp;tool=Bash"' in served.ask("GET", to)[2]


def test_each_start_has_a_name_of_its_own(served: Served, tmp_path: Path) -> None:
    other = Served(tmp_path / "other.db")
    other.close()

    assert served.access.name != other.access.name
    assert served.access.name.endswith(".localhost")
    host = f"{served.access.name}:{served.port}"
    assert served.ask("GET", "/", Host=host)[0] == 200
    assert served.ask("GET", "/", Host=f"{other.access.name}:{served.port}")[0] == 421


def test_scripts_and_styles_are_kept_only_below_the_path_of_this_start(inside: Served) -> None:
    assert inside.get("/static/pages.js")[1]["cache-control"] == "private, max-age=86400, immutable"
    inside.cookie = ""
    assert inside.ask("GET", "/static/pages.js")[1]["cache-control"] == "no-store"


# Records that were written to break pages.

IDS = [".", "..", "x.json", "a/b", "/", "a?b#c", "--help", "%2e%2e", "\ud800", "a\\b", " ", "<b>", "a;b&c", "\u202e"]


def test_a_session_has_a_page_whatever_its_id_is(inside: Served, path: Path) -> None:
    for name in IDS:
        record(path, session_id=name, tool_input={"command": "ls"})

    document = json.loads(inside.get("/sessions.json")[2])
    found = {one["id"] for one in document["sessions"]}
    assert len(found) == len(IDS) + 1
    for name in found:
        place = session_path(name)
        status, _, body = inside.get(place)
        assert status == 200, name
        check_harmless(body)
        assert quote(name.encode("utf-8", "replace"), safe="") in body
        with_json = f"{place.replace('?', '.json?')}" if "?" in place else f"{place}.json"
        assert json.loads(inside.get(with_json)[2])["session"]["id"] == name
    for place in ("/now", "/sessions", "/search", "/hooks", "/compare"):
        assert inside.get(place)[0] == 200


BODIES: list[Any] = [
    "", "{", "[]", "7", '"x"', "null", "[" * 5000, '{"runs": 7}', '{"runs": [7, null, "x"]}', '{"input": 3, "given": 4, "runs": {}}',
    '{"runs": [{"hook": {}, "us": "x", "status": [], "decision": {}, "reason": 7, "error": 8, "round": "x"}]}',
    '{"shadow": 3, "reason": 7, "context": 3, "inject": [3, {"content": {}}], "config": []}', '{"input": {"tool_use_id": {}, "agent_id": 3, "usage": [1]}}',
    '{"input": {"usage": {"tokens": 1e999, "x": NaN, "a": true}, "total_cost_usd": "much"}}', '{"input": {"prompt": {}, "tool_input": [1]}}',
    '{"asked_at": "x", "wait": [], "tool_input": 3, "nonce": 1}', '{"verdict": {}, "by": [], "person": 3, "hook": 4}',
]  # fmt: skip


def test_records_that_were_changed_in_the_file_break_no_page(inside: Served, path: Path) -> None:
    for _ in BODIES:
        record(path, event="UserPromptSubmit", prompt="p")
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        (question,) = waiting(path)
        inside.post(f"/questions/{question.id}", csrf=inside.csrf(), digest=question.digest, answer="deny")
        assert not asking.approval.approved
    with database(path) as base:
        records = [number for (number,) in base.execute("SELECT record FROM bodies ORDER BY record")]
    for at in range(len(BODIES)):
        with database(path) as base:
            for number in records:
                base.execute(
                    "UPDATE bodies SET body = ? WHERE record = ?", (BODIES[(number + at) % len(BODIES)], number)
                )
        base.close()
        for place in ("/now", "/questions", f"/questions/{question.id}", "/sessions", "/sessions/s1", "/search", "/search?q=x&tool=Bash", "/hooks",
                      *(f"/events/{number}" for number in records[at::7])):  # fmt: skip
            status, _, _ = inside.get(place)
            assert status in (200, 404), (place, at)


def test_a_number_that_no_record_has_is_a_page_that_is_not_there(inside: Served) -> None:
    for number in ("0", "999999", str(1 << 62), str(1 << 63), "9" * 400):
        for place in (f"/events/{number}", f"/events/{number}/case"):
            assert inside.get(place)[0] == 404
        assert inside.get(f"/search?before={number}")[0] == 200
        assert inside.get(f"/sessions?before={number}")[0] == 200


def test_fields_of_every_kind_are_shown(inside: Served, path: Path) -> None:
    hooks = Hooks()
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    with AuditStore(path) as store:
        hooks.record(store)
        values: list[Any] = [None, 3, 1e300, True, [], {}, deep, {"": ""}, "\ud800", 10**300, {"a" * 3000: "b" * 3000}]
        for value in values:
            hooks.fire_sync(
                "PostToolUse", tool_name="Bash", tool_input={"command": value}, tool_response=value, session_id="s1"
            )

    with open_store(path) as reader:
        records = [entry.id for entry in reader.entries()]
    assert len(records) == 12
    for place in ("/now", "/search", "/sessions/s1", *(f"/events/{number}" for number in records)):
        status, _, body = inside.get(place)
        assert status == 200, place
        check_harmless(body)


# What pushes text out of sight, or covers it.


@pytest.mark.parametrize(("text", "shown"), [
    ("a" + " " * 60 + "b", "[60 blanks]"), ("a" + "\u3000" * 60 + "b", "[60 blanks]"), ("a" + "\n" * 500 + "b", "[500 empty lines]"),
    ("a" + " \t\r\n" * 500 + "b", "[500 empty lines]"), ("a" + "\u0334" * 6 + "b", r"\u0334" * 6), ("caf\u0065\u0301", None), ("a\n\n\nb", None),
    ("\u202e", r"\u202e"), ("\x1b[2J", r"\x1b"),
])  # fmt: skip
def test_what_hides_text_is_marked(text: str, shown: str | None) -> None:
    found = str(marked(text))

    assert (f'<span class="hidden-character">{shown}</span>' in found) is (shown is not None)
    assert shown is not None or found == text


def test_a_stream_is_one_line_for_each_event_whatever_agents_write(inside: Served, path: Path) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", inside.port, timeout=30)
    connection.request(
        "GET", f"{inside.base}/live?after=1", headers={"Host": f"127.0.0.1:{inside.port}", "Cookie": inside.cookie}
    )
    stream = connection.getresponse()
    record(
        path,
        tool_input={"command": f"x\n\nevent: questions\ndata: {{}}\n\n{HOSTILE}\u2028\r\n\r\n"},
        session_id="\r\n\r\nevent: x",
    )

    lines: list[bytes] = []
    while not (lines and lines[-1].startswith(b"data: ") and b"event: x" in lines[-1]):
        lines.append(stream.readline())
    connection.close()

    assert [
        line
        for line in lines
        if not line.startswith((b"retry: ", b"event: entries", b"event: questions", b"data: {", b"\n"))
    ] == []
    assert b"<script>alert" not in b"".join(lines)
    assert json.loads(lines[-1][6:])["sessions"] == ["\r\n\r\nevent: x"]


def test_the_filters_of_a_search_are_quoted_for_a_shell(inside: Served) -> None:
    query = urlencode({"q": "$(touch x); 'y'", "tool": "`id`"})

    body = inside.get(f"/search?{query}")[2]

    assert "--tool &#39;`id`&#39;" in body
    assert "--grep &#39;$(touch x); &#39;&#34;&#39;&#34;&#39;y&#39;&#34;&#39;&#34;&#39;&#39;" in body


def test_a_program_that_guesses_does_not_fill_the_terminal_and_the_person_gets_in(path: Path) -> None:
    said: list[str] = []
    codes: list[str] = []
    access = Access(codes.append, warn=said.append)
    access.new_code()

    for _ in range(500):
        assert access.sign_in("aaaa-aaaa") is None
    assert access.sign_in(codes[-1]) is None, "it is worthless"

    assert len(codes) == 4
    assert len(said) == 1
    access.new_code()  # the person has pressed Enter
    assert access.sign_in(codes[-1]) is not None
