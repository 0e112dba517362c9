"""The command line as a whole: what is loaded, how it ends, and that its tables agree."""

import builtins
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interpose.cli import main
from interpose.cli.app import load
from interpose.cli.commands import COMMANDS, GROUPS
from interpose.cli.fire import OPTIONS
from interpose.dialects.agents import AGENTS, agent_dialect
from interpose.dialects.agents.contract import HookExit

DENIES = "hooks: {Setup: [{type: script, handler: /context x}], PreCompact: [{type: script, handler: /deny no}]}\n"
CLEAN = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@pytest.fixture
def config(tmp_path):
    (tmp_path / "guards.py").write_text("def look(event):\n    return {'decision': 'deny', 'reason': 'no'}\n")
    return write(
        tmp_path / "hooks.yaml",
        "hooks:\n  Stop:\n    - {handler: guards.look}\n  PreToolUse:\n    - {handler: guards.look}\n",
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_line_of_the_table_names_a_function(command):
    assert callable(load(command))
    assert not hasattr(builtins, command.place.partition(":")[0])
    assert command.group in GROUPS
    assert command.purpose.endswith(".")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_a_help(command, capsys):
    assert main([command.name, "--help"]) == 0

    assert command.purpose in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("word", ["-h", "--help"])
@pytest.mark.parametrize("option", ["--tool", "--agent", "--tool-input"])
def test_the_value_of_an_option_is_no_question_for_help(option, word, tmp_path, capsys):
    file = tmp_path / "hooks.yaml"
    file.write_text("hooks: {PreToolUse: [{type: script, handler: /deny no}]}")

    status = main(["fire", "PreToolUse", "-c", str(file), option, word, "--input", "{}", "--reply", "native"])

    assert (status, "Usage" in capsys.readouterr().out) == (2, False)


def test_the_help_of_fire_knows_the_options_that_a_firing_reads():
    (fire,) = [command for command in COMMANDS if command.name == "fire"]
    parameters = inspect.signature(load(fire), eval_str=True).parameters.values()
    options = [parameter.annotation.__metadata__[0] for parameter in parameters if parameter.name != "event"]
    told = [name for option in options for name in (option.default, *option.param_decls)]

    assert sorted(told) == sorted([*OPTIONS, "--json", "--require"])


def test_a_firing_loads_nothing_of_help_colour_yaml_and_schema(config, tmp_path):
    # The second time: the first has read the YAML and compiled it.
    environment = {**CLEAN, "HOME": str(tmp_path)}
    program = (
        "import sys\nfrom interpose.cli import main\n"
        f"main(['fire', 'PreToolUse', '--tool', 'Bash', '--json', '-c', {config!r}])\n"
        "print(*sorted(name.partition('.')[0] for name in sys.modules), file=sys.stderr)"
    )
    subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)

    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout)["decision"] == "deny"
    loaded = set(done.stderr.split())
    assert loaded & {"typer", "rich", "click", "yaml", "jsonschema", "asyncio", "argparse", "subprocess"} == set()


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_the_help_teaches(arguments, capsys):
    assert main(arguments) == 0

    said = capsys.readouterr().out
    assert all(f"\n{group}\n" in said for group in GROUPS)
    assert all(f"\n  {command.name:<9}  {command.purpose}\n" in said for command in COMMANDS)


def test_the_help_aligns_the_purposes_of_all_commands(capsys):
    assert main(["--help"]) == 0

    lines = capsys.readouterr().out.splitlines()
    begins = {line.index(command.purpose) for command in COMMANDS for line in lines if line.endswith(command.purpose)}
    assert len(begins) == 1


def test_ctrl_c_ends_with_130_and_without_a_word(monkeypatch, capsys):
    def interrupted(given):
        raise KeyboardInterrupt

    monkeypatch.setattr("interpose.cli.app.run", interrupted)

    assert main(["list"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("event", "status"), [("PreToolUse", 2), ("Stop", 1), ("SubagentStop", 1), ("", 2)])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("broken"), MemoryError()])
def test_as_a_hook_whatever_breaks_denies_and_keeps_no_agent_going(error, event, status, monkeypatch, capsys):
    def broken(given):
        raise error

    monkeypatch.setattr("interpose.cli.fire.hook.read_payload", broken)

    assert main(["fire", *filter(None, [event]), "--reply=claude"]) == status
    said = capsys.readouterr()
    assert said.out == ""
    assert type(error).__name__ in said.err


@pytest.mark.parametrize("agent", AGENTS)
def test_what_breaks_inside_is_a_deny_in_the_words_of_every_agent(agent, monkeypatch, capsys):
    def broken(given):
        raise MemoryError("no more")

    monkeypatch.setattr("interpose.cli.fire.hook.read_payload", broken)
    dialect = agent_dialect(agent)
    own = next(own for own, ours in dialect.EVENTS.items() if ours == "PreToolUse")

    status = main(["fire", own, "--reply", agent])

    said = capsys.readouterr()
    assert not dialect.predict(own, HookExit(said.out, said.err, status)).tool_ran


def test_a_reader_who_goes_away_is_no_error_and_changes_no_status(config, tmp_path):
    command = f"{sys.executable} -c 'import sys; from interpose.cli import main; sys.exit(main())'"
    piped = f"{command} fire PreToolUse --tool x --json -c {config} | true; {command} events | true"

    done = subprocess.run(["bash", "-c", f"set -o pipefail; {piped}"], env={**CLEAN, "HOME": str(tmp_path)},
                          capture_output=True, text=True, check=False)  # fmt: skip

    assert done.stderr == ""


@pytest.mark.parametrize(("event", "status"), [("PreToolUse", 2), ("Stop", 1)])
def test_a_reply_that_nobody_can_read_denies_and_keeps_no_agent_going(event, status, tmp_path):
    config = tmp_path / "always.yaml"
    config.write_text(f"hooks: {{{event}: [{{type: script, handler: '/deny no'}}]}}\n")
    program = "import sys; from interpose.cli import main; sys.exit(main())"
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "-c", program, "fire", "--reply", "claude", "-c", str(config)], stdout=writer,
        input=b'{"hook_event_name": "%s", "tool_name": "x"}' % event.encode(), stderr=subprocess.PIPE, env={**CLEAN, "HOME": str(tmp_path)}, check=False,
    )  # fmt: skip
    os.close(writer)

    assert done.returncode == status


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirection", "reason"), [(">&-", "it is closed"), ("> /dev/full", "No space left on device")]
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("arguments", "status", "decision"),
    [
        ("list -c {config}", 1, ""),
        ("events --json", 1, ""),
        ("fire PreCompact -c {config}", 2, "; PreCompact is denied: no"),
        ("fire PreCompact --json -c {config}", 2, "; PreCompact is denied: no"),
        ("fire PreCompact --reply claude --input '{{}}' -c {config}", 2, "; PreCompact is denied: no"),
        ("fire PreCompact --reply native --input '{{}}' -c {config}", 2, "; PreCompact is denied: no"),
        ("fire SessionEnd -c {config}", 1, ""),
    ],
)
def test_output_that_cannot_be_written_is_one_line_on_stderr_and_a_deny_stays_a_deny(
    config, tmp_path, redirection, reason, unbuffered, arguments, status, decision
):
    if "full" in redirection and not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    Path(config).write_text(DENIES)
    command = f"{Path(sys.executable).parent / 'interpose'} {arguments.format(config=config)} {redirection}"

    done = subprocess.run(
        ["sh", "-c", command], env={**CLEAN, "HOME": str(tmp_path), "PYTHONUNBUFFERED": unbuffered},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    told = f"interpose: standard output cannot be written: {reason}{decision}\n"
    assert (done.returncode, done.stderr) == (status, told)


INTERPOSE = Path(sys.executable).parent / "interpose"
COMMAND_LINES = [
    "check -c {config}",
    "log --store {store}",
    "explain PreCompact -c {config}",
    "schema",
    "trust --list",
    "run -c {config} -m scripted:{turns} hello",
]  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return what the lines above name: a configuration, an audit store with a record, and turns of a model."""
    folder = tmp_path_factory.mktemp("recorded")
    config = write(folder / "hooks.yaml", f"audit: {{path: audit.db}}\n{DENIES}")
    turns = write(folder / "turns.yaml", "turns: [{say: hi}]\n")
    subprocess.run([INTERPOSE, "fire", "PreCompact", "-c", config], env={**CLEAN, "HOME": str(folder)}, cwd=folder,
                   capture_output=True, check=False)  # fmt: skip
    return {"config": config, "turns": turns, "store": str(folder / "audit.db")}


def all_of(lines, redirection, recorded, home):
    """Run command lines side by side; return the exit status and standard error of each."""
    env = {**CLEAN, "HOME": str(home)}
    running = {
        line: subprocess.Popen(
            ["bash", "-c", f"set -o pipefail; {INTERPOSE} {line.format(**recorded)} {redirection}"], env=env, cwd=home,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) for line in lines
    }  # fmt: skip
    return {line: (process.communicate()[1], process.returncode) for line, process in running.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirection", "reason"), [(">&-", "it is closed"), ("> /dev/full", "No space left on device")]
)
def test_every_command_says_that_its_output_is_lost(recorded, tmp_path, redirection, reason):
    if "full" in redirection and not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")

    ended = all_of(COMMAND_LINES, redirection, recorded, tmp_path)

    told = f"interpose: standard output cannot be written: {reason}\n"
    assert ended == dict.fromkeys(COMMAND_LINES, (told, 1))


@pytest.mark.slow
def test_a_command_whose_reader_goes_away_ends_without_a_word(recorded, tmp_path):
    ended = all_of(COMMAND_LINES, "| head -1", recorded, tmp_path)

    assert {line: told for line, (told, status) in ended.items()} == dict.fromkeys(COMMAND_LINES, "")
    assert {status for _, status in ended.values()} <= {0, 1}


def test_a_command_that_is_done_keeps_its_status_although_its_reader_is_gone(tmp_path):
    config = write(tmp_path / "hooks.yaml", "hooks: {Nowhere: []}\n")

    ended = all_of([f"check --json -c {config}", "--version"], "| true", {}, tmp_path)

    assert [status for _, status in ended.values()] == [1, 0]


FIRINGS = [
    "fire PreCompact -c {config}", "fire PreCompact --json -c {config}",
    "fire PreCompact --reply claude --input '{{}}' -c {config}", "fire PreCompact --reply native --input '{{}}' -c {config}",
    "fire --reply claude -c {config}", "fire PreCompact --reply claude --no-such-option -c {config}",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "redirection",
    ["> /dev/full 2> /dev/full", "> /dev/full 2>&-", "<&- >&- 2>&-", "| true", "<&-"],
)
def test_a_deny_that_cannot_be_told_anywhere_is_still_a_deny(recorded, tmp_path, redirection):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")

    ended = all_of(FIRINGS, redirection, recorded, tmp_path)

    assert {line: status for line, (_, status) in ended.items()} == dict.fromkeys(FIRINGS, 2)


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["> /dev/full 2> /dev/full", "> /dev/full 2>&-"])
def test_a_command_that_can_write_nowhere_ends_with_1(recorded, tmp_path, redirection):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    lines = ["list -c {config}", "trust", "nonsense", "--help"]

    assert {status for _, status in all_of(lines, redirection, recorded, tmp_path).values()} == {1}


def test_a_closed_standard_input_is_an_empty_one(recorded, tmp_path):
    lines = [
        "run -c {config} -m scripted:{turns} hello",
        "fire PreCompact -c {config}",
        "fire Setup --input - -c {config}",
    ]

    ended = all_of(lines, "<&-", recorded, tmp_path)

    assert list(ended.values()) == [
        ("", 0), ("", 2), ("interpose fire: standard input is empty (one JSON object is expected)\n", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_only_where_somebody_looks(variables, coloured, monkeypatch, capsys):
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    main(["events"])

    assert ("\x1b[" in capsys.readouterr().out) is coloured


def test_what_a_hook_says_cannot_write_to_the_terminal(tmp_path, capsys):
    (tmp_path / "escapes.py").write_text("def say(event):\n    return {'systemMessage': 'a\\x1b[2Jb'}\n")
    path = write(tmp_path / "hooks.yaml", "hooks:\n  Stop:\n    - {handler: escapes.say}\n")

    main(["fire", "Stop", "-c", path])

    assert "  context: ab\n" in capsys.readouterr().out


def test_a_terminal_that_lacks_a_letter_still_tells_yes_from_no(config, tmp_path):
    environment = {"PATH": CLEAN["PATH"], "HOME": str(tmp_path), "PYTHONIOENCODING": "ascii"}

    done = subprocess.run(
        [Path(sys.executable).parent / "interpose", "explain", "PreToolUse", "-c", config, "--tool", "Bash"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "   + enabled  switched on\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["log", "--limt", "3"], "did you mean --limit?"),
        (["log", "verify", "--ky", "x"], "did you mean --key?"),
        (["list", "--hlep"], "did you mean --help?"),
        (["log", "--last"], "`interpose log --help`"),  # --store is no more alike than its two dashes
        (["list", "-q"], "`interpose list --help`"),
    ],
)
def test_an_option_that_there_is_not_gets_a_hint_if_one_is_spelt_alike(words, hint, capsys):
    assert main(words) == 1

    assert capsys.readouterr().err.endswith(f" ({hint})\n")
