"""The pages in a real Chromium: live questions, keys, hostile text, two people, no script, and who can use them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.asking import PATIENCE, Asking, configure, until, waiting
from tests.browser import axe
from tests.browser.pages import PEOPLE, Started, pages, sign_in
from tests.browser.watched import HOSTILE, Watched

from interpose import AuditStore, Hooks, Question, Questions
from interpose.audit import open_store
from interpose.audit.protocol import StoredPermission

ACCESSIBLE = (Path(__file__).parent / "accessible.js").read_text("utf-8")


def agent(project: Path) -> "subprocess.Popen[str]":
    """An agent at work that nobody sits in front of."""
    command = [
        str(Path(sys.executable).parent / "interpose"),
        "run",
        "-c",
        "hooks.yaml",
        "-m",
        "scripted:turns.yaml",
        "Publish it.",
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "LANG": "C.UTF-8"}
    return subprocess.Popen(command, cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)  # fmt: skip


def test_a_question_of_an_agent_appears_without_reload_and_its_answer_lets_the_agent_go_on(
    project: Path, started: Started, watched: Watched
) -> None:
    page = watched.page
    sign_in(page, started)
    assert page.locator("#waiting .card").count() == 0

    running = agent(project)
    page.wait_for_selector("#waiting .card", timeout=PATIENCE * 1000)
    assert "echo published >> out.txt" in page.inner_text("#waiting .card")
    assert "left" in page.inner_text("#waiting .left")
    assert page.title().startswith("(1) ")
    page.click("#waiting .card button.yes")
    page.wait_for_selector(".note.good")
    said, _ = running.communicate(timeout=PATIENCE)

    assert running.returncode == 0, said
    assert (project / "out.txt").read_text() == "published\n"
    assert "Your answer counts: approved" in page.inner_text("main")
    with open_store(project / "audit.db") as reader:
        (question,) = reader.questions(answered=True)
    assert question.answer is not None
    assert "page, browser 1" in question.answer.person


def test_the_same_agent_goes_on_after_interpose_approve_and_the_page_shows_it(
    project: Path, started: Started, watched: Watched
) -> None:
    page = watched.page
    sign_in(page, started)
    running = agent(project)
    page.wait_for_selector("#waiting .card", timeout=PATIENCE * 1000)
    (question,) = waiting(project / "audit.db")

    subprocess.run([sys.executable, str(PEOPLE), "approve", question.id, "--config", "hooks.yaml"], cwd=project, check=True,
                   env={"PATH": os.environ["PATH"], "HOME": str(project)}, capture_output=True)  # fmt: skip
    running.communicate(timeout=PATIENCE)

    page.wait_for_selector("#waiting .card.answered")
    assert running.returncode == 0
    assert (project / "out.txt").exists()


def test_with_nobody_anywhere_the_agent_is_refused_at_the_deadline_and_the_record_says_so(
    project: Path, started: Started, watched: Watched
) -> None:
    configure(project, wait="1s")
    base = sign_in(watched.page, started)

    said, _ = agent(project).communicate(timeout=PATIENCE)

    assert not (project / "out.txt").exists()
    assert "no person has answered within 1 s" in said
    watched.page.goto(f"{base}/questions")
    assert "expired" in watched.page.inner_text("table")
    with open_store(project / "audit.db") as reader:
        (question,) = reader.questions(answered=True)
        (permission,) = [one for one in reader.entries() if isinstance(one, StoredPermission)]
    assert question.state == "expired"
    assert (permission.decision, permission.text("question")) == ("deny", question.id)
    assert "no person has answered within 1 s" in permission.text("reason")


def test_keys_move_select_and_answer(project: Path, started: Started, watched: Watched) -> None:
    page = watched.page
    base = sign_in(page, started)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.type("ls")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=ls")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/events/*")

    with AuditStore(project / "audit.db") as store:
        first, second = (Asking(Questions(store, wait=60), Question(tool_name="Bash", tool_input={"command": one}, session_id="s1"))
                         for one in ("one", "two"))  # fmt: skip
        shown = waiting(project / "audit.db", 2)
        page.goto(f"{base}/questions")
        page.keyboard.press("y")  # nothing is selected
        assert len(waiting(project / "audit.db", 2)) == 2
        page.keyboard.press("j")
        page.keyboard.press("n")
        page.wait_for_url("**/questions/*said=yours")
        page.goto(f"{base}/questions/{shown[1].id}")
        page.keyboard.press("y")
        page.wait_for_url("**/questions/*said=yours")
        said = {shown[0].input["command"]: False, shown[1].input["command"]: True}

        assert {"one": first.approval.approved, "two": second.approval.approved} == said


def test_of_two_people_one_wins_and_the_other_is_told(
    chrome: Any, project: Path, started: Started, watched: Watched
) -> None:
    base = sign_in(watched.page, started)
    with AuditStore(project / "audit.db") as store:
        asking = Asking(Questions(store, wait=60))
        (question,) = waiting(project / "audit.db")
        watched.page.goto(f"{base}/questions/{question.id}")
        other = watched.context.new_page()
        other.goto(f"{base}/questions/{question.id}")

        other.click("button.no")
        other.wait_for_selector(".note.good")
        watched.page.click("button.yes")
        watched.page.wait_for_selector(".note.care")

        assert "Another answer came first: it was refused" in watched.page.inner_text(".note.care")
        assert not asking.approval.approved


def test_an_input_is_edited_and_the_call_runs_with_it(project: Path, started: Started, watched: Watched) -> None:
    page = watched.page
    base = sign_in(page, started)
    running = agent(project)
    (question,) = waiting(project / "audit.db")
    page.goto(f"{base}/questions/{question.id}")

    page.click("summary")
    page.fill("#edited", json.dumps({"command": "echo edited >> out.txt"}))
    page.click("details button.yes")
    page.wait_for_selector(".note.good")
    running.communicate(timeout=PATIENCE)

    assert (project / "out.txt").read_text() == "edited\n"


def test_without_a_script_everything_is_read_and_answered(chrome: Any, project: Path, started: Started) -> None:
    watched = Watched(chrome, java_script_enabled=False)
    base = sign_in(watched.page, started)
    with AuditStore(project / "audit.db") as store:
        asking = Asking(Questions(store, wait=60))
        waiting(project / "audit.db")
        watched.page.goto(f"{base}/questions")
        watched.page.fill("input.reason", "not today")
        watched.page.click("button.no")
        watched.page.wait_for_selector(".note.good")
        assert asking.approval.reason.endswith("not today")
    watched.context.close()
    assert watched.wrong == []


def hostile_places(project: Path) -> Iterator[str]:
    hooks = Hooks()
    with AuditStore(project / "audit.db") as store:
        hooks.record(store)
        hooks.register("PreToolUse", lambda event: {"decision": "deny", "reason": HOSTILE}, name=HOSTILE)
        for session in (HOSTILE, "s1"):
            hooks.fire_sync("UserPromptSubmit", prompt=HOSTILE, session_id=session)
            for command in (HOSTILE, "x" * 100_000, "\x1b]0;title\x07" * 50):
                hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={HOSTILE: HOSTILE, "command": command}, session_id=session,
                                tool_use_id=HOSTILE, agent_id=HOSTILE, cwd=HOSTILE)  # fmt: skip
    yield from (
        "/now",
        "/questions",
        "/sessions",
        f"/sessions/{quote(HOSTILE, safe='')}",
        "/sessions/s1",
        "/search",
        "/hooks",
        "/compare",
    )
    with open_store(project / "audit.db") as reader:
        for entry in reader.entries(limit=6):
            yield f"/events/{entry.id}"
            yield f"/events/{entry.id}/case"


def test_hostile_text_stays_text_in_every_page(project: Path, started: Started, watched: Watched) -> None:
    page = watched.page
    base = sign_in(page, started)
    places = list(hostile_places(project))
    with AuditStore(project / "audit.db") as store:
        asking = Asking(Questions(store, wait=120), Question(tool_name=HOSTILE, tool_input={HOSTILE: HOSTILE}, reason=HOSTILE,
                                                             session_id=HOSTILE, agent_id=HOSTILE, hook=HOSTILE))  # fmt: skip
        (question,) = waiting(project / "audit.db")
        page.wait_for_selector("#waiting .card")  # the live one, which a script inserts
        assert page.locator("main script, main img").count() == 0

        for place in (*places, f"/questions/{question.id}"):
            page.goto(f"{base}{place}")
            assert page.locator("main script, main img, main [style]").count() == 0
            assert "\u202e" not in page.content()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1"), place
        page.click("button.no")
        assert not asking.approval.approved


@pytest.mark.parametrize("options", [
    {"color_scheme": "light"}, {"color_scheme": "dark"}, {"color_scheme": "light", "viewport": {"width": 390, "height": 800}},
], ids=["light", "dark", "narrow"])  # fmt: skip
def test_people_who_see_badly_or_use_no_pointer_can_use_every_page(
    chrome: Any, project: Path, started: Started, options: dict[str, Any]
) -> None:
    watched = Watched(chrome, **options)
    page = watched.page
    script = axe.source()

    def problems() -> list[str]:
        return [*page.evaluate(ACCESSIBLE), *(axe.problems(page, script) if script else [])]

    page.goto(started.address)
    assert problems() == []
    base = sign_in(page, started)
    places = list(hostile_places(project))
    with AuditStore(project / "audit.db") as store:
        asking = Asking(Questions(store, wait=120))
        (question,) = waiting(project / "audit.db")

        for place in (*places, f"/questions/{question.id}", "/nowhere"):
            page.goto(f"{base}{place}")
            assert problems() == [], place
        page.goto(f"{base}/questions/{question.id}")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.click("button.no")
        assert not asking.approval.approved
    watched.context.close()
    assert [one for one in watched.wrong if "404" not in one] == []


def lists(page: Any, text: str) -> bool:
    return text in page.inner_text("#live-rows")


def test_a_page_that_is_open_keeps_to_its_size_while_events_come(
    project: Path, started: Started, watched: Watched
) -> None:
    page = watched.page
    sign_in(page, started)
    page.wait_for_selector("#live[data-state=on]")
    hooks = Hooks()
    with AuditStore(project / "audit.db") as store:
        hooks.record(store)
        for part in range(8):
            for number in range(400):
                hooks.fire_sync(
                    "PreToolUse", tool_name="Bash", tool_input={"command": f"echo {part} {number}"}, session_id="busy"
                )
            store.flush()
            until(partial(lists, page, f"echo {part} 399"))

    assert page.locator("#live-rows tr").count() <= 200
    until(lambda: page.inner_text("#sums dd >> nth=0") == "3,201")


def test_a_hook_is_switched_to_observe_and_the_record_says_who(chrome: Any, project: Path) -> None:
    own = project / ".config" / "interpose" / "hooks.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("audit: {path: %s}\nhooks:\n  PreToolUse:\n"
                   "    - {name: careful, matcher: Bash, type: script, handler: '/deny \"no\"'}\n"
                   "    - {name: fixed, matcher: Bash, type: script, locked: true, handler: '/deny \"no\"'}\n" % (project / "audit.db"))  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "HOME": str(project)}
    subprocess.run(
        [sys.executable, str(PEOPLE), "trust", "--yes"], cwd=project, env=environment, check=True, capture_output=True
    )
    watched = Watched(chrome)
    with pages(project) as started:
        base = sign_in(watched.page, started)
        watched.page.goto(f"{base}/hooks")
        assert watched.page.locator("button", has_text="observe").count() == 1, "locked stays locked"
        watched.page.click("button[value=observe]")
        watched.page.wait_for_selector("button[value=enforce]")
        fired = subprocess.run([str(Path(sys.executable).parent / "interpose"), "list", "--json"], cwd=project, env=environment, check=True,
                               capture_output=True, text=True)  # fmt: skip
    watched.context.close()

    states = {one["name"]: one["enforced"] for one in json.loads(fired.stdout)["hooks"]}
    assert states == {"careful": False, "fixed": True}
    with open_store(project / "audit.db") as reader:
        (change,) = reader.changes()
    assert (change.text("hook"), change.text("to")) == ("careful", "observe")
    assert "page, browser 1" in change.text("terminal")


def test_recorded_events_are_compared_with_other_rules_and_the_differences_are_grouped(
    project: Path, started: Started, watched: Watched
) -> None:
    hooks = Hooks()
    with AuditStore(project / "audit.db") as store:
        hooks.record(store)
        for number in range(5):
            hooks.fire_sync(
                "PreToolUse", tool_name="Bash", tool_input={"command": f"npm publish {number}"}, session_id="s1"
            )
    (project / "new.yaml").write_text(
        "hooks:\n  PreToolUse:\n    - {name: no-publish, if: Bash(npm publish *), type: script, handler: '/deny \"Use the pipeline.\"'}\n"
    )
    page = watched.page
    base = sign_in(page, started)
    page.goto(f"{base}/compare")

    page.fill("input[name=against]", "new.yaml")
    page.click("main form button")
    page.wait_for_selector(".group", timeout=PATIENCE * 1000)

    assert page.inner_text(".group h3") == "5 events that went on become denies: Bash(npm publish *)"
    assert "5 would be decided differently" in page.inner_text(".note")
    page.click(".group a")
    page.wait_for_url("**/events/*")
    page.click("text=Make a case of it")
    page.wait_for_selector("#case")
    assert "npm publish" in page.inner_text("#case")
