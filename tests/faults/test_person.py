"""An agent that wants to trust a file itself: what it tries from its shell, with the programs that are there."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.terminals import COMMAND, Terminal

from interpose.person.evidence import agent_above
from interpose.person.processes import PsProcesses, read_processes

pytestmark = [pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"), pytest.mark.slow]

BIN = Path(sys.executable).parent
PATIENCE = 60.0
LONGEST_TEST = 2 * PATIENCE

HOST = """
import subprocess, sys
from interpose import Hooks

with Hooks().session_sync():
    subprocess.run(["bash", "-c", sys.argv[1]], stdin=subprocess.DEVNULL, start_new_session=True)
"""

TYPIST = """
import os, pty, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "-i"])
os.write(master, b"sh attack.sh; exit\\n")
try:
    while os.read(master, 4096):
        pass
except OSError:
    pass
"""

CLIENT = """
import os, pty
pid, master = pty.fork()
if pid == 0:
    os.execvp("tmux", ["tmux", "-S", "socket", "attach"])
os.write(master, b" ")
try:
    while os.read(master, 4096):
        pass
except OSError:
    pass
"""

HIDDEN = """
import ctypes, os, pty
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: nobody may look into this process
pid, master = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "attack.sh"])
try:
    while os.read(master, 4096):
        pass
except OSError:
    pass
"""

ANOTHER_TERMINAL = """
import os, pty, subprocess
ours, theirs = os.openpty()
os.write(ours, b"y\\ny\\n")
subprocess.run(["sh", "attack.sh"], stdin=theirs)
"""

CLEAN = 'env -i PATH="$PATH" HOME="$HOME"'

ATTACKS = {
    "the command": "sh attack.sh",
    "a yes on standard input": "yes | sh attack.sh",
    "a terminal of script": "script -qec 'sh attack.sh' /dev/null",
    "a terminal of Python": f'{sys.executable} -c \'import pty; pty.spawn(["sh", "attack.sh"])\'',
    "standard input from another terminal": f"{sys.executable} another.py",
    "script, left behind": "setsid -f script -qec 'sh attack.sh' /dev/null >/dev/null",
    "script, left behind, without variables": f"{CLEAN} setsid -f script -qec 'sh attack.sh' /dev/null >/dev/null",
    "script, left behind below a shell": f"({CLEAN} setsid sh -c \"script -qec 'sh attack.sh' /dev/null; :\" >/dev/null &)",
    "an interactive shell, left behind": f"{CLEAN} setsid -f {sys.executable} typist.py",
    "a program that cannot be looked into": f"{CLEAN} setsid -f {sys.executable} hidden.py",
    "a copy of script that is called xterm": (
        f"cp $(command -v script) xterm; {CLEAN} setsid -f ./xterm -qec 'bash typed.sh' /dev/null >/dev/null"
    ),
    "a window of tmux": f"{CLEAN} tmux -S socket -f /dev/null new -d 'sh attack.sh'",
    "keys that are sent to tmux": (
        f"{CLEAN} SHELL=$(command -v bash) tmux -S socket -f /dev/null new -d 'bash --norc -i'; "
        "tmux -S socket send-keys 'sh attack.sh; exit' Enter"
    ),
    "a client of tmux, left behind": (
        f"{CLEAN} tmux -S socket -f /dev/null new -d 'bash --norc -i'; "
        f"{CLEAN} TERM=xterm setsid -f {sys.executable} client.py; "
        "until tmux -S socket list-clients | grep -q .; do sleep 0.05; done; "
        "tmux -S socket send-keys 'sh attack.sh; exit' Enter"
    ),
    "a namespace": "script -qec 'unshare -Urpf --mount-proc sh attack.sh' /dev/null",
}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project with a file that is not trusted, and the programs of an agent that wants it to be."""
    folder = tmp_path / "project"
    (folder / ".interpose").mkdir(parents=True)
    (folder / ".interpose" / "hooks.yaml").write_text("hooks: {Stop: [{name: trace, command: 'true'}]}\n")
    (folder / "attack.sh").write_text("interpose trust --yes > said 2>&1\necho $? > ended; mv ended done\n")
    (folder / "typed.sh").write_text("set -m\nsh attack.sh\n")
    for name, text in {
        "typist.py": TYPIST,
        "client.py": CLIENT,
        "hidden.py": HIDDEN,
        "another.py": ANOTHER_TERMINAL,
    }.items():
        (folder / name).write_text(text)
    yield folder
    if (folder / "socket").exists():
        subprocess.run(["tmux", "-S", "socket", "kill-server"], cwd=folder, check=False, capture_output=True)


def environment(project: Path, **variables: str) -> dict[str, str]:
    return {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(project.parent), "LANG": "C.UTF-8", **variables}


def until_there(path: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} is not there"
        time.sleep(0.02)
    return path.read_text()


def trusted(project: Path) -> list[str]:
    path = project.parent / ".local" / "state" / "interpose" / "trust.json"
    return list(json.loads(path.read_text())) if path.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_agent_cannot_trust_a_file_with(attack: str, project: Path) -> None:
    for program in ("script", "setsid", "tmux", "unshare"):
        if f"{program} -" in attack and shutil.which(program) is None:
            pytest.skip(f"there is no {program}")
    if "unshare" in attack and subprocess.run(["unshare", "-Urpf", "--mount-proc", "true"], check=False).returncode:
        pytest.skip("there are no namespaces")

    subprocess.run(
        [sys.executable, "-c", HOST, attack], cwd=project, env=environment(project), check=True, timeout=PATIENCE
    )

    assert until_there(project / "done") == "1\n"
    assert (
        "interpose trust: trusting a file takes a person, and no person has started this command: "
        in (project / "said").read_text()
    )
    assert trusted(project) == []


IN_THIS_TERMINAL = """
import os, sys
from interpose.cli import main
from interpose.person import evidence

evidence.TERMINALS |= {os.path.basename(os.path.realpath(sys.executable))}
sys.argv[0] = "interpose"
sys.exit(main())
"""
"""The command, for which the program that runs this test is a terminal of a person."""

CALLER = """
import subprocess, sys
from pathlib import Path

event = '{"hook_event_name": "Stop"}'
fired = subprocess.run(["sh", "-c", "interpose fire Stop --reply claude"], input=event, text=True, start_new_session=True)
Path("fired").write_text(str(fired.returncode))
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


@pytest.fixture
def window(project: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A shell in a terminal whose other end is this test."""
    monkeypatch.setenv("HOME", str(project.parent))  # other tests may have called hooks, which this home does not know
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    processes = read_processes()
    if processes is not None and (agent := agent_above(processes)):
        pytest.skip(f"these tests run below an agent: {agent}")
    (project / "here.py").write_text(IN_THIS_TERMINAL)
    (project / "caller.py").write_text(CALLER)
    words = ("--norc", "--noprofile", "-i")
    told = environment(project, TERM="dumb", PS1="$ ")
    return Terminal(*words, environment=told, cwd=project, program=shutil.which("bash") or "bash")


def test_a_person_trusts_at_a_shell_and_what_was_typed_before_the_question_is_no_answer(
    project: Path, window: Terminal
) -> None:
    with window as terminal:
        terminal.until("$ ")
        terminal.type(f"{sys.executable} here.py trust; echo status=$?\n")
        terminal.until("[y/N] ")
        terminal.type("y\n")
        terminal.until("status=0")

        terminal.type("echo '# more' >> .interpose/hooks.yaml\n")
        terminal.type(f"{sys.executable} here.py trust; echo again=$?\ny\n")
        terminal.until("[y/N] ")
        terminal.type("\n")
        terminal.until("again=1")

    assert trusted(project) == [str(project / ".interpose" / "hooks.yaml")]


def test_what_runs_below_a_host_of_hooks_is_no_person_and_its_shell_still_is(project: Path, window: Terminal) -> None:
    trust = f"{sys.executable} here.py trust --yes"

    with window as terminal:
        terminal.until("$ ")
        terminal.type(f"{sys.executable} caller.py {trust}; echo status=$?\n")
        terminal.until("takes a person, and no person has started this command: it runs below an agent: ")
        terminal.until("has called hooks")
        terminal.until("status=1")
        assert trusted(project) == []

        terminal.type(f"{trust}; echo again=$?\n")
        terminal.until("again=0")

    assert (project / "fired").read_text() in ("0", "1")  # at Stop a refusal is 1
    assert trusted(project) == [str(project / ".interpose" / "hooks.yaml")]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
def test_a_person_in_tmux_trusts_in_the_session_that_is_seen_and_in_no_other(project: Path, window: Terminal) -> None:
    trust = f"{sys.executable} here.py trust --yes"
    (project / "unseen.sh").write_text(f"set -m; {trust} > said 2>&1; echo > done\n")

    with window as terminal:
        terminal.until("$ ")
        terminal.type("TERM=xterm tmux -S socket -f /dev/null new 'bash --norc --noprofile -i'\n")
        terminal.until("bash-")  # the prompt
        terminal.type("tmux -S socket new -d 'bash unseen.sh'\n")
        until_there(project / "done")
        terminal.type(f"{trust} > seen 2>&1; mv seen done.seen; exit\n")
        seen = until_there(project / "done.seen")
        terminal.until("[exited]")

    assert "a person does not see this terminal of tmux" in (project / "said").read_text()
    assert "no client is attached" in (project / "said").read_text()
    assert "trusted  " in seen


def test_the_tools_of_our_own_agent_are_no_person(project: Path, window: Terminal) -> None:
    line = f"script -qec '{sys.executable} here.py trust --yes' /dev/null > said 2>&1; echo > done"
    turns = [{"call": {"Bash": {"command": line}}}, {"say": "Done."}]
    (project / "turns.yaml").write_text(yaml.safe_dump({"turns": turns}))
    (project / "none.yaml").write_text("hooks: {}\n")

    with window as terminal:
        terminal.until("$ ")
        terminal.type("interpose run -c none.yaml -m scripted:turns.yaml --mode bypass Go; echo status=$?\n")
        terminal.until("status=0")

    assert "it runs below an agent: " in (project / "said").read_text()
    assert "has called hooks" in (project / "said").read_text()
    assert trusted(project) == []


def test_a_call_is_denied_where_no_person_can_answer(project: Path) -> None:
    (project / "turns.yaml").write_text(
        yaml.safe_dump({"turns": [{"call": {"Bash": {"command": "echo > made"}}}, {"say": "Done."}]})
    )
    (project / "none.yaml").write_text("hooks: {}\n")
    words = ("run", "-c", "none.yaml", "-m", "scripted:turns.yaml", "--plain", "Go")

    with Terminal(*words, environment=environment(project), cwd=project, program=COMMAND) as terminal:
        terminal.type("y\ny\n")
        assert terminal.wait() == 0

    assert (
        "calls that need a yes are denied, since a yes takes a person, and no person has started this command: its terminal is that of"
        in terminal.seen
    )
    assert not (project / "made").exists()


@pytest.mark.parametrize(
    ("words", "act"),
    [
        (("trust", "--forget", ".interpose/hooks.yaml"), "revoking trust"),
        (("disable", "trace"), "switching a hook off"),
        (("enable", "trace"), "switching a hook on"),
        (("policies", "accept", "--all"), "accepting changed tools"),
    ],
)
def test_other_acts_take_a_person_too(project: Path, words: tuple[str, ...], act: str) -> None:
    done = subprocess.run([COMMAND, *words], cwd=project, env=environment(project), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=PATIENCE)  # fmt: skip

    assert done.returncode == 1
    assert f"{act} takes a person, and no person has started this command: " in done.stderr
    assert not (project.parent / ".local" / "state" / "interpose" / "switches.json").exists()


def test_ps_says_the_same_about_the_processes_above() -> None:
    by_ps, by_proc = PsProcesses.read(), read_processes()
    if by_ps is None:
        pytest.skip("there is no ps")
    assert by_proc is not None

    own = (by_ps.get(os.getpid()), by_proc.get(os.getpid()))

    facts = [
        (one.pid, one.parent, one.group, one.session, one.terminal, one.is_foreground) for one in own if one is not None
    ]
    assert facts[0] == facts[1]
    assert [one.pid for one in by_ps.chain(own[0])] == [one.pid for one in by_proc.chain(own[1])]  # type: ignore[arg-type]
