"""A misspelt option is found before the program runs, by a type checker, and at the latest when it runs."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from mypy import api

from interpose import BadHook, Hooks, InterposeError, Session, SyncSession

HEAD = """\
from interpose import Hooks, Question, Reply, deny
hooks = Hooks()
def guard(event: object) -> Reply: return deny("no")
def person(question: Question) -> bool: return False
"""

RIGHT = [
    'hooks.register("PreToolUse", guard, matcher="Bash", priority=10, timeout=1.5, on_error="abort")',
    'hooks.register("PreToolUse", command="./guard.sh", env={"A": "b"}, pass_env=["PATH"], warm=True)',
    'hooks.register("PreToolUse", guard, name=None, matcher=None, timeout=None, isolate="process")',
    'hooks.on("PreToolUse", matcher="Bash", enforce=False, parallel=True)(guard)',
    'hooks.on("PreToolUse")(guard)("an event").reason.upper()',
    'Hooks(session_id="s", enforce=False, default_timeout=2.5, max_hooks_per_point=5)',
    'Hooks.load("hooks.yaml", "more.yaml", watch=True, audit=False, total_timeout=9)',
    'Hooks.discover(".", dialect="claude", error_behavior="abort")',
    'Hooks.from_mapping({}, timeout_ceiling=3.0)',
    "hooks.session(approver=person)",
    "hooks.session_sync(approver=person)",
    'hooks.sessions().get_sync("alice", approver=person).begin_tool("Bash", {}, id="1").said("done")',
    'hooks.session_sync().begin_agent("reviewer", config={}).session',
]  # fmt: skip

WRONG = {
    'hooks.register("PreToolUse", guard, mather="Bash")': '"mather"',
    'hooks.register("PreToolUse", guard, priorty=10)': '"priorty"',
    'hooks.register("PreToolUse", guard, priority="high")': '"priority"',
    'hooks.register("PreToolUse", guard, timeout="5s")': '"timeout"',
    'hooks.register("PreToolUse", guard, enforce="yes")': '"enforce"',
    'hooks.register("PreToolUse", guard, on_error="abrot")': '"on_error"',
    'hooks.register("PreToolUse", command="x", isolation="tre")': '"isolation"',
    'Hooks(error_behavior="abrot")': '"error_behavior"',
    'hooks.register(5, guard)': 'expected "str"',
    'hooks.on("PreToolUse", mather="Bash")(guard)': '"mather"',
    'hooks.on("PreToolUse", parallel="yes")(guard)': '"parallel"',
    "hooks.on(guard)": 'expected "str"',
    "Hooks(enforced=False)": '"enforced"',
    'Hooks(default_timeout="5s")': '"default_timeout"',
    "Hooks(session_id=5)": '"session_id"',
    'Hooks.load("hooks.yaml", wach=True)': '"wach"',
    'Hooks.load("hooks.yaml", total_timout=9)': '"total_timout"',
    'Hooks.load("hooks.yaml", watch="yes")': '"watch"',
    "Hooks.load(5)": 'expected "str | PathLike[str]"',
    'Hooks.discover(".", enforc=False)': '"enforc"',
    "Hooks.from_mapping({}, enforc=False)": '"enforc"',
}  # fmt: skip

WRONG_IN_A_SESSION = {
    "hooks.session(aprover=person)": '"aprover"',
    "hooks.session_sync(aprover=person)": '"aprover"',
    'hooks.session(approver="yes")': '"approver"',
    'hooks.session(default="yes")': '"default"',
    'hooks.sessions().get_sync("alice", aprover=person)': '"aprover"',
    "hooks.session_sync().begin_tool(5, {})": 'expected "str"',
    'hooks.session_sync().begin_tool("Bash", {}, kind=5)': '"kind"',
    'hooks.session_sync().begin_message("hello", modle="m")': '"modle"',
    'hooks.session_sync().begin_agent("reviewer", confg={})': '"confg"',
    "hooks.session_sync().resume({}, inptu={})": '"inptu"',
}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What mypy says about each line."""
    folder: Path = tmp_path_factory.mktemp("typed")
    lines = [*RIGHT, *WRONG, *WRONG_IN_A_SESSION]
    (folder / "uses.py").write_text(HEAD + "\n".join(lines) + "\n")
    (folder / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n[mypy-opentelemetry.*]\nfollow_imports = skip\n")

    report, complaint, _ = api.run([
        str(folder / "uses.py"), "--strict", "--config-file", str(folder / "mypy.ini"),
        "--cache-dir", str(folder / "cache"), "--no-error-summary", "--hide-error-context",
    ])  # fmt: skip

    assert complaint == ""
    said = dict.fromkeys(lines, "")
    first = len(HEAD.splitlines()) + 1
    for line in report.splitlines():
        _, number, text = line.split(":", 2)
        said[lines[int(number) - first]] += text + "\n"
    return said


def unnoticed(errors: dict[str, str], wrong: dict[str, str]) -> list[str]:
    """The lines about which there is no error that names the option."""
    return [line for line, name in wrong.items() if " error: " not in errors[line] or name not in errors[line]]


@pytest.mark.slow
def test_the_options_that_there_are_pass(errors: dict[str, str]) -> None:
    assert {line: said for line, said in errors.items() if line in RIGHT and said} == {}


@pytest.mark.slow
def test_an_option_that_there_is_not_and_one_of_another_type_are_errors_that_name_it(errors: dict[str, str]) -> None:
    assert unnoticed(errors, WRONG) == []


@pytest.mark.slow
def test_so_are_those_of_a_session(errors: dict[str, str]) -> None:
    assert unnoticed(errors, WRONG_IN_A_SESSION) == []


# At run time.


def guard(event: Any) -> None:
    """A hook."""


def config(folder: Path, text: str) -> Path:
    file = folder / "hooks.yaml"
    file.write_text(text)
    return file


def test_an_event_is_added_as_a_row() -> None:
    hooks = Hooks()

    with pytest.raises(InterposeError) as raised:
        hooks.add_event("deploy")  # type: ignore[arg-type]

    assert str(raised.value) == "add_event() takes an EventSpec, not str (EventSpec(name, ...))"


def test_on_without_parentheses_says_how_it_is_written() -> None:
    hooks = Hooks()

    with pytest.raises(BadHook) as raised:
        hooks.on(guard)  # type: ignore[arg-type]

    assert str(raised.value) == '@hooks.on needs an event (write @hooks.on("PreToolUse"))'
    assert list(hooks) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mather": "Bash"}, "mather: no such option (did you mean matcher?)"),
        ({"priorty": 1}, "priorty: no such option (did you mean priority?)"),
        ({"onerror": "abort"}, "onerror: no such option (did you mean on_error?)"),
        ({"zzz": 1}, "zzz: no such option"),
    ],
)
def test_a_misspelt_option_of_a_hook_is_named_with_the_one_that_was_meant(options: dict[str, Any], told: str) -> None:
    hooks = Hooks()

    for add in (
        lambda: hooks.register("PreToolUse", guard, **options),
        lambda: hooks.on("PreToolUse", **options)(guard),
    ):
        with pytest.raises(BadHook) as raised:
            add()
        assert str(raised.value) == told
    assert list(hooks) == []


def test_a_misspelt_setting_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    file = config(tmp_path, "hooks: {}")
    makers: list[Any] = [
        Hooks,
        lambda **options: Hooks.load(file, **options),
        lambda **options: Hooks.from_mapping({}, **options),
        lambda **options: Hooks.discover(tmp_path, **options),
    ]

    for make in makers:
        with pytest.raises(InterposeError) as raised:
            make(enforced=False)
        assert str(raised.value) == "enforced: no such setting (did you mean enforce?)"


def test_hooks_say_what_is_in_them() -> None:
    hooks = Hooks()
    assert repr(hooks) == "<Hooks: 0 hooks>"

    hooks.register("PreToolUse", guard)
    assert repr(hooks) == "<Hooks: 1 hook at PreToolUse>"

    hooks.register("Stop", guard)
    hooks.register("PreToolUse", guard, name="another")
    assert repr(hooks) == "<Hooks: 3 hooks at PreToolUse, Stop>"


def test_hooks_say_which_files_they_are_from(tmp_path: Path) -> None:
    file = config(tmp_path, "hooks: {PreToolUse: [{command: 'true'}]}")

    assert repr(Hooks.load(file)) == f"<Hooks: 1 hook at PreToolUse, from {file}>"


def test_a_misspelt_option_of_a_session_is_named_with_the_one_that_was_meant() -> None:
    hooks = Hooks()

    for make in (hooks.session, hooks.session_sync):
        with pytest.raises(InterposeError, match=r"aprover: no such option \(did you mean approver\?\)"):
            make(aprover=lambda question: True)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["tool", "begin_tool", "begin_message", "begin_agent", "resume", "stop"])
def test_methods_that_block_show_the_parameters_of_those_that_are_awaited(name: str) -> None:
    awaited, blocking = (inspect.signature(getattr(kind, name)) for kind in (Session, SyncSession))

    assert blocking.parameters == awaited.parameters


def test_a_method_that_blocks_shows_the_blocking_class_that_it_returns() -> None:
    assert inspect.signature(SyncSession.begin_tool).return_annotation == "BlockingTool"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: Hooks(timeout=5),  # type: ignore[call-arg]
            "timeout: no such setting (default_timeout is for each hook, total_timeout for a whole firing)",
        ),
        (lambda: Hooks().session(permission_mode="plan"), "permission_mode: no such option (did you mean mode?)"),  # type: ignore[call-arg]
        (lambda: Hooks().session(permissions={}), "permissions: no such option (did you mean rules?)"),  # type: ignore[call-arg]
    ],
    ids=["timeout", "permission_mode", "permissions"],
)
def test_a_name_that_is_used_elsewhere_leads_to_the_option_of_this_place(make: Any, told: str) -> None:
    with pytest.raises(InterposeError) as raised:
        make()

    assert str(raised.value) == told
