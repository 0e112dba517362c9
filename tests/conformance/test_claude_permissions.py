"""Permission rules of Claude Code settings files are rules of the session, and rules follow a reload."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from interpose import ConfigError, Hooks, Session, allow, ask
from interpose.config.trust import trust
from interpose.session import Question


def settings(folder: Path, permissions: dict[str, Any], name: str = "settings.json", **more: Any) -> Path:
    file = folder / ".claude" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"permissions": permissions, **more}))
    return file


def calls(hooks: Hooks, *wanted: tuple[str, dict[str, Any]], **options: Any) -> list[str]:
    """Make calls in a session; return what became of each."""

    async def host() -> list[str]:
        async with hooks.session(**options) as session:
            answers = [await session.tool(tool, given, lambda given: "ran") for tool, given in wanted]
        return [answer.content if answer.ok else answer.reason for answer in answers]

    return asyncio.run(host())


OPUS = "(every call of Agent is asked about instead)"
PUSH = ("Bash", {"command": "make && git push"})


def test_deny_and_ask_of_a_settings_file_hold_for_every_call(tmp_path: Path) -> None:
    hooks = Hooks.load(settings(tmp_path, {"deny": ["Read(./.env)"], "ask": ["Bash(git push:*)"]}))

    assert calls(
        hooks, ("Read", {"file_path": str(tmp_path / ".env")}), PUSH, ("Bash", {"command": "ls"}), cwd=tmp_path
    ) == [
        "denied by the rule Read|Grep|Glob|LS|NotebookRead|Edit|Write|MultiEdit(./.env)",
        "the rule Bash(git push:*) asks (there is no approver)",
        "ran",
    ]


def test_a_hook_that_allows_does_not_beat_them(tmp_path: Path) -> None:
    hooks = Hooks.load(settings(tmp_path, {"deny": ["Write"], "ask": ["Bash(git push *)"]}))
    hooks.register("PreToolUse", lambda event: allow())

    assert "ran" not in calls(hooks, PUSH, ("Write", {"file_path": "x", "content": ""}), mode="default")


def test_an_allow_answers_the_question_of_a_session_that_asks(tmp_path: Path) -> None:
    hooks = Hooks.load(settings(tmp_path, {"allow": ["Bash(npm run test:*)", "Edit(src/**)"]}))

    assert calls(
        hooks,
        ("Bash", {"command": "npm run test --all"}),
        ("Bash", {"command": "npm run test; rm -r x"}),
        ("Write", {"file_path": str(tmp_path / "src" / "a.py"), "content": ""}),
        ("Write", {"file_path": str(tmp_path / "setup.py"), "content": ""}),
        default="ask",
        cwd=tmp_path,
    ) == ["ran", "this call needs approval (there is no approver)", "ran",
          "this call needs approval (there is no approver)"]  # fmt: skip


def test_an_allow_does_not_answer_the_question_of_a_hook(tmp_path: Path) -> None:
    """As in the client, where a hook that asks forces the question."""
    hooks = Hooks.load(settings(tmp_path, {"allow": ["Bash", "Write"]}))
    hooks.register("PreToolUse", lambda event: ask("really?"), matcher="Bash")

    for default in ("allow", "ask"):
        assert calls(hooks, PUSH, ("Write", {"file_path": "x", "content": ""}), default=default) == [
            "really? (there is no approver)",
            "ran",
        ]


def test_an_allow_of_one_file_does_not_answer_the_ask_of_another(tmp_path: Path) -> None:
    files = [settings(tmp_path, {"allow": ["Bash"]}), settings(tmp_path, {"ask": ["Bash"]}, "settings.local.json")]

    assert calls(Hooks.load(*files), PUSH) == ["the rule Bash asks (there is no approver)"]


def test_they_hold_although_all_hooks_are_switched_off(tmp_path: Path) -> None:
    hooks = Hooks.load(settings(tmp_path, {"deny": ["Bash"]}, disableAllHooks=True))

    assert calls(hooks, PUSH) == ["denied by the rule Bash"]


@pytest.mark.parametrize("first", [True, False])
def test_of_two_files_the_stricter_holds(tmp_path: Path, first: bool) -> None:
    files = [
        settings(tmp_path, {"allow": ["Bash(git push *)"]}),
        settings(tmp_path, {"deny": ["Bash(git push *)"]}, "settings.local.json"),
    ]

    assert calls(Hooks.load(*(files if first else reversed(files))), PUSH) == ["denied by the rule Bash(git push *)"]


def test_rules_of_a_file_that_is_found_hold_when_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = tmp_path / "project"
    settings(project, {"deny": ["Bash"], "allow": ["Write"]})
    for place in (tmp_path, project, project / ".claude", project / ".claude" / "settings.json"):
        place.chmod(0o755)

    before = Hooks.discover(project, dialect="claude")
    trust(project / ".claude" / "settings.json")
    after = Hooks.discover(project, dialect="claude")

    write = ("Write", {"file_path": "x", "content": ""})
    assert calls(before, PUSH, write, default="ask") == ["this call needs approval (there is no approver)"] * 2
    assert calls(after, PUSH, write, default="ask") == ["denied by the rule Bash", "ran"]


def test_what_cannot_be_taken_over_is_named_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"permissions": {\n  "deny": ["Bash(ls)", "Agent(model:opus)"],\n  "defaultMode": "plan"\n}}')

    assert [str(problem) for problem in Hooks.load(file).warnings] == [
        f"{file}:2:24: Agent(model:opus) cannot be judged here: it is about the parameter model {OPUS}",
        f"{file}:3:3: defaultMode is not taken over (give the session its mode, such as `interpose run --mode plan`)",
    ]


def test_lists_that_are_none_are_refused_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"settings\.json:1:18: 'Bash' where a list of rules is expected"):
        Hooks.load(settings(tmp_path, {"deny": "Bash"}))


# A reload.


def rules_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "hooks.yaml"
    file.write_text(f"permissions: {text}\n")
    return file


async def try_push(session: Session) -> bool:
    return (await session.tool("Bash", {"command": "git push"}, lambda given: "ran")).ok


def test_a_session_has_the_rules_of_the_files_after_a_reload(tmp_path: Path) -> None:
    hooks = Hooks.load(rules_file(tmp_path, "{}"))

    async def host() -> list[bool]:
        async with hooks.session() as session:
            before = await try_push(session)
            rules_file(tmp_path, "{'Bash(git push *)': deny}")
            assert hooks.reload()
            between = await try_push(session)
            rules_file(tmp_path, "{'Bash(git push': deny}")
            assert not hooks.reload()
            broken = await try_push(session)
            rules_file(tmp_path, "{}")
            assert hooks.reload()
            return [before, between, broken, await try_push(session)]

    assert asyncio.run(host()) == [True, False, False, True]


def test_a_subagent_has_them_too(tmp_path: Path) -> None:
    hooks = Hooks.load(rules_file(tmp_path, "{}"))
    tried: list[bool] = []

    async def work(session: Session, config: dict[str, Any]) -> None:
        tried.append(await try_push(session))
        rules_file(tmp_path, "{'Bash(git push *)': deny}")
        hooks.reload()
        tried.append(await try_push(session))

    async def host() -> None:
        async with hooks.session() as session:
            await session.spawn("helper", work)

    asyncio.run(host())
    assert tried == [True, False]


def test_a_session_of_a_host_without_a_loop_has_them_too(tmp_path: Path) -> None:
    hooks = Hooks.load(rules_file(tmp_path, "{}"))

    with hooks.session_sync() as session:
        before = session.tool("Bash", {"command": "git push"}, lambda given: "ran").ok
        rules_file(tmp_path, "{'Bash(git push *)': deny}")
        hooks.reload()
        after = session.tool("Bash", {"command": "git push"}, lambda given: "ran").ok

    assert (before, after) == (True, False)


def test_an_answer_of_the_person_is_asked_for_again_after_a_reload(tmp_path: Path) -> None:
    hooks = Hooks.load(rules_file(tmp_path, "{'Bash(git push *)': ask}"))
    asked: list[str] = []

    def approve(question: Question) -> bool:
        asked.append(question.reason)
        return True

    async def host() -> None:
        async with hooks.session(approver=approve) as session:
            for _ in range(2):
                await session.tool("Bash", {"command": "git push"}, lambda given: "ran", tool_use_id="one")
            rules_file(tmp_path, "{'Bash(git push *)': ask, 'Bash(git *)': ask}")
            hooks.reload()
            await session.tool("Bash", {"command": "git push"}, lambda given: "ran", tool_use_id="one")

    asyncio.run(host())
    assert len(asked) == 2


def test_rules_that_a_host_has_given_stay_as_they_are(tmp_path: Path) -> None:
    hooks = Hooks.load(rules_file(tmp_path, "{}"))

    async def host() -> list[bool]:
        async with hooks.session(rules={"Bash(git push *)": "deny"}) as session:
            hooks.reload()
            before = await try_push(session)
            session.rules = {"Bash(ls)": "deny"}  # type: ignore[assignment]
            return [before, await try_push(session)]

    assert asyncio.run(host()) == [False, True]
