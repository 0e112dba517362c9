"""Commands of odd hosts: without standard streams, in another locale, as process 1, without a temporary directory."""

import sys
from pathlib import Path

import pytest
from tests.faults.commands import (
    Host,
    on_both_hosts,
)
from tests.faults.hosts import environment, program

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


@pytest.mark.parametrize("closed", ["0", "1", "2", "01", "12", "02", "012"])
def test_a_host_without_standard_streams_runs_commands(closed: str, tmp_path: Path) -> None:
    """Faults 37, 232: what it opens gets their numbers, and the command its own streams all the same."""
    ended = program(f"""
        import os, sys
        from interpose import Hooks

        for number in map(int, {closed!r}):
            os.close(number)
        hooks = Hooks()
        hooks.register("PreToolUse", command='''cat > "{tmp_path}/seen"; echo no >&2; exit 2''', timeout=5)
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")
        with open("{tmp_path}/outcome", "w") as file:
            print(outcome.decision, outcome.reason, file=file)
        os._exit(0)
    """)

    assert (tmp_path / "outcome").read_text() == "deny no\n", ended.stderr
    assert (tmp_path / "seen").read_text().startswith("{")


@pytest.mark.parametrize("flags", [["-O"], ["-OO", "-I", "-S"], ["-X", "dev"]], ids=" ".join)
def test_flags_of_the_interpreter_change_nothing(flags: list[str]) -> None:
    """Fault 239: no assertion carries logic, nothing is needed from site-packages."""
    where = environment()["PYTHONPATH"]
    ended = program(
        f"""
        import sys
        sys.path.insert(0, {where!r})
        from interpose import Hooks

        hooks = Hooks()
        hooks.register("PreToolUse", command="echo no >&2; exit 2", timeout=5)
        print(hooks.fire_sync("PreToolUse", tool_name="Bash").reason)
        """,
        *flags,
    )

    assert ended.stdout == "no\n", ended.stderr
    assert not ended.stderr


def test_a_host_in_a_locale_without_unicode_runs_commands_with_unicode() -> None:
    """Fault 241: what goes out is UTF-8, whatever the host's terminal has."""
    ended = program(
        r"""
        import sys
        from interpose import Hooks

        assert sys.getfilesystemencoding() != "utf-8"
        for what in ({"command": "printf %s 'caf\u00e9' >&2; exit 2"},
                     {"handler": ["/bin/sh", "-c", 'printf %s "$1" >&2; exit 2', "sh", "caf\u00e9"]},
                     {"command": 'printf %s "$WORD" >&2; exit 2', "env": {"WORD": "caf\u00e9"}},
                     {"command": 'printf %s "$INTERPOSE_TOOL_NAME" >&2; exit 2'}):
            hooks = Hooks()
            hooks.register("PreToolUse", what.pop("handler", None), type="command", timeout=5, **what)
            print(ascii(hooks.fire_sync("PreToolUse", tool_name="caf\u00e9").reason))
        """,
        env={
            "LC_ALL": "C",
            "PYTHONIOENCODING": "ascii",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONUTF8": "0",
        },
    )

    assert ended.stdout.split() == [r"'caf\xe9'"] * 4, ended.stderr


def test_a_host_that_is_process_1_leaves_no_zombie_of_its_hooks(tmp_path: Path) -> None:
    """Fault 237: what hooks leave behind becomes its child, and nobody else takes it."""
    import subprocess

    namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs unshare and the right to make a PID namespace")
    text = """
import os
from interpose import Hooks

assert os.getpid() == 1
other = os.posix_spawnp("sh", ["sh", "-c", "exit 7"], {"PATH": os.environ["PATH"]})
hooks = Hooks()
hooks.register("PreToolUse", command="sleep 0.01 & sleep 30 & exit 2", timeout=5)
print(hooks.fire_sync("PreToolUse", tool_name="Bash").decision, hooks.fire_sync("PreToolUse").decision)
print(os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]))
"""
    ended = subprocess.run(
        [*namespace, sys.executable, "-c", text], env=environment(), capture_output=True, text=True, timeout=20, check=False
    )  # fmt: skip

    assert ended.stdout.split() == ["deny", "deny", "7"], ended.stderr


@on_both_hosts
@pytest.mark.parametrize("what", ["a missing directory", "a file"])
def test_no_temporary_directory_is_needed(
    host: Host, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 235, 236: nor a home that can be written to."""
    there = tmp_path / "there"
    if what == "a file":
        there.touch()
    for name in ("TMPDIR", "TEMP", "TMP", "HOME"):
        monkeypatch.setenv(name, str(there))

    assert host.outcome("exit 2").denied
