"""Files that are found arm only after the person has said so, and what runs is what was trusted."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests.faults.hosts import program
from tests.faults.trusted_projects import DENY, GUARD, Project

from interpose import ConfigError, Hooks
from interpose.config.trust import trust

pytestmark = pytest.mark.usefixtures("home")


# 193, 194: nothing is armed that nobody has trusted.


def test_a_found_file_arms_nothing_until_it_is_trusted(project: Project) -> None:
    """Fault 193"""
    hooks = Hooks.discover(project.folder)

    assert list(hooks) == []
    assert [origin.trusted for origin in hooks.origins] == [False]
    (warning,) = hooks.warnings
    assert str(warning) == (
        f"{project.file}: found, but not trusted, so none of its hooks is armed "
        f"(look at it, then: interpose trust {project.file})"
    )
    assert hooks.fire_sync("PreToolUse", tool_name="Bash").allowed

    project.trust()

    assert Hooks.discover(project.folder).fire_sync("PreToolUse", tool_name="Bash").denied
    assert project.warnings == []


def test_the_persons_own_file_needs_their_word_too(home: Path, tmp_path: Path) -> None:
    """Fault 193: somebody else may have put it there."""
    file = home / ".config" / "interpose" / "hooks.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(GUARD)

    assert [str(problem).partition(":")[0] for problem in Hooks.discover(tmp_path).warnings] == [str(file)]


def test_an_untrusted_file_leaves_no_setting_permission_or_scope_behind(project: Project) -> None:
    """Fault 193"""
    project.file.write_text(
        "hooks: {enforce: false, errorBehavior: skip, timeout: 100, maxHooksPerPoint: 1}\n"
        "permissions: {shellExec: deny}\n"
        "agents: [{id: a, backend: {hooks: {PreToolUse: {override: true, hooks: []}}}}]\n"
    )
    hooks = Hooks.discover(project.folder)
    hooks.register("PreToolUse", lambda event: {"decision": "deny"}, name="one")
    hooks.register("PreToolUse", lambda event: None, name="two")

    assert hooks.settings == Hooks().settings
    assert hooks.fire_sync("PreToolUse", tool_name="Bash", agent_id="a").denied


def test_trusting_one_file_of_a_project_trusts_no_other(project: Project) -> None:
    """Fault 193"""
    project.trust()
    project.write(".interpose/hooks.local.yaml", GUARD.replace("guard", "local"))

    assert project.armed == ["guard"]
    assert len(project.warnings) == 1


def test_a_file_that_is_named_is_trusted_by_that(project: Project) -> None:
    """Fault 193"""
    assert [hook.name for hook in Hooks.load(project.file)] == ["guard"]
    assert project.armed == []


def test_claude_settings_that_are_found_wait_for_trust_too(project: Project) -> None:
    """Fault 193"""
    handler = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh'}
    settings = {"hooks": {"PreToolUse": [{"hooks": [handler]}]}}
    file = project.write(".claude/settings.json", json.dumps(settings))
    script = project.write(".claude/hooks/check.sh", "#!/bin/sh\nexit 2\n")
    script.chmod(0o755)

    assert list(Hooks.discover(project.folder, dialect="claude")) == []
    trust(file)
    hooks = Hooks.discover(project.folder, dialect="claude")
    assert [list(origin.references) for origin in hooks.origins] == [[str(script)]]

    script.write_text("exit 0\n")
    hooks = Hooks.discover(project.folder, dialect="claude", changed="keep")
    assert hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}).denied
    with pytest.raises(ConfigError, match=r"settings\.json: not as it was trusted: hooks/check\.sh is changed"):
        Hooks.discover(project.folder, dialect="claude")


@pytest.mark.parametrize("value", ["all", " all ", "x,all", "digest"])
def test_a_machine_without_a_person_trusts_by_its_environment(
    project: Project, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 194"""
    digest = project.review().digest
    monkeypatch.setenv("INTERPOSE_TRUST", f"{'0' * 64}, {digest} ,x" if value == "digest" else value)

    assert project.armed == ["guard"]

    project.file.write_text(GUARD + "# changed\n")
    assert project.armed == ([] if value == "digest" else ["guard"])


@pytest.mark.parametrize("value", ["", ",", "1", "true", "yes", "ALL", "none", "*", "sha256", "0" * 64])
def test_no_other_word_in_the_environment_trusts_anything(
    project: Project, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 194: there is no implicit trust in a run without a terminal."""
    (sha256,) = project.review().originals.values()
    monkeypatch.setenv("INTERPOSE_TRUST", sha256 if value == "sha256" else value)

    assert project.armed == []


@pytest.mark.parametrize(
    "text",
    [
        "trusted: true\n",
        "trust: all\n",
        "x-trust: all\n",
        "INTERPOSE_TRUST: all\n",
        "layer: user\n",
        "env: {INTERPOSE_TRUST: all}\n",
    ],
)
def test_a_file_cannot_declare_itself_trusted(project: Project, text: str) -> None:
    """Fault 195: at its top level such a key belongs to others, and says nothing to us."""
    project.file.write_text(text + GUARD)

    assert project.armed == []


@pytest.mark.parametrize(
    "key", ["trusted: true", "trust: all", "layer: code", "source: /etc/hooks.yaml", "found: false"]
)
def test_neither_can_a_setting_or_a_hook(project: Project, key: str) -> None:
    """Fault 195"""
    for text in (GUARD.replace("hooks:\n", f"hooks:\n  {key}\n"), GUARD.replace("name: guard", f"name: guard, {key}")):
        project.file.write_text(text)
        with pytest.raises(ConfigError):
            Hooks.discover(project.folder)


def test_a_project_cannot_bring_a_record_of_its_own(project: Project, record: Path) -> None:
    """Fault 195: wherever the host stands."""
    project.trust()
    text = record.read_text()
    record.unlink()
    for name in ("", ".interpose/", ".local/state/interpose/", "state/interpose/", "~/.local/state/interpose/"):
        project.write(f"{name}trust.json", text)

    assert project.armed == []


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "HOME"])
def test_a_home_that_depends_on_where_the_host_stands_is_none(
    project: Project, record: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 195: a relative path, or a ~ that nobody knows, would lead into the project."""
    project.trust()
    text = record.read_text()
    record.unlink()
    for name in (
        "state/interpose/trust.json",
        ".local/state/interpose/trust.json",
        "~/.local/state/interpose/trust.json",
    ):
        project.write(name, text)
    monkeypatch.chdir(project.folder)

    monkeypatch.setenv(variable, "state" if variable == "XDG_STATE_HOME" else ".")
    assert project.armed == []

    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # a user without a home, such as in a container
    assert project.armed == []


# 196, 201: a change has no effect until it is trusted, and is reported.

NAMED: dict[str, tuple[str, dict[str, str]]] = {
    "the file itself": ("command: 'exit 2'", {}),
    "a script": ("type: command, handler: ./check.sh", {"check.sh": "exit 2"}),
    "a Python script": ("type: command, handler: check.py --fast", {"check.py": "exit(2)"}),
    "a script as an argument": ("type: command, handler: python3 check.py", {"check.py": "exit(2)"}),
    "a script in a line for the shell": ("command: 'sh -e .interpose/check.sh'", {"check.sh": "exit 2"}),
    "a script after a semicolon": ("command: '(cd /;/bin/true)&&./.interpose/check.sh'", {"check.sh": "exit 2"}),
    "a script in a substitution": ("command: 'x=`.interpose/check.sh`; exit $x'", {"check.sh": "echo 2"}),
    "a file that is assigned": ("command: 'RULES=.interpose/rules; exit `cat $RULES`'", {"rules": "2"}),
    "a script by the project": ("command: '\"${CLAUDE_PROJECT_DIR}\"/.interpose/check.sh'", {"check.sh": "exit 2"}),
    "a script with args": ("command: sh, args: [.interpose/check.sh]", {"check.sh": "exit 2"}),
    "a module": ("handler: mine.check", {"mine.py": DENY}),
    "a module with a colon": ("handler: 'mine:check'", {"mine.py": DENY}),
    "a package": ("handler: mine.check", {"mine/__init__.py": DENY}),
    "a module of a package": ("handler: mine.rules.check", {"mine/rules.py": DENY, "mine/__init__.py": ""}),
    "a sibling in a package": ("handler: mine.rules.check", {"mine/words.py": DENY, "mine/rules.py": "from .words import check"}),
    "a sibling": ("handler: mine.check", {"words.py": DENY, "mine.py": "from words import check"}),
    "a module in a process": ("handler: mine.check, isolate: process", {"mine.py": DENY}),
}  # fmt: skip


@pytest.mark.parametrize("what", NAMED)
def test_a_change_of_what_runs_has_no_effect_until_it_is_trusted(project: Project, what: str) -> None:
    """Faults 193, 196, 201"""
    hook, files = NAMED[what]
    project.file.write_text(f"hooks:\n  PreToolUse:\n    - {{name: guard, {hook}}}\n")
    for name, text in files.items():
        project.write(f".interpose/{name}", f"#!/bin/sh\n{text}\n" if name.endswith(".sh") else text).chmod(0o755)
    path = project.folder / ".interpose" / next(iter(files), "hooks.yaml")
    project.trust()
    assert project.denies()

    before = path.read_text()
    path.write_text(before.replace("2", "0").replace("deny", "allow"))

    assert project.denies()
    assert project.changes() == {os.path.relpath(path, project.folder): "changed"}
    with pytest.raises(ConfigError, match="not as it was trusted"):
        Hooks.discover(project.folder)

    path.write_text(before)
    assert project.changes() == {}

    path.unlink()
    assert project.denies()
    assert project.changes() == {os.path.relpath(path, project.folder): "gone"}


def test_a_change_of_an_arma_file_has_no_effect_until_it_is_trusted(project: Project) -> None:
    """Fault 196"""
    script = project.write(".interpose/lines.arma", "hook PreToolUse /deny no\n")
    project.file.write_text("scripts: [lines.arma]\n")
    project.trust()
    (hook,) = Hooks.discover(project.folder)
    assert hook.source == f"{script}:1:1"

    script.write_text("hook PreToolUse /context no\n")

    assert project.denies()

    project.trust()
    assert not project.denies()


@pytest.mark.parametrize(
    ("hook", "name"),
    [
        ("type: command, handler: ./check.sh", "check.sh"),
        ("command: 'sh .interpose/check.sh'", "check.sh"),
        ("command: 'cd .interpose && ./check.sh'", "check.sh"),
        ("handler: mine.check", "mine.py"),
        ("handler: mine.check", "mine/__init__.py"),
        ("handler: mine.rules.check", "mine/rules.py"),
    ],
)
def test_a_file_that_turns_up_later_is_not_run(project: Project, hook: str, name: str) -> None:
    """Fault 196: what was missing when a person looked stays missing, and denies."""
    project.file.write_text(f"hooks:\n  PreToolUse:\n    - {{name: guard, onError: abort, {hook}}}\n")
    project.trust()
    assert project.denies()

    project.write(f".interpose/{name}", "def check(event): ...\n" if "py" in name else "#!/bin/sh\nexit 0\n").chmod(
        0o755
    )

    assert project.denies()
    assert project.changes() == {}


def test_a_link_that_leads_elsewhere_has_no_effect(project: Project) -> None:
    """Faults 196, 197: a script may be a link to a file of the project; its content is what was trusted."""
    one, two = project.write("one.sh", "#!/bin/sh\nexit 2\n"), project.write("two.sh", "#!/bin/sh\nexit 0\n")
    one.chmod(0o755)
    two.chmod(0o755)
    link = project.folder / ".interpose" / "check.sh"
    link.symlink_to(one)
    project.file.write_text("hooks:\n  PreToolUse:\n    - {name: guard, type: command, handler: ./check.sh}\n")
    project.trust()
    assert project.denies()

    link.unlink()
    link.symlink_to(two)

    assert project.denies()
    assert project.changes() == {".interpose/check.sh": "changed"}


def test_the_scripts_of_a_project_below_a_system_directory_count_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 193: containers keep projects in /usr/src and /opt."""
    from interpose.config import review

    script = project.write("tools/check.sh", "#!/bin/sh\nexit 2\n")
    script.chmod(0o755)
    project.file.write_text("hooks:\n  PreToolUse:\n    - {name: guard, command: tools/check.sh}\n")
    monkeypatch.setattr(review, "_SYSTEM", (f"{project.folder.parent}/",))
    project.trust()

    script.write_text("exit 1\n")

    assert project.denies()


def test_programs_of_the_system_and_our_own_interpreter_are_no_part_of_a_snapshot(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 193: what was trusted with one interpreter is trusted with another."""
    project.write(".interpose/check.py", "pass\n")
    project.file.write_text(
        "hooks:\n  PreToolUse:\n    - {name: a, type: command, handler: check.py}\n    - {name: b, command: /bin/ls /}\n"
    )
    other = project.write("other-python", "#!/bin/sh\n")
    before = project.review()

    monkeypatch.setattr(sys, "executable", str(other))

    assert project.review().digest == before.digest
    assert {os.path.basename(path) for path in before.originals} == {"check.py", "hooks.yaml"}


@pytest.mark.parametrize("redirect", [">", ">>", "2>", "&>", ">|"])
def test_a_file_that_a_command_writes_to_is_not_part_of_what_is_trusted(project: Project, redirect: str) -> None:
    """Fault 193: a log that grows would be a change every time."""
    log = project.write("audit.txt", "first\n")
    project.file.write_text(f"hooks:\n  PreToolUse:\n    - {{name: guard, command: 'cat {redirect}audit.txt'}}\n")
    project.trust()

    log.write_text("first\nsecond\n")

    assert project.changes() == {}


# 197: other ways to the same file.


def test_a_trusted_file_that_is_edited_through_a_hard_link_stays_as_it_was_trusted(
    project: Project, tmp_path: Path
) -> None:
    """Fault 197"""
    project.trust()
    os.link(project.file, tmp_path / "same")

    (tmp_path / "same").write_text(GUARD.replace("exit 2", "exit 0"))

    assert project.denies()
    assert project.changes() == {".interpose/hooks.yaml": "changed"}


@pytest.mark.parametrize("how", ["hard link", "symbolic link", "copy", "moved", "case"])
def test_trusted_content_at_another_place_is_not_trusted(project: Project, tmp_path: Path, how: str) -> None:
    """Fault 197: trust is for this content at this place, where its scripts are."""
    project.trust()
    other = Project(tmp_path / ("PROJECT" if how == "case" else "other"))
    other.file.unlink()
    match how:
        case "hard link":
            os.link(project.file, other.file)
        case "symbolic link":
            other.file.symlink_to(project.file)
        case "moved":
            os.rename(project.file, other.file)
        case _:
            other.file.write_text(GUARD)

    if how == "symbolic link":
        with pytest.raises(ConfigError, match="a symbolic link that was not named explicitly"):
            Hooks.discover(other.folder)
    else:
        assert other.armed == []


def test_a_project_that_was_moved_has_to_be_trusted_again(project: Project, tmp_path: Path) -> None:
    """Fault 197"""
    project.trust()
    project.folder.rename(tmp_path / "elsewhere")

    assert list(Hooks.discover(tmp_path / "elsewhere")) == []


def test_other_ways_to_say_where_a_project_is_lead_to_the_same_trust(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 197"""
    project.trust()
    (project.folder / "src").mkdir()
    (tmp_path / "link").symlink_to(project.folder)
    monkeypatch.chdir(project.folder / "src")

    ways = [".", "..", "../src/../src", str(tmp_path / "link"), str(tmp_path / "project" / ".." / "project")]
    if os.path.isdir("/proc/self/root"):
        ways.append(f"/proc/self/root{project.folder}")
    for way in ways:
        assert [hook.name for hook in Hooks.discover(way)] == ["guard"], way


def test_a_project_that_links_to_the_folder_of_another_gets_that_ones_hooks_and_scripts(
    project: Project, tmp_path: Path
) -> None:
    """Fault 197: it is the same file; nothing of the new place is run."""
    project.write(".interpose/check.sh", "exit 0\n")
    project.file.write_text("hooks:\n  PreToolUse:\n    - {name: guard, type: command, handler: ./check.sh}\n")
    project.trust()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".interpose").symlink_to(project.folder / ".interpose")

    (hook,) = Hooks.discover(tmp_path / "other")

    assert hook.binding.target.path.endswith("/files/.interpose/check.sh")


def test_bytecode_in_the_project_cannot_take_the_place_of_trusted_source(project: Project) -> None:
    """Fault 196: a compiled file that nobody looked at is run instead, if Python believes it."""
    import importlib.util
    import py_compile

    project.file.write_text("hooks:\n  PreToolUse:\n    - {name: guard, handler: mine.check}\n")
    module = project.write(".interpose/mine.py", "def check(event):\n    return {'decision': 'deny'}\n")
    project.trust()
    evil = project.write("evil.py", "def check(event):\n    return None\n")
    py_compile.compile(
        str(evil),
        cfile=importlib.util.cache_from_source(str(module)),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        doraise=True,
    )

    fired = program(f"""
        from interpose import Hooks
        hooks = Hooks.discover({str(project.folder)!r})
        print([hook.name for hook in hooks], hooks.fire_sync("PreToolUse", tool_name="Bash").denied)
    """)

    assert fired.stdout.strip() == "['guard'] True", fired.stderr
