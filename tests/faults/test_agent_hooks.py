"""Hooks of type agent: an agent that wants to write, to leave the project, to go on for ever, or gives no verdict."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.end_to_end.model_servers import KEY, AnthropicServer, Cuts
from tests.faults.hosts import CALL, run

from interpose import Event, Hooks, Outcome, deny

pytestmark = pytest.mark.slow

NOT_OK = {"call": {"verdict": {"ok": False, "reason": "There are no tests."}}}
OK = {"call": {"verdict": {"ok": True, "reason": "fine"}}}

Fire = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a file in it, and one beside it that is not of the project."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("JUDGE_ACCESS", KEY)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "app.py").write_text("print('hello')\n")
    (tmp_path / "private.txt").write_text("the moon is made of cheese\n")
    return project


@pytest.fixture(scope="module", autouse=True)
def warmed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have the loop of hosts without one start the threads in which tools read files, before anything is counted."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "app.py").write_text("1\n")
    hooks = agent_hooks(folder, {"calls": [{"Read": {"file_path": "app.py"}}, {"Grep": {"pattern": "1"}}]}, OK)
    hooks.fire_sync("PreToolUse", **CALL, cwd=str(folder))


def sync_fire(hooks: Hooks, project: Path, event: str = "PreToolUse", **fields: Any) -> Outcome:
    return hooks.fire_sync(event, **(fields or CALL), cwd=str(project))


def async_fire(hooks: Hooks, project: Path, event: str = "PreToolUse", **fields: Any) -> Outcome:
    return run(hooks.fire(event, **(fields or CALL), cwd=str(project)))


@pytest.fixture(params=[sync_fire, async_fire], ids=["without a loop", "on a loop"])
def fire(request: pytest.FixtureRequest) -> Fire:
    way: Fire = request.param
    return way


def agent_hooks(folder: Path, *turns: Any, event: str = "PreToolUse", **hook: Any) -> Hooks:
    script = folder / "turns.json"
    script.write_text(json.dumps({"turns": turns}))
    entry = {"name": "reviewer", "type": "agent", "prompt": "Are there tests?", **hook}
    return Hooks.from_mapping({"models": {"default": f"scripted:{script}"}, "hooks": {event: [entry]}})


def result_of(outcome: Outcome) -> tuple[str, str]:
    [result] = outcome.results
    return result.status, "" if result.error is None else result.error.code


def test_it_looks_at_files_and_gives_its_verdict(tmp_path: Path, project: Path, fire: Fire) -> None:
    calls = [{"Read": {"file_path": "app.py"}}, {"Glob": {"pattern": "*.py"}}, {"Grep": {"pattern": "hel+o"}}]
    told = {"needs": r"(?s)print\('hello'\).*app\.py.*app\.py", **NOT_OK}
    hooks = agent_hooks(tmp_path, {"calls": calls}, told)

    outcome = fire(hooks, project)

    assert (outcome.decision, outcome.reason, outcome.continue_) == ("deny", "There are no tests.", True)
    assert outcome.results[0].evidence["calls"] == 2


def test_it_keeps_an_agent_going(tmp_path: Path, project: Path, fire: Fire) -> None:
    outcome = fire(agent_hooks(tmp_path, NOT_OK, event="Stop"), project, "Stop", stop_hook_active=False)

    assert (outcome.keep_going, outcome.reason) == (True, "There are no tests.")


def test_it_writes_nothing_and_runs_nothing(tmp_path: Path, project: Path, fire: Fire) -> None:
    wanted = [
        {"Write": {"file_path": "new.txt", "content": "x"}},
        {"Edit": {"file_path": "app.py", "old_string": "hello", "new_string": "bye"}},
        {"Bash": {"command": "touch new.txt"}},
        {"Task": {"subagent_type": "general", "prompt": "write new.txt"}},
    ]
    told = {"needs": "(?s)no tool Write.*no tool Edit.*no tool Bash.*no tool Task", **OK}

    outcome = fire(agent_hooks(tmp_path, {"calls": wanted}, told), project)

    assert result_of(outcome) == ("ok", "")
    assert (project / "app.py").read_text() == "print('hello')\n"
    assert not (project / "new.txt").exists()


@pytest.mark.parametrize(
    "call",
    [
        {"Read": {"file_path": "../private.txt"}},
        {"Read": {"file_path": "{outside}/private.txt"}},
        {"Read": {"file_path": "link.txt"}},
        {"Grep": {"pattern": "moon", "path": "..", "output_mode": "content"}},
        {"Glob": {"pattern": "{outside}/*"}},
    ],
    ids=["above", "absolute", "a link", "a search above", "an absolute pattern"],
)
def test_it_does_not_leave_the_project(call: dict[str, dict[str, str]], tmp_path: Path, project: Path) -> None:
    (project / "link.txt").symlink_to(tmp_path / "private.txt")
    made = json.loads(json.dumps(call).replace("{outside}", str(tmp_path)))
    hooks = agent_hooks(
        tmp_path, {"calls": [made]}, {"needs": "outside of", "call": {"verdict": {"ok": True, "reason": ""}}}
    )

    assert result_of(sync_fire(hooks, project)) == ("ok", "")


def test_the_hooks_and_the_rules_of_the_host_hold_for_it(tmp_path: Path, project: Path, fire: Fire) -> None:
    (project / "secret.txt").write_text("cheese")
    script = tmp_path / "turns.json"
    calls = [{"Read": {"file_path": "app.py"}}, {"Read": {"file_path": "secret.txt"}}]
    told = {"needs": "(?s)not that one.*secret", **OK}
    script.write_text(json.dumps({"turns": [{"calls": calls}, told]}))
    entry = {"type": "agent", "prompt": "Fine?", "matcher": "Bash"}
    hooks = Hooks.from_mapping(
        {
            "models": {"default": f"scripted:{script}"},
            "hooks": {"PreToolUse": [entry]},
            "permissions": {"Read(secret.txt)": "deny"},
        }
    )
    seen: list[tuple[str, str]] = []

    @hooks.on("PreToolUse", matcher="Read")
    def look(event: Event) -> Any:
        seen.append((event.tool_input["file_path"], event.agent_type))
        return deny("not that one") if event.tool_input["file_path"] == "app.py" else None

    outcome = fire(hooks, project)

    assert outcome.results[0].error is None
    assert seen == [("app.py", "judge"), ("secret.txt", "judge")]


def test_it_is_not_asked_about_its_own_calls(tmp_path: Path, project: Path, fire: Fire) -> None:
    """Neither without bound, nor so that its reading counts as a failure of the hook."""
    looks = [{"call": {"Read": {"file_path": "app.py"}}}] * 12
    hooks = agent_hooks(tmp_path, *looks, {"needs": "hello", **NOT_OK}, onError="abort")
    outcomes: list[Outcome] = []
    hooks.record(outcomes.append)

    outcome = fire(hooks, project)

    assert outcome.reason == "There are no tests."
    nested = [one for one in outcomes if one.input["tool_name"] == "Read" and one.event == "PreToolUse"]
    assert len(nested) == 12
    assert all("skipped" in one.results[0].evidence for one in nested)


def test_events_of_a_life_of_its_own_are_not_fired(tmp_path: Path, project: Path) -> None:
    hooks = agent_hooks(tmp_path, {"call": {"Read": {"file_path": "app.py"}}}, OK)
    events: list[str] = []
    hooks.record(lambda outcome: events.append(outcome.event))

    sync_fire(hooks, project)

    assert events == ["PreToolUse", "PostToolUse", "PreToolUse"]


@pytest.mark.parametrize(
    "turn",
    [
        {"say": "There are tests, go on."},
        {"say": 'I looked. {"ok": true, "reason": "fine"}'},
        {"call": {"verdict": {"ok": "yes", "reason": "fine"}}},
        {"say": "No.", "stop_reason": "refusal"},
        {"say": ""},
    ],
    ids=["text", "prose around JSON", "ok as text", "a refusal", "nothing"],
)
def test_an_answer_in_another_form_denies(turn: Any, tmp_path: Path, project: Path, fire: Fire) -> None:
    hooks = agent_hooks(tmp_path, {"call": {"Read": {"file_path": "app.py"}}}, turn)

    outcome = fire(hooks, project)

    assert (outcome.denied, result_of(outcome)) == (True, ("failed", "bad_verdict"))


def test_an_agent_that_never_comes_to_a_verdict_denies_after_fifty_turns(tmp_path: Path, project: Path) -> None:
    hooks = agent_hooks(tmp_path, *[{"call": {"Glob": {"pattern": "*"}}}] * 51)

    outcome = sync_fire(hooks, project)

    assert (outcome.denied, result_of(outcome)) == (True, ("failed", "bad_verdict"))
    assert outcome.results[0].evidence["calls"] == 50


def test_every_turn_counts_towards_the_budget(tmp_path: Path, project: Path) -> None:
    script = tmp_path / "turns.json"
    script.write_text(json.dumps({"turns": [{"call": {"Glob": {"pattern": "*"}}}] * 5}))
    models = {"default": {"model": f"scripted:{script}", "budget": {"calls": 3}}}
    entry = {"type": "agent", "prompt": "Fine?", "onError": "abort"}
    hooks = Hooks.from_mapping({"models": models, "hooks": {"PreToolUse": [entry]}})

    outcome = sync_fire(hooks, project)

    assert (outcome.denied, result_of(outcome)) == (True, ("failed", "budget_used_up"))


def test_what_it_reads_is_sent_without_secrets(tmp_path: Path, project: Path, fire: Fire) -> None:
    secret = "sk-ant-api03-" + "abcdefghij0123456789" * 4
    (project / "app.py").write_text(f"key = '{secret}'\n")
    with AnthropicServer([{"call": {"Read": {"file_path": "app.py"}}}, OK]) as server:
        model = {"model": "anthropic:m", "baseUrl": server.url, "apiKeyEnv": "JUDGE_ACCESS"}
        entry = {"type": "agent", "prompt": "Fine?"}
        hooks = Hooks.from_mapping({"models": {"default": model}, "hooks": {"PreToolUse": [entry]}})

        outcome = fire(hooks, project)

        sent = json.dumps(server.requests)

    assert result_of(outcome) == ("ok", "")
    assert "[redacted:" in sent
    assert secret not in sent


def test_a_server_that_breaks_off_in_the_middle(tmp_path: Path, project: Path) -> None:
    with AnthropicServer([{"call": {"Read": {"file_path": "app.py"}}}, Cuts(OK, after=4)]) as server:
        model = {"model": "anthropic:m", "baseUrl": server.url, "apiKeyEnv": "JUDGE_ACCESS"}
        entry = {"type": "agent", "prompt": "Fine?"}
        hooks = Hooks.from_mapping({"models": {"default": model}, "hooks": {"PreToolUse": [entry]}})

        outcome = sync_fire(hooks, project)

    assert (outcome.allowed, result_of(outcome)) == (True, ("failed", "model_cut_off"))


def test_its_deadline_ends_it(tmp_path: Path, project: Path, fire: Fire) -> None:
    hooks = agent_hooks(tmp_path, {"call": {"Glob": {"pattern": "*"}}}, {"say": "hm", "pause": 60}, timeout=1)

    outcome = fire(hooks, project)

    assert result_of(outcome) == ("timeout", "timeout")
    assert not hooks.engine.registry.snapshot.scopes


def test_a_host_that_is_cancelled_ends_it(tmp_path: Path, project: Path) -> None:
    hooks = agent_hooks(tmp_path, {"call": {"Glob": {"pattern": "*"}}}, {"say": "hm", "pause": 60})
    looked = asyncio.Event()

    @hooks.on("PostToolUse")
    async def look(event: Event) -> None:
        looked.set()

    async def host() -> None:
        firing = asyncio.ensure_future(hooks.fire("PreToolUse", **CALL, cwd=str(project)))
        await looked.wait()
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing

    run(host())

    assert not hooks.engine.registry.snapshot.scopes


def test_a_project_that_is_not_there_denies(tmp_path: Path, fire: Fire) -> None:
    outcome = fire(agent_hooks(tmp_path, OK), tmp_path / "gone")

    assert (outcome.denied, result_of(outcome)) == (True, ("failed", "cwd_missing"))


def test_without_an_agent_the_hook_denies_and_says_what_is_missing(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interpose.handlers.prompt.AGENT", "interpose.no_agent.judge")

    outcome = sync_fire(agent_hooks(tmp_path, OK), project)

    assert (outcome.denied, result_of(outcome)) == (True, ("failed", "handler_type"))
    assert "interpose.no_agent" in outcome.reason


def test_a_host_with_an_agent_of_its_own_hands_it_in(tmp_path: Path, project: Path) -> None:
    async def own(hook: Any, event: Any, deadline: float) -> Any:
        return deny(f"asked {hook.handler}")

    hooks = Hooks()
    hooks.add_handler("agent", own)
    hooks.register("PreToolUse", type="agent", prompt="mine")

    assert sync_fire(hooks, project).reason == "asked mine"
