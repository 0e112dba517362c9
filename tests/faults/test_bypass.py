"""Whoever writes the model's words, the project's files or the answers of a server must not get past the guards.

Nor may a person be shown something else than what will run, nor a file be touched that is none of the work.
"""

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from tests import people
from tests.unit.workplace import call, workplace

from interpose import Hooks, Outcome, ask
from interpose.agent.run import open_run
from interpose.agent.runtime import Runtime
from interpose.agent.shadow import ShadowGit
from interpose.agent.shadow.git import ShadowError
from interpose.agent.tools.files import load, replace_file
from interpose.agent.tools.mcp import _tool
from interpose.cli.render.question import question_lines
from interpose.cli.run.person import Person
from interpose.cli.run.view import PlainView, frame_lines
from interpose.config.trust import trust
from interpose.matching import compile_condition
from interpose.models import Request, ToolCall, Turn
from interpose.session import Question
from interpose.session.permission import Rules

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("home")]


ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PRECIOUS = "precious\n"
NO_BASH = {"name": "no-bash", "matcher": "Bash", "type": "command", "handler": "./guard.sh", "onError": "abort"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory that somebody else has filled."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def interpose(project: Path, *words: str, told: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command where nobody sits at a terminal; but a person trusts."""
    program = [sys.executable, people.__file__] if words[0] == "trust" else ["interpose"]
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": os.environ["HOME"], "LANG": "C.UTF-8", **variables}
    return subprocess.run([*program, *words], cwd=project, env=environment, input=told, capture_output=True,
                          text=True, timeout=50, check=False)  # fmt: skip


def agent(project: Path, *calls: dict[str, Any], words: tuple[str, ...] = ()) -> str:
    """Have the agent make calls, one after another; return everything that the model was told."""
    turns = [*({"calls": [made]} for made in calls), {"say": "Done."}]
    (project / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    done = interpose(project, "run", "--json", "--model", "scripted:turns.yaml", *words, "Go on.")
    assert done.returncode == 0, done.stderr
    return Path(json.loads(done.stdout)["transcript"]).read_text()


def configure(project: Path, **parts: Any) -> Path:
    """Write the configuration of a project, and a guard that says no to everything."""
    folder = project / ".interpose"
    folder.mkdir(exist_ok=True)
    guard = folder / "guard.sh"
    guard.write_text("#!/bin/sh\necho not here >&2\nexit 2\n")
    guard.chmod(0o755)
    file = folder / "hooks.yaml"
    file.write_text(yaml.safe_dump(parts))
    return file


# The record of what was written, and the transcripts, in a project that came with links.


@pytest.mark.parametrize(
    "link",
    ["config", "HEAD", "info/exclude", "objects", "objects/pack", "objects/00", "refs", "logs/refs/heads/main",
     "../.gitignore"],
)  # fmt: skip
def test_no_link_in_a_shadow_git_leads_to_a_file_of_the_persons(project: Path, tmp_path: Path, link: str) -> None:
    victim = tmp_path / "victim"
    if link.startswith(("obj", "refs")):
        victim.mkdir()
    else:
        victim.write_text(PRECIOUS)
    place = project / ".interpose" / "shadow.git" / link
    (project / ".interpose" / "shadow.git").mkdir(parents=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(victim)

    with pytest.raises(ShadowError, match="is a symbolic link"):
        asyncio.run(ShadowGit(project).commit(project / "a", "text"))

    assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == PRECIOUS


def test_others_cannot_look_into_a_shadow_git(project: Path) -> None:
    (project / ".interpose" / "shadow.git").mkdir(parents=True, mode=0o755)

    asyncio.run(ShadowGit(project).commit(project / "a", "text"))

    assert stat.S_IMODE((project / ".interpose" / "shadow.git").stat().st_mode) == 0o700


@pytest.mark.parametrize("link", ["sessions/.gitignore", "sessions"])
def test_no_link_where_transcripts_are_kept_leads_to_a_file_of_the_persons(
    project: Path, tmp_path: Path, link: str
) -> None:
    victim = tmp_path / "victim"
    if link == "sessions":
        victim.mkdir()
    else:
        victim.write_text(PRECIOUS)
    place = project / ".interpose" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(victim)
    (project / "turns.yaml").write_text("turns:\n  - say: Hello.\n")

    done = interpose(project, "run", "--model", "scripted:turns.yaml", "Go on.")

    assert (done.returncode, "symbolic link" in done.stderr) == (1, True)
    assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == PRECIOUS


def test_a_project_cannot_have_its_transcripts_committed(project: Path) -> None:
    ignored = project / ".interpose" / "sessions" / ".gitignore"
    ignored.parent.mkdir(parents=True)
    ignored.write_text("!*\n")

    agent(project)

    assert ignored.read_text() == "*\n"


def test_examples_are_not_brought_in_through_a_link(project: Path, home: Path) -> None:
    own = home / ".config" / "interpose"
    own.mkdir(parents=True)
    mine = "hooks:\n  Stop:\n    - {name: mine, command: 'true'}\n"
    (own / "hooks.yaml").write_text(mine)
    (project / ".interpose").symlink_to(own)

    done = interpose(project, "init", "--with", "rate-limit")

    assert (done.returncode, "symbolic link" in done.stderr) == (1, True)
    assert [(path.name, path.read_text()) for path in own.iterdir()] == [("hooks.yaml", mine)]


# What a person is shown, and what counts as their answer.


class AtTerminal:
    """A person at a terminal of their own: the test types, and sees what is printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._ours, theirs = os.openpty()
        self._stdin = os.fdopen(theirs)
        self._capsys = capsys
        self.seen = ""
        monkeypatch.setattr(sys, "stdin", self._stdin)

    def type(self, text: str) -> None:
        """Type something; it has arrived when the terminal has shown it."""
        os.write(self._ours, text.encode())
        shown = b""
        while len(shown.replace(b"\r\n", b"\n")) < len(text):
            shown += os.read(self._ours, 1024)

    def look(self) -> str:
        """Return all that was printed so far."""
        self.seen += self._capsys.readouterr().out
        return self.seen

    async def until(self, text: str) -> None:
        """Wait until something is printed."""
        async with asyncio.timeout(20):
            while text not in self.look():  # noqa: ASYNC110 - nobody announces what is printed
                await asyncio.sleep(0.005)

    def close(self) -> None:
        self._stdin.close()
        os.close(self._ours)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[AtTerminal]:
    made = AtTerminal(monkeypatch, capsys)
    yield made
    made.close()


REMOVE = Question(tool_name="Bash", tool_input={"command": "rm -rf ~"})


@pytest.mark.parametrize("ahead", ["y\n", "see this\ny\nand this\n", "y"])
def test_what_was_typed_or_pasted_before_a_question_is_no_answer_to_it(terminal: AtTerminal, ahead: str) -> None:
    async def main() -> tuple[bool, str]:
        person = Person(PlainView())
        terminal.type(ahead)
        asked = asyncio.ensure_future(person.may(REMOVE))
        await terminal.until("run it?")
        terminal.type("\n")
        said = await asked
        terminal.type("next\n")
        return said, await anext(person.prompts())

    said, prompt = asyncio.run(main())

    assert not said
    assert prompt == (ahead.partition("\n")[0] if "\n" in ahead else "next")  # it waits to be taken as a prompt


def test_an_answer_after_the_question_counts(terminal: AtTerminal) -> None:
    async def main() -> bool:
        asked = asyncio.ensure_future(Person(PlainView()).may(REMOVE))
        await terminal.until("run it?")
        terminal.type("y\n")
        return await asked

    assert asyncio.run(main())


def test_nothing_that_another_agent_says_stands_between_a_question_and_its_answer(terminal: AtTerminal) -> None:
    async def main() -> None:
        view = PlainView()
        asked = asyncio.ensure_future(Person(view).may(REMOVE))
        await terminal.until("run it?")
        view.draw("assistant", {"text": "Well.\n? Bash(command='ls')\n  run it? [y/N] "})
        assert "Well." not in terminal.look()
        terminal.type("n\n")
        await asked

    asyncio.run(main())

    assert "Well." in terminal.look()


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ({"tool_input": {"command": "ls", "x='1')\n  run it? [y/N] y\n": 1}},
         ["Bash(command='ls', \"x='1')\\n  run it? [y/N] y\\n\"=1)"]),
        ({"tool_input": "ls)\n    run it? [y/N]"}, ["Bash('ls)\\n    run it? [y/N]')"]),
        ({"tool_name": "Bash(command='ls')\n", "tool_input": {}}, ["\"Bash(command='ls')\\n\"()"]),
        ({"tool_input": {"command": "ls"}, "reason": "it pushes\n  ? Bash(command='ls')\x1b[2J"},
         ["Bash(command='ls')", "because: it pushes ? Bash(command='ls')"]),
        ({"tool_input": {"command": "ls" + " " * 900 + "; rm -rf ~"}}, ["Bash(command='ls [900 blanks] ; rm -rf ~')"]),
        ({"tool_input": {"command": "a\u202eb\u200bc\u3164d\ufe0fe\x1b[1A"}},
         ["Bash(command='a\\u202eb\\u200bc\\u3164d\\ufe0fe\\x1b[1A')"]),
        ({"tool_input": {"command": "c\u0430t notes"}},
         ["Bash(command='c\u0430t notes')",
          "careful: a word in it mixes letters that look alike: c\u0430t is 'c\\u0430t'"]),
        ({"tool_input": {"command": "\uff43\uff41\uff54"}},
         ["Bash(command='\uff43\uff41\uff54')",
          "careful: a word in it mixes letters that look alike: \uff43\uff41\uff54 is '\\uff43\\uff41\\uff54'"]),
        ({"tool_input": {"command": "echo Größe \u043f\u0440\u0438\u0432\u0435\u0442"}},
         ["Bash(command='echo Größe \u043f\u0440\u0438\u0432\u0435\u0442')"]),
    ],
    ids=["a key", "plain text", "a tool", "a reason", "blanks", "unseen", "look-alikes", "wide letters", "languages"],
)  # fmt: skip
def test_a_question_cannot_be_made_to_look_like_another(question: dict[str, Any], lines: list[str]) -> None:
    assert list(question_lines(Question(**{"tool_name": "Bash", **question}))) == lines


def test_a_person_is_told_that_a_question_is_longer_than_the_screen() -> None:
    call, warning = question_lines(Question(tool_name="Bash", tool_input={"command": "rm -rf ~\n" + "#" * 5000}))

    assert "rm -rf ~" in call
    assert warning.startswith("careful: it is long, 5,0")


def test_a_person_sees_all_of_what_was_run() -> None:
    hidden = "ls \x1b]0;\nrm -rf ~;\x07"

    lines = list(
        frame_lines("call", {"tool": "Bash", "input": {"command": hidden}, "given": {"command": hidden}, "ok": True})
    )

    assert "Bash ls \\x1b]0; rm -rf ~;\\x07" in lines[0]


# Permission.


def test_a_hook_that_asks_is_not_answered_by_what_is_harmless_by_itself() -> None:
    async def main(hooks: Hooks) -> bool:
        async with hooks.session(default="ask", rules=Rules(harmless=["Read"])) as session:
            return (await session.tool("Read", {"file_path": ".env"}, lambda _: "key")).ok

    asking = Hooks()
    asking.register("PreToolUse", lambda event: ask("really?"), on_error="abort")

    assert asyncio.run(main(Hooks()))
    assert not asyncio.run(main(asking))


def test_the_agent_reads_nothing_that_a_guard_asks_about_where_nobody_can_be_asked(project: Path) -> None:
    (project / "key.txt").write_text("hunter22")
    guard = {"matcher": "Read", "command": 'echo \'{"decision": "ask"}\'', "onError": "abort"}
    file = configure(project, hooks={"PreToolUse": [guard]})

    told = agent(project, {"Read": {"file_path": "key.txt"}}, words=("-c", str(file)))

    assert "there is no approver" in told
    assert "hunter22" not in told


def test_an_allow_on_the_command_line_does_not_loosen_a_deny_of_the_configuration(project: Path) -> None:
    file = configure(project, permissions={"Bash": "deny"})

    told = agent(project, {"Bash": {"command": "touch made"}}, words=("-c", str(file), "--allow", "Bash"))

    assert "denied by the rule Bash" in told
    assert not (project / "made").exists()


def test_a_yes_to_one_call_is_no_answer_to_the_next_one_with_its_id(project: Path, tmp_path: Path) -> None:
    class Repeating:
        """A server that gives every call the same id."""

        name, window = "repeating", 100_000

        def __init__(self) -> None:
            self._left = 2

        async def answer(self, request: Request, hear: Callable[[str], None] | None = None) -> Turn:
            self._left -= 1
            calls = (ToolCall("call_0", "Bash", {"command": "echo x >> made"}),) if self._left >= 0 else ()
            return Turn("So.", calls, "end_turn", 10)

        async def close(self) -> None:
            return None

    answers = iter([True, False])
    runtime = Runtime(Hooks(), Repeating(), project, tmp_path / "transcripts", ShadowGit(project))

    async def main() -> None:
        async with open_run(runtime, session_id="s", default="ask", approver=lambda question: next(answers)) as run:
            await run.ask("Go on.")

    asyncio.run(main())

    assert (project / "made").read_text() == "x\n"


def test_a_server_that_calls_its_tool_harmless_does_not_make_it_so() -> None:
    listed = SimpleNamespace(
        name="look", description="", input_schema={}, annotations=SimpleNamespace(read_only_hint=True)
    )

    assert _tool(SimpleNamespace(name="server"), listed).kind == "run"  # type: ignore[arg-type]


# The files of the guards, and files elsewhere.


def test_the_agent_does_not_rewrite_the_guard_that_watches_it(project: Path) -> None:
    file = configure(project, hooks={"PreToolUse": [NO_BASH]})
    guard = project / ".interpose" / "guard.sh"
    before = [path.read_text() for path in (guard, file)]

    told = agent(
        project,
        {"Read": {"file_path": ".interpose/guard.sh"}},
        {"Write": {"file_path": ".interpose/guard.sh", "content": "#!/bin/sh\n"}},
        {"Read": {"file_path": ".interpose/hooks.yaml"}},
        {"Edit": {"file_path": ".interpose/hooks.yaml", "old_string": "abort", "new_string": "log"}},
        {"Write": {"file_path": ".interpose/json.py", "content": ""}},
        {"Bash": {"command": "touch made"}},
        words=("-c", str(file), "--mode", "bypass"),
    )

    assert told.count("belongs to the hooks") == 3
    assert [path.read_text() for path in (guard, file)] == before
    assert not (project / "made").exists()


def test_the_agent_does_not_write_beside_the_record_of_its_actions(project: Path) -> None:
    file = configure(project, audit={"path": "audit.db"})
    beside = {"file_path": ".interpose/audit.db-journal", "content": "x"}

    told = agent(project, {"Write": beside}, words=("-c", str(file), "--mode", "bypass"))

    assert "belongs to the hooks" in told


def test_a_path_is_not_another_one_for_the_tool_than_for_the_rule(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project.parent))

    said = call(workplace(project), "Write", file_path="~/project/keys/new", content="x")

    assert said.startswith("failed: ~/project/keys/new starts with ~")
    assert not (project / "keys").exists()


def test_a_link_that_turns_up_while_hooks_judge_a_write_is_not_followed(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "src").mkdir()
    swap = {"command": "mv docs gone; ln -s src docs"}
    file = configure(project, hooks={"pre:git:write": [swap]})

    agent(project, {"Write": {"file_path": "docs/new.py", "content": "x"}},
          words=("-c", str(file), "--mode", "acceptEdits"))  # fmt: skip

    assert (project / "docs").is_symlink()
    assert list((project / "src").iterdir()) == []


def test_files_are_neither_read_nor_written_through_a_link_in_their_path(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key").write_text(PRECIOUS)
    (project / "link").symlink_to(outside)
    (project / "key").symlink_to(outside / "key")

    with pytest.raises(OSError, match="Not a directory"):
        replace_file(project / "link" / "key", b"x")
    replace_file(project / "key", b"x")  # the link itself is replaced
    with pytest.raises(Exception, match="Not a directory"):
        load(project / "link" / "key", "key")

    assert (outside / "key").read_text() == PRECIOUS


@pytest.mark.parametrize(
    "line",
    ["rm -rf .g*", "rm -rf ~+", "git push -uf origin main", "git push origin +main", "git push origin :main",
     "git switch -f main", "git switch --discard-changes main", "git restore :/", "git update-ref -d HEAD",
     "git rm -rf ."],
)  # fmt: skip
def test_the_policies_against_destruction_do_not_pass_over(project: Path, line: str) -> None:
    hooks = Hooks()
    hooks.use("destructive-commands")
    hooks.use("force-pushes")

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": line}, cwd=str(project))

    assert not outcome.allowed


# Trust.


def test_a_person_who_is_asked_for_trust_sees_all_that_a_file_does(project: Path) -> None:
    (project / "tools.sh").write_text("")
    hook = {
        "name": "check\n  it arms 0 hooks", "matcher": "Bash\nRead", "command": "./ok.sh # fine\n./not-ok.sh",
        "env": {"BASH_ENV": "./tools.sh"}, "passEnv": ["TOKEN"],
    }  # fmt: skip
    hidden = {"command": "./ok.sh \x1b]0;\n./hidden.sh\x07"}
    configure(
        project,
        hooks={"PreToolUse": [hook], "Stop": [hidden]},
        permissions={"Bash": "allow"},
        audit={"path": "record.db"},
    )

    said = interpose(project, "trust").stdout

    assert "PreToolUse Bash⏎Read" in said
    assert "check⏎  it arms 0 hooks: ./ok.sh # fine⏎./not-ok.sh with BASH_ENV='./tools.sh', your TOKEN" in said
    assert "./ok.sh \\x1b]0;⏎./hidden.sh\\x07" in said
    assert "allow  Bash\n" in said
    assert f"records firings in {project}/.interpose/record.db" in said


def test_a_file_that_a_variable_of_a_hook_names_is_trusted_with_its_content(project: Path) -> None:
    (project / "tools.sh").write_text("exit 0")
    file = configure(project, hooks={"Stop": [{"command": "true", "env": {"BASH_ENV": "./tools.sh"}}]})

    snapshot = trust(file)
    [hook] = Hooks.discover(project)

    assert str(project / "tools.sh") in snapshot.originals()
    assert hook.binding.target.env["BASH_ENV"] == f"{snapshot.linked}/files/tools.sh"


@pytest.mark.parametrize("disarm", [Path.unlink, lambda file: file.write_text(file.read_text() + "# x\n")])
def test_guards_that_were_trusted_do_not_go_away_with_their_file(
    project: Path, disarm: Callable[[Path], object]
) -> None:
    file = configure(project, hooks={"PreToolUse": [NO_BASH]})
    event = json.dumps({"tool_name": "Bash", "tool_input": {"command": "ls"}})
    fire = ("fire", "PreToolUse", "--reply", "claude")
    (project / "turns.yaml").write_text("turns:\n  - say: Hello.\n")
    trust(file)
    before = interpose(project, *fire, told=event)

    disarm(file)
    after = interpose(project, *fire, told=event)
    run = interpose(project, "run", "--model", "scripted:turns.yaml", "Go on.")

    assert (before.returncode, before.stderr) == (2, "not here\n")
    assert (after.returncode, "not here" in after.stderr, str(file) in after.stderr) == (2, True, True)
    assert (run.returncode, f"{file}: not as it was trusted" in run.stderr) == (0, True)


def test_trust_that_was_taken_back_for_a_file_that_is_gone_denies_nothing(project: Path) -> None:
    file = configure(project, hooks={"PreToolUse": [NO_BASH]})
    trust(project / ".interpose" / "hooks.yaml")
    file.unlink()

    interpose(project, "trust", "--forget", str(file))
    done = interpose(project, "fire", "PreToolUse", "--reply", "claude", told='{"tool_name": "Bash"}')

    assert done.returncode == 0


@pytest.mark.parametrize("told", ["by the host", "by the event", "by nothing but the current directory"])
def test_guards_of_a_project_hold_for_an_agent_that_has_changed_to_another_directory(
    project: Path, tmp_path: Path, told: str
) -> None:
    configure(project, hooks={"PreToolUse": [NO_BASH]})
    trust(project / ".interpose" / "hooks.yaml")
    (elsewhere := tmp_path / "elsewhere").mkdir()
    by_host, by_event = told == "by the host", told == "by the event"
    event = json.dumps({"tool_name": "Bash", "tool_input": {}, "cwd": str(project if by_event else elsewhere)})
    variables = {"CLAUDE_PROJECT_DIR": str(project)} if by_host else {}

    done = interpose(
        elsewhere if by_host or by_event else project, "fire", "PreToolUse", "--reply", "claude", told=event,
        **variables,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (2, "not here\n")


def test_guards_that_are_gone_from_the_project_of_the_host_deny_from_another_directory_too(
    project: Path, tmp_path: Path
) -> None:
    file = configure(project, hooks={"PreToolUse": [NO_BASH]})
    trust(project / ".interpose" / "hooks.yaml")
    file.unlink()

    done = interpose(
        tmp_path, "fire", "PreToolUse", "--reply", "claude", told='{"tool_name": "Bash"}',
        CLAUDE_PROJECT_DIR=str(project),
    )  # fmt: skip

    assert (done.returncode, "not here" in done.stderr, "hooks.yaml is gone" in done.stderr) == (2, True, True)


@pytest.mark.parametrize(
    "guard",
    [
        {"command": "sh .interpose/guard.sh"},
        {"command": "cat > /dev/null; .interpose/guard.sh || exit 2"},
        {"type": "command", "handler": "sh .interpose/guard.sh"},
    ],
)
def test_scripts_that_an_agent_puts_elsewhere_are_not_run_in_the_place_of_a_projects_own(
    project: Path, tmp_path: Path, guard: dict[str, Any]
) -> None:
    file = configure(project, hooks={"PreToolUse": [{**guard, "locked": True}]})
    (planted := tmp_path / "planted" / ".interpose").mkdir(parents=True)
    (planted / "guard.sh").write_text("#!/bin/sh\nexit 0\n")
    (planted / "guard.sh").chmod(0o755)

    outcome = Hooks.load(file).fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(planted.parent))

    assert (outcome.denied, outcome.reason.splitlines()[0]) == (True, "not here")


def test_a_line_can_ask_for_the_directory_of_the_event(project: Path, tmp_path: Path) -> None:
    file = configure(project, hooks={"PreToolUse": [{"command": "pwd >&2; exit 2", "cwd": "event"}]})

    outcome = Hooks.load(file).fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(tmp_path))

    assert outcome.reason == str(tmp_path)


IN_LINE = "import json, sys; sys.exit(2 if json.load(sys.stdin) else 0)"


@pytest.mark.parametrize(
    "guard",
    [
        {"command": f"python3 -c '{IN_LINE}'"},
        {"command": f"cat | {sys.executable} -S -c '{IN_LINE}'"},
        {"type": "command", "handler": [sys.executable, "-c", IN_LINE]},
    ],
)
def test_a_module_that_an_agent_writes_is_not_imported_by_a_guard_in_line(project: Path, guard: dict[str, Any]) -> None:
    file = configure(project, hooks={"PreToolUse": [{**guard, "onError": "abort"}]})
    (project / "json.py").write_text("raise SystemExit(0)\n")

    outcome = Hooks.load(file).fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(project))

    assert outcome.denied


# What is still open.


def judged(rule: str, project: Path, tool: str, **given: Any) -> bool:
    condition = compile_condition(rule)
    assert condition is not None
    return condition({"tool_name": tool, "tool_input": given, "cwd": str(project)})


def test_a_rule_that_denies_holds_for_a_link_to_what_it_means(project: Path) -> None:
    (project / "keys").mkdir()
    (project / "notes").symlink_to("keys")

    assert judged("Write(keys/**)", project, "Write", file_path="notes/new")


def test_a_rule_that_allows_a_domain_does_not_cover_an_address_that_others_read_differently(project: Path) -> None:
    condition = compile_condition("WebFetch(domain:good.example)")
    url = "https://evil.example\\@good.example/"  # whoever reads it as a browser does goes to evil.example

    assert condition is not None
    assert not condition.covers({"tool_name": "WebFetch", "tool_input": {"url": url}, "cwd": str(project)})


@pytest.mark.parametrize(
    "url", ["https://evil.example./", "evil.example/?x=//", "https://\uff45vil.example/", "https:\\\\evil.example/"]
)
def test_a_rule_that_denies_a_domain_holds_however_it_is_written(project: Path, url: str) -> None:
    assert judged("WebFetch(domain:evil.example)", project, "WebFetch", url=url)


@pytest.mark.parametrize("wrapper", ["flock x", "watch", "strace", "unshare", "taskset 1", "chroot /", "systemd-run"])
def test_a_rule_that_denies_holds_behind_a_command_that_runs_others(project: Path, wrapper: str) -> None:
    assert judged("Bash(rm -rf *)", project, "Bash", command=f"{wrapper} rm -rf /")


def test_a_name_that_a_model_chooses_does_not_drop_a_guard() -> None:
    override = {"id": "deployer", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": []}}}}
    guard = {"command": "exit 2", "onError": "abort"}
    hooks = Hooks.from_mapping({"hooks": {"PreToolUse": [guard]}, "agents": [override]})

    async def loop(session: Any, config: Any) -> bool:
        return bool((await session.tool("Bash", {"command": "rm -rf /"}, lambda _: "done")).ok)

    async def main() -> Any:
        async with hooks.session() as session:
            return (await session.spawn("deployer", loop)).content

    assert asyncio.run(main()) is False


def fired(hooks: Hooks) -> Outcome:
    return hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "rm"})


@pytest.mark.parametrize("kind", ["command", "python"])
def test_a_guard_that_is_changed_after_it_was_loaded_does_not_let_through(project: Path, kind: str) -> None:
    python = {"handler": f"guard_{os.getpid()}.check", "onError": "abort"}
    file = configure(project, hooks={"PreToolUse": [NO_BASH if kind == "command" else python]})
    module = file.parent / f"guard_{os.getpid()}.py"
    module.write_text("def check(event):\n    return {'decision': 'deny'}\n")
    trust(project / ".interpose" / "hooks.yaml")
    hooks = Hooks.discover(project)
    if not [hook for hook in hooks if hook.event == "PreToolUse"]:
        pytest.fail("the guard is not armed", pytrace=False)

    module.write_text("def check(event):\n    return None\n")
    (file.parent / "guard.sh").write_text("#!/bin/sh\n")
    outcome = fired(hooks)
    hooks.close()

    assert outcome.denied


def test_what_a_command_of_the_agent_leaves_behind_in_a_session_of_its_own_is_ended(project: Path) -> None:
    call(
        workplace(project), "Bash", command="setsid sh -c 'echo $$ > pid; exec sleep 60' & until [ -s pid ]; do :; done"
    )

    assert not Path("/proc", (project / "pid").read_text().strip()).exists()
