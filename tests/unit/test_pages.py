"""The pages over HTTP: who may see them, who may change something, and that what agents write stays text."""

import http.client
import json
import re
import threading
from collections.abc import Iterator, Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import uvicorn
from tests.asking import PUSH, Asking, until, waiting

from interpose import AuditStore, Hooks, Question, Questions
from interpose.audit import open_store
from interpose.audit.protocol import StoredFiring
from interpose.errors import UsageError
from interpose.server.pages.access import Access
from interpose.server.pages.app import Pages

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:uvicorn", "ignore::DeprecationWarning:websockets"),
    pytest.mark.slow,
]

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{1357*2468}}\u202egnp.exe\x1b[31mred\x00\u200b&amp;"
)


class Project:
    """The configuration of a test."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.switched: list[tuple[str, str, Mapping[str, str]]] = []

    def hooks(self) -> dict[str, Any]:
        return {"project": HOSTILE, "hooks": self.rows, "files": [{"path": HOSTILE, "layer": "user", "trusted": True, "changes": []}],
                "problems": [HOSTILE]}  # fmt: skip

    def explain(self, firing: StoredFiring) -> dict[str, Any]:
        predicate = {"name": "matcher", "holds": False, "text": HOSTILE}
        return {"hooks": [{"hook": HOSTILE, "would_run": False, "enforced": True, "guard": False, "predicates": [predicate],
                           "answer": HOSTILE, "source": HOSTILE}]}  # fmt: skip

    def case(self, firing: StoredFiring) -> str:
        return f"- name: {HOSTILE}"

    def switch(self, name: str, to: str, who: Mapping[str, str]) -> None:
        if name == "locked":
            raise UsageError("locked belongs to the user layer and is locked there")
        self.switched.append((name, to, who))

    def replay_command(self, *, since: str, session: str, against: str) -> list[str]:
        raise UsageError(f"{against}: there is no such file")


class Served:
    """Pages that are served, and a browser without a screen."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.codes: list[str] = []
        self.store = AuditStore(path)
        self.access = Access(self.codes.append, read_only=read_only)
        self.project = Project()
        self.access.new_code()
        self.cookie = ""
        import socket

        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.pages = Pages(
            self.store,
            self.access,
            self.project,
            {"user": "alice", "terminal": "/dev/pts/3", "host": "desk"},
            self.port,
        )
        config = uvicorn.Config(
            self.pages.app, log_level="error", lifespan="off", ws="none", http="h11", loop="asyncio"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        until(lambda: self._server.started)

    def close(self) -> None:
        self.pages.live.stop()
        self._server.should_exit = True
        self._thread.join(20)
        self._socket.close()
        self.store.close()

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {"Host": f"127.0.0.1:{self.port}", **({"Cookie": self.cookie} if self.cookie else {}),
                 **{name.replace("_", "-"): value for name, value in headers.items()}}  # fmt: skip
        connection.request(method, path, body.encode() or None, given)
        reply = connection.getresponse()
        found = reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read().decode()
        connection.close()
        return found

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sign_in(self) -> None:
        status, headers, _ = self.post("/sign-in", prefix=False, code=self.codes[-1])
        assert status == 303, headers
        self.cookie = headers["set-cookie"].partition(";")[0]

    @property
    def base(self) -> str:
        return f"/{self.access.prefix}"

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
        return self.ask("GET", f"{self.base}{path}", **headers)

    def csrf(self) -> str:
        return str(re.findall(r'name="csrf" content="([^"]+)"', self.get("/now")[2])[0])

    def post(
        self, path: str, *, prefix: Any = True, origin: str | None = None, **form: str
    ) -> tuple[int, dict[str, str], str]:
        return self.ask("POST", f"{self.base if prefix else ''}{path}", urlencode(form), Origin=self.origin if origin is None else origin,
                        Content_Type="application/x-www-form-urlencoded")  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "audit.db"
    record(found, tool_input={"command": "ls"})
    return found


def record(path: Path, event: str = "PreToolUse", **fields: Any) -> None:
    with AuditStore(path) as store:
        hooks = Hooks()
        hooks.record(store)
        hooks.register(
            event,
            lambda given: {"decision": "deny", "reason": str(given.get("why", "no"))},
            name=str(fields.pop("hook", "guard")),
        )
        hooks.fire_sync(event, **{"tool_name": "Bash", "session_id": "s1", **fields})


@pytest.fixture
def served(path: Path) -> Iterator[Served]:
    made = Served(path)
    yield made
    made.close()


@pytest.fixture
def inside(served: Served) -> Served:
    served.sign_in()
    return served


# Who may see the pages.


def test_without_a_session_no_page_is_shown(served: Served) -> None:
    for place in (
        "/now",
        "/questions",
        "/sessions",
        "/events/1",
        "/hooks",
        "/search",
        "/compare",
        "/live",
        "/now.json",
    ):
        status, headers, body = served.get(place)
        assert (status, body) == (303, "")
        assert headers["location"].startswith("/?to=")


def test_a_code_counts_once(served: Served) -> None:
    served.sign_in()

    status, _, _ = served.post("/sign-in", prefix=False, code=served.codes[0])

    assert status == 403
    assert len(served.codes) == 2, "another code is shown in the terminal"


def test_wrong_codes_make_the_right_one_worthless(served: Served) -> None:
    for _ in range(5):
        assert served.post("/sign-in", prefix=False, code="aaaa-aaaa")[0] == 403

    assert served.post("/sign-in", prefix=False, code=served.codes[0])[0] == 403
    assert served.post("/sign-in", prefix=False, code=served.codes[-1].upper().replace("-", " "))[0] == 303


def test_the_cookie_is_for_our_path_alone_and_no_script_reads_it(served: Served) -> None:
    _, headers, _ = served.post("/sign-in", prefix=False, code=served.codes[-1])

    parts = {part.strip().lower() for part in headers["set-cookie"].split(";")[1:]}
    assert parts == {"httponly", "samesite=strict", f"path=/{served.access.prefix}"}


def test_no_page_says_where_the_others_are(served: Served) -> None:
    for place in ("/", "/sign-in", "/static/pages.css", "/now", "/questions"):
        assert served.access.prefix not in served.ask("GET", place)[2]


def test_a_session_that_was_made_up_is_none(served: Served) -> None:
    served.cookie = f"{served.access.cookie}=made-up; {served.access.cookie}="

    assert served.get("/now")[0] == 303


def test_a_cookie_that_another_server_has_set_hides_ours_not(inside: Served) -> None:
    inside.cookie = f"{inside.access.cookie}=tossed; other=1; {inside.cookie}"

    assert inside.get("/now")[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.nip.io:{port}", "", "localhost.evil.example:{port}"]
)
def test_another_host_is_refused(inside: Served, host: str) -> None:
    assert inside.get("/now", Host=host.format(port=inside.port))[0] in (400, 421)


def test_after_signing_out_the_session_is_over(inside: Served) -> None:
    assert inside.post("/sign-out", csrf=inside.csrf())[0] == 303

    assert inside.get("/now")[0] == 303


# Who may change something.


@pytest.fixture
def asked(path: Path) -> Iterator[Asking]:
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        waiting(path)
        yield asking


def answer(served: Served, path: Path, verdict: str = "allow", **more: str) -> tuple[int, dict[str, str], str]:
    with open_store(path) as reader:
        (question,) = reader.questions()
    form = {"csrf": served.csrf(), "digest": question.digest, "answer": verdict, **more}
    return served.post(f"/questions/{question.id}", **form)


def test_a_question_is_answered_and_the_record_says_who(inside: Served, path: Path, asked: Asking) -> None:
    status, headers, _ = answer(inside, path, "allow", reason="go ahead")

    assert (status, headers["location"].rpartition("?")[2]) == (303, "said=yours")
    assert asked.approval.approved
    with open_store(path) as reader:
        (found,) = reader.questions(answered=True)
    assert found.answer is not None
    assert found.answer.person == "alice (/dev/pts/3, page, browser 1)"
    assert found.answer.text("reason") == "go ahead"


@pytest.mark.parametrize(
    "origin",
    ["", "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "http://localhost:{port}"],
)
def test_a_form_of_another_page_is_refused(inside: Served, path: Path, asked: Asking, origin: str) -> None:
    with open_store(path) as reader:
        (question,) = reader.questions()

    form = {"csrf": inside.csrf(), "digest": question.digest, "answer": "allow"}
    status, _, body = inside.post(f"/questions/{question.id}", origin=origin.format(port=inside.port), **form)

    assert (status, body) == (403, "another page has sent this\n")
    assert len(waiting(path)) == 1
    answer(inside, path, "deny")


@pytest.mark.parametrize("csrf", ["", "made-up", None])
def test_a_form_without_our_token_is_refused(inside: Served, path: Path, asked: Asking, csrf: str | None) -> None:
    with open_store(path) as reader:
        (question,) = reader.questions()

    form = {"digest": question.digest, "answer": "allow", **({} if csrf is None else {"csrf": csrf})}
    assert inside.post(f"/questions/{question.id}", **form)[0] == 403

    assert len(waiting(path)) == 1
    answer(inside, path, "deny")


def test_the_token_of_another_session_is_refused(inside: Served, path: Path, asked: Asking) -> None:
    other = inside.csrf()
    inside.access.new_code()
    inside.sign_in()
    with open_store(path) as reader:
        (question,) = reader.questions()

    assert inside.post(f"/questions/{question.id}", csrf=other, digest=question.digest, answer="allow")[0] == 403
    answer(inside, path, "deny")


def test_get_changes_nothing(inside: Served, path: Path, asked: Asking) -> None:
    with open_store(path) as reader:
        (question,) = reader.questions()

    inside.get(f"/questions/{question.id}?answer=allow&csrf={inside.csrf()}&digest={question.digest}")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert inside.ask(method, f"{inside.base}/questions/{question.id}", Origin=inside.origin)[0] == 405

    assert len(waiting(path)) == 1
    answer(inside, path, "deny")


def test_read_only_pages_answer_and_switch_nothing(path: Path, asked: Asking) -> None:
    served = Served(path, read_only=True)
    try:
        served.sign_in()
        assert answer(served, path)[0] == 403
        assert served.post("/hooks/switch", csrf=served.csrf(), name="guard", to="off")[0] == 403
        assert served.post("/compare", csrf=served.csrf(), since="1h", against="x")[0] == 403
        assert served.project.switched == []
        assert len(waiting(path)) == 1
        assert "Allow once" not in served.get("/questions")[2]
    finally:
        served.close()


def test_an_answer_is_for_what_was_shown(inside: Served, path: Path, asked: Asking) -> None:
    with open_store(path) as reader:
        (question,) = reader.questions()

    status, _, body = inside.post(f"/questions/{question.id}", csrf=inside.csrf(), digest="0" * 64, answer="allow")

    assert status == 409
    assert "not the one that you were shown" in body
    answer(inside, path, "deny")


def test_of_two_answers_the_first_counts_and_the_other_is_told(inside: Served, path: Path, asked: Asking) -> None:
    with open_store(path) as reader:
        (question,) = reader.questions()
    form = {"csrf": inside.csrf(), "digest": question.digest}
    assert inside.post(f"/questions/{question.id}", **form, answer="deny", reason="not today")[0] == 303

    status, headers, _ = inside.post(f"/questions/{question.id}", **form, answer="allow")

    assert (status, headers["location"].rpartition("?")[2]) == (303, "said=late")
    shown = inside.ask("GET", headers["location"])[2]
    assert "Another answer came first: it was refused by alice" in unescape(shown)
    assert not asked.approval.approved


def test_an_edited_input_reaches_the_call(inside: Served, path: Path, asked: Asking) -> None:
    status, _, _ = answer(inside, path, "edit", input='{"command": "git push --dry-run"}')

    assert status == 303
    assert (asked.approval.approved, asked.approval.tool_input) == (True, {"command": "git push --dry-run"})


@pytest.mark.parametrize(
    ("edited", "why"), [("{", "not JSON"), ("[]", "another kind"), ('{"a": "[redacted:token 1a2b]"}', "redacted")]
)
def test_an_edited_input_that_cannot_be_run_is_refused(
    inside: Served, path: Path, asked: Asking, edited: str, why: str
) -> None:
    status, _, body = answer(inside, path, "edit", input=edited)

    assert status == 409
    assert why in body
    assert len(waiting(path)) == 1
    answer(inside, path, "deny")


def test_a_switch_names_the_person_and_a_locked_hook_stays(inside: Served) -> None:
    csrf = inside.csrf()

    assert inside.post("/hooks/switch", csrf=csrf, name="guard", to="observe")[0] == 303
    status, _, body = inside.post("/hooks/switch", csrf=csrf, name="locked", to="off")

    ((name, to, who),) = inside.project.switched
    assert (name, to, who["user"], who["terminal"]) == ("guard", "observe", "alice", "/dev/pts/3, page, browser 1")
    assert (status, "is locked there" in body) == (409, True)


def test_a_form_that_is_too_long_is_refused(inside: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", inside.port, timeout=30)
    connection.putrequest("POST", f"{inside.base}/compare", skip_host=True)
    for name, value in (
        ("Host", f"127.0.0.1:{inside.port}"),
        ("Origin", inside.origin),
        ("Cookie", inside.cookie),
        ("Content-Length", "9999999"),
    ):
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(b"a" * 3_200_000)

    assert connection.getresponse().status == 413
    connection.close()


# What pages say.


def test_every_reply_forbids_what_it_does_not_need(inside: Served) -> None:
    for place in ("/now", "/search?q=x", "/nowhere", "/now.json"):
        _, headers, _ = inside.get(place)
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


class Seen(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def check_harmless(body: str) -> None:
    seen = Seen()
    seen.feed(body)
    assert seen.tags.count("script") == 1, "our own"
    assert "img" not in seen.tags
    assert [name for name in seen.attributes if name.startswith("on") or name == "style"] == []
    assert [link for link in seen.links if not link.startswith(("/", "#"))] == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202e]", body)
    assert "3349076" not in body  # the product in HOSTILE


def test_hostile_text_in_every_field_stays_text(inside: Served, path: Path) -> None:
    fields: dict[str, Any] = {"tool_input": {HOSTILE: HOSTILE, "command": HOSTILE}, "tool_name": HOSTILE, "agent_id": HOSTILE, "cwd": HOSTILE,
              "tool_use_id": HOSTILE, "session_id": HOSTILE, "why": HOSTILE, "hook": HOSTILE, "extra": [HOSTILE]}  # fmt: skip
    record(path, **fields)
    record(path, event="UserPromptSubmit", prompt=HOSTILE, session_id=HOSTILE, tool_name="")
    inside.project.rows = [{
        "event": HOSTILE, "label": HOSTILE, "name": HOSTILE, "type": HOSTILE, "matcher": HOSTILE, "if": HOSTILE, "layer": HOSTILE,
        "source": HOSTILE, "description": HOSTILE, "enabled": True, "enforced": True, "locked": False, "switchable": True, "why_fixed": "",
    }]  # fmt: skip
    with AuditStore(path) as store:
        store.record_change(dict.fromkeys(("what", "hook", "to", "project", "user", "terminal"), HOSTILE)).block()
        question = Question(tool_name=HOSTILE, tool_input={HOSTILE: HOSTILE}, reason=HOSTILE, session_id=HOSTILE, agent_id=HOSTILE,
                            rule=HOSTILE, hook=HOSTILE, place=HOSTILE)  # fmt: skip
        asking = Asking(Questions(store, wait=60), question)
        (waits,) = waiting(path)
        session = quote(HOSTILE, safe="")
        places = ["/now", "/questions", f"/questions/{waits.id}", "/sessions", f"/sessions/{session}", "/events/2", "/events/3",
                  "/events/2/case", "/hooks", "/search", f"/search?{urlencode({'q': HOSTILE, 'tool': HOSTILE, 'agent': HOSTILE})}",
                  f"/search?{urlencode({'decision': HOSTILE})}", "/compare", f"/compare?session={session}", f"/nowhere/{session}",
                  f"/compare/{session}"]  # fmt: skip

        for place in places:
            status, _, body = inside.get(place)
            assert status in (200, 404), place
            check_harmless(body)
            status, headers, document = inside.get(place.replace("?", ".json?") if "?" in place else f"{place}.json")
            assert headers["content-type"] == "application/json"
            json.loads(document)
        for name in ("rows", "question"):
            assert "<script" not in inside.pages._fragment(name, {"rows": [], "question": {"id": HOSTILE}})

        inside.post(f"/questions/{waits.id}", csrf=inside.csrf(), digest=waits.digest, answer="deny", reason=HOSTILE)
        assert not asking.approval.approved
    check_harmless(inside.get("/questions")[2])
    check_harmless(
        inside.ask("GET", f"/?to={quote(HOSTILE)}")[2].replace("</head>", '<script src="/x"></script></head>')
    )


def test_a_question_is_shown_whole_however_long_it_is(inside: Served, path: Path) -> None:
    line = "x" * 100_000 + " && rm -rf ~"
    with AuditStore(path) as store:
        asking = Asking(
            Questions(store, wait=60), Question(tool_name="Bash", tool_input={"command": line}, session_id="s1")
        )
        (waits,) = waiting(path)

        listed, whole = inside.get("/questions")[2], inside.get(f"/questions/{waits.id}")[2]

        assert "Allow once" not in listed, "what is not shown whole is not answered there"
        assert "more characters are not shown here" in listed
        assert unescape(whole).count("&& rm -rf ~") >= 2, "in the text, and in the editor"
        assert "Allow once" in whole
        answer(inside, path, "deny")
        assert not asking.approval.approved


def test_a_page_of_long_lines_is_short(inside: Served, path: Path) -> None:
    for _ in range(60):
        record(path, tool_input={"command": "y" * 100_000})

    for place in ("/now", "/search", "/sessions/s1", "/events/2"):
        assert len(inside.get(place)[2]) < 300_000, place


def test_every_page_is_the_same_as_json(inside: Served, path: Path) -> None:
    status, headers, body = inside.get("/sessions/s1", Accept="application/json")

    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(body)["session"]["id"] == "s1"
    assert json.loads(inside.get("/sessions/s1.json")[2]) == json.loads(body)


def test_an_open_page_is_told_what_is_new(inside: Served, path: Path) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", inside.port, timeout=30)
    connection.request(
        "GET", f"{inside.base}/live", headers={"Host": f"127.0.0.1:{inside.port}", "Cookie": inside.cookie}
    )
    stream = connection.getresponse()
    assert stream.readline() == b"retry: 2000\n"

    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60), PUSH)
        found: dict[str, Any] = {}
        while not found.get("questions", {}).get("questions"):  # an open page is told of none first
            line = stream.readline().decode()
            if line.startswith("event: "):
                found[line[7:].strip()] = json.loads(stream.readline().decode()[6:])
        record(path, tool_input={"command": "<b>new</b>"})
        while "entries" not in found or "&lt;b&gt;new" not in found["entries"]["html"]:
            line = stream.readline().decode()
            if line.startswith("event: "):
                found[line[7:].strip()] = json.loads(stream.readline().decode()[6:])
        answer(inside, path, "deny")
        assert not asking.approval.approved
    connection.close()

    assert len(found["questions"]["questions"]) == 1
    assert "<b>new" not in found["entries"]["html"]


def test_a_store_that_is_removed_is_a_problem_that_is_shown(inside: Served, path: Path) -> None:
    path.unlink()

    status, _, body = inside.get("/now")

    assert status == 503
    assert "there is no audit store" in body
