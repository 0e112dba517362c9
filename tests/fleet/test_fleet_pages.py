"""Questions of other machines on the pages: listed beside local ones, answered with the key of the person."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.asking import Asking, stored, until
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.question_nodes import CALL, QuestionTeam
from tests.fleet.test_fleet_questions import a_question
from tests.unit.test_pages import Served

from interpose import AuditStore, Questions
from interpose.audit.questions import digest_of, id_of
from interpose.cli.ui.fleet_questions import FleetQuestions
from interpose.config.fleet import FleetSettings
from interpose.fleet.setup import create_all
from interpose.handlers.nats_client import connect
from interpose.records import replace
from interpose.server.pages.app import Pages

pytestmark = pytest.mark.slow


class Desk:
    """Pages of one machine, and a node of another."""

    def __init__(self, team: QuestionTeam, served: Served, store: AuditStore) -> None:
        self.team, self.served, self.store = team, served, store

    def waiting(self) -> dict[str, Any]:
        """The question that waits elsewhere, as the pages list it."""
        found = until(lambda: json.loads(self.served.get("/elsewhere.json")[2])["questions"])
        made: dict[str, Any] = found[0]
        return made

    def answer(self, question: dict[str, Any], verdict: str, **more: str) -> tuple[int, dict[str, str], str]:
        form = {"csrf": self.served.csrf(), "digest": question["digest"], "answer": verdict, **more}
        return self.served.post(question["href"], **form)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Desk]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    read_only = getattr(request, "param", False)
    with a_nats_server(tmp_path / "nats") as server:
        team = QuestionTeam(tmp_path, server.url)
        over = threading.Event()

        async def node() -> None:
            async with team.node():
                await asyncio.to_thread(over.wait)

        thread = threading.Thread(target=lambda: asyncio.run(node()))
        thread.start()
        elsewhere = FleetQuestions(team.settings, None if read_only else team.alice)
        monkeypatch.setattr("tests.unit.test_pages.Pages", partial(Pages, elsewhere=elsewhere))
        with AuditStore(tmp_path / "desk.db") as own:
            own.record_change({"what": "switch"}).block()
        served = Served(tmp_path / "desk.db", read_only=read_only)
        served.sign_in()
        try:
            with AuditStore(team.store_path) as store:
                yield Desk(team, served, store)
        finally:
            over.set()
            thread.join()
            served.close()
            elsewhere.close()


def test_a_question_of_another_machine_stands_beside_local_ones_and_is_answered(desk: Desk) -> None:
    asking: Asking = desk.team.ask(desk.store)
    question = desk.waiting()
    listed = desk.served.get("/questions")[2]
    status, headers, _ = desk.answer(question, "allow", reason="go ahead")
    after = desk.served.get(question["href"] + "?said=confirmed")[2]

    assert (question["node"], question["tool"]) == ("one", "Bash")
    assert f"/elsewhere/one/{question['id']}" in listed
    assert (status, headers["location"].rpartition("?")[2]) == (303, "said=confirmed")
    assert asking.approval.approved
    assert "Your answer counts" in after
    [local] = stored(desk.team.store_path)
    assert local.answer is not None
    assert (local.answer.text("user"), local.answer.text("reason")) == ("alice", "go ahead")


@pytest.mark.parametrize("verdict", ["deny", "session", "edit"])
def test_it_can_be_denied_held_for_the_session_and_edited(verdict: str, desk: Desk) -> None:
    asking: Asking = desk.team.ask(desk.store)
    status, _, _ = desk.answer(desk.waiting(), verdict, input='{"command": "ls"}')

    assert status == 303
    assert asking.approval.approved is (verdict != "deny")
    assert asking.approval.tool_input == ({"command": "ls"} if verdict == "edit" else None)
    assert asking.approval.remembered == ("session" if verdict == "session" else "")


@pytest.mark.parametrize(
    ("changed", "status"),
    [({"digest": "0" * 64}, 409), ({"answer": "yes"}, 409), ({"csrf": "no"}, 403), ({"answer": "edit"}, 409)],
)
def test_an_answer_that_is_none_changes_nothing(changed: dict[str, str], status: int, desk: Desk) -> None:
    desk.team.ask(desk.store)
    question = desk.waiting()
    form = {"csrf": desk.served.csrf(), "digest": question["digest"], "answer": "allow", "input": "{", **changed}

    assert desk.served.post(question["href"], **form)[0] == status
    assert [one.state for one in stored(desk.team.store_path)] == ["waiting"]


@pytest.mark.parametrize("desk", [True], indirect=True)
def test_read_only_pages_show_and_do_not_answer(desk: Desk) -> None:
    desk.team.ask(desk.store)
    question = desk.waiting()

    assert desk.answer(question, "allow")[0] == 403
    assert "Allow once" not in desk.served.get(question["href"])[2]


def test_pages_that_ask_at_once_share_one_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    async def create(settings: FleetSettings) -> None:
        client = await connect(settings.nats, name="setup")
        await create_all(client, settings)
        await client.close()

    async def counted(*given: Any, name: str, **more: Any) -> Any:
        made.append(name)
        await asyncio.sleep(0.5)  # all of them ask meanwhile
        return await connect(*given, name=name, **more)

    monkeypatch.setattr("interpose.cli.ui.fleet_questions.connect", counted)
    with a_nats_server(tmp_path / "nats") as server:
        settings = QuestionTeam(tmp_path, server.url).settings
        asyncio.run(create(settings))
        pages = FleetQuestions(settings, None)
        try:
            with ThreadPoolExecutor(4) as threads:
                found = list(threads.map(lambda _: pages.find("one", "aaaa-bbbb"), range(4)))
        finally:
            pages.close()

    assert (found, made) == ([None] * 4, ["interpose ui"])


def test_what_a_hostile_node_posts_is_shown_and_hides_nothing(desk: Desk) -> None:
    text = json.dumps({"tool_name": "<script>x</script>", "tool_input": {"command": "\u202e<b>\x1b[2J"}, "reason": "r"})
    hostile = a_question(team="payments", node="evil", text=text, id=id_of(digest_of(text)), ignored=("", "<i>"))
    changed = a_question(team="payments", node="evil", text=text)

    async def post() -> None:
        client = await connect(desk.team.settings.nats, name="nodes")
        await create_all(client, desk.team.settings)
        for one in (hostile, changed):
            await client.jetstream().publish(f"$KV.interpose_payments_questions.{one.key}", one.written())
        await client.close()

    asyncio.run(post())
    until(lambda: len(json.loads(desk.served.get("/elsewhere.json")[2])["questions"]) == 2)
    shown = [desk.served.get(path)[2] for path in ("/elsewhere", "/questions", f"/elsewhere/evil/{hostile.id}")]

    for page in shown:
        assert not any(part in page for part in ("<script>x", "<b>", "<i>", "\u202e", "\x1b"))
        assert "&lt;script&gt;x" in page
    assert "cannot be answered from here" in desk.served.get(f"/elsewhere/evil/{changed.id}")[2]
    assert desk.served.get("/elsewhere/evil/none")[0] == 404
    assert desk.served.get("/elsewhere/other/aaaa-bbbb")[0] == 404


def test_a_part_that_is_hidden_as_a_secret_is_pointed_out(desk: Desk) -> None:
    call = replace(CALL, tool_input={"command": 'PASSWORD="rm -rf ~/all-of-it"; sh -c "$PASSWORD"'})
    Asking(Questions(desk.store, wait=60), call)
    question = desk.waiting()

    for address in ("/elsewhere", question["href"]):
        page = desk.served.get(address)[2]
        assert "rm -rf" not in page
        assert "A part of it is redacted as a secret" in page
