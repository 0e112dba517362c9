"""The examples do what they say: alone, brought in together, and against those who would get round them."""

import fcntl
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.cli.init.examples import Choice, examples
from interpose.testing import fire

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
EXAMPLES = examples()
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def all_choices() -> Iterator[Any]:
    for name, example in EXAMPLES.items():
        yield pytest.param(name, id=name)
        for variant in example.variants:
            yield pytest.param(f"{name}:{variant}", id=f"{name}:{variant}", marks=[needs_node] * (variant == "node"))


CHOICES = list(all_choices())


def choice_of(word: str) -> Choice:
    name, _, variant = word.partition(":")
    return Choice(EXAMPLES[name], variant)


@pytest.fixture
def project(tmp_path: Path, quick: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "bin").symlink_to(quick)
    return tmp_path / "project"


def interpose(project: Path, *words: str) -> str:
    """What the command line says, in a project whose person has an empty home."""
    programs = f"{project.parent / 'bin'}:{BIN}:{os.environ['PATH']}"
    environment = {"PATH": programs, "HOME": str(project.parent / "home"), "LANG": "C.UTF-8"}
    done = subprocess.run(["interpose", *words], cwd=project, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, f"interpose {' '.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def run_script(path: Path, event: str, env: dict[str, str] | None = None, **fields: Any) -> Any:
    """The outcome of one script of an example, as a hook of its own that must not fail."""
    hooks = Hooks()
    hooks.register(event, [str(path)], type="command", name="script", env=env or {}, on_error="abort", timeout=60)
    outcome = hooks.fire_sync(event, **fields)
    assert [str(result.error) for result in outcome.results if result.error] == []
    return outcome


def module_of(example: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES[example].folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# All of them.


@pytest.mark.parametrize("word", CHOICES)
def test_an_example_brought_in_is_in_order_and_does_what_its_cases_say(project: Path, word: str) -> None:
    interpose(project, "init", "--with", word)
    interpose(project, "trust", "--yes")

    checked = json.loads(interpose(project, "check", "--strict", "--json"))
    tested = json.loads(interpose(project, "test", "--json"))

    assert checked["problems"] == checked["warnings"] == []
    assert (tested["failed"], tested["coverage"]["never"]) == (0, [])


def test_all_examples_get_along_with_each_other(project: Path) -> None:
    interpose(project, "init", "--with", ",".join(EXAMPLES))
    interpose(project, "trust", "--yes")

    checked = json.loads(interpose(project, "check", "--strict", "--json"))
    tested = json.loads(interpose(project, "test", "--json"))

    assert checked["problems"] == checked["warnings"] == []
    assert (tested["failed"], tested["coverage"]["never"]) == (0, [])


@pytest.mark.parametrize("word", CHOICES)
def test_the_folder_of_an_example_is_a_configuration_by_itself(project: Path, word: str) -> None:
    choice = choice_of(word)
    hooks = f"hooks.{choice.variant}.yaml" if choice.variant else "hooks.yaml"
    folder = choice.example.folder

    tested = json.loads(interpose(project, "test", "--json", "-c", str(folder / hooks), str(folder / "cases.yaml")))

    assert (tested["failed"], tested["coverage"]["never"]) == (0, [])


@pytest.mark.parametrize("name", ["cost-limit", "rate-limit", "tests-before-stop"])
def test_cases_that_leave_something_behind_can_be_run_again(project: Path, name: str) -> None:
    folder = EXAMPLES[name].folder

    for _ in range(2):
        interpose(project, "test", "-c", str(folder / "hooks.yaml"), str(folder / "cases.yaml"))


def test_there_are_the_examples_that_the_documentation_lists() -> None:
    listed = (ROOT / "docs" / "examples.md").read_text()

    assert [name for name, example in EXAMPLES.items() if f"| {example.purpose} |" not in listed] == []
    assert {path.name for path in (ROOT / "examples").iterdir() if path.is_dir()} - {"__pycache__"} == set(EXAMPLES)


@pytest.mark.parametrize("word", CHOICES)
def test_every_file_that_is_run_is_brought_and_no_other_is(word: str) -> None:
    choice = choice_of(word)
    hooks = Hooks.load(choice.example.folder / (f"hooks.{choice.variant}.yaml" if choice.variant else "hooks.yaml"))

    [origin] = hooks.origins

    assert set(origin.references) == {str(path.resolve()) for path in choice.files()}


def test_every_guard_is_closed_when_it_breaks() -> None:
    hooks = [hook for example in EXAMPLES.values() for hook in Hooks.load(example.folder / "hooks.yaml")]
    open_ones = {hook.label for hook in hooks if "deny" in hook.row.can and hook.on_error != "abort"}

    # A line of a script cannot break, a notification decides nothing, and a rule that breaks leaves it to the person.
    assert {label for label in open_ones if not label.startswith(("approve-", "hook "))} == {
        "permission-rules", "notify-of-question", "audit-to-file",
    }  # fmt: skip


# Scripts.

SCRIPTS = sorted(path for example in EXAMPLES.values() for path in example.folder.iterdir()
                 if path.suffix in (".sh", ".mjs") or (path.suffix == ".py" and path.read_text().startswith("#!")))  # fmt: skip


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.name))
def test_a_script_can_be_run(path: Path) -> None:
    shebangs = {".sh": "#!/bin/sh", ".py": "#!/usr/bin/env python3", ".mjs": "#!/usr/bin/env node"}

    assert path.read_text().splitlines()[0] == shebangs[path.suffix]
    assert path.stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("language", [".sh", ".py", ".mjs"])
def test_each_language_is_there_three_times(language: str) -> None:
    assert len([path for path in SCRIPTS if path.suffix == language]) >= 3


@pytest.mark.parametrize("path", [path for path in SCRIPTS if path.suffix == ".sh"], ids=lambda path: str(path.name))
def test_a_shell_can_read_its_scripts(path: Path) -> None:
    assert subprocess.run(["sh", "-n", path], check=False).returncode == 0


@needs_node
@pytest.mark.parametrize("path", [path for path in SCRIPTS if path.suffix == ".mjs"], ids=lambda path: str(path.name))
def test_node_can_read_its_scripts(path: Path) -> None:
    assert subprocess.run(["node", "--check", path], check=False).returncode == 0


# destructive-commands

DENIED = [
    "rm -rf /", "rm -r -f /", "rm --recursive --force /", "rm --rec /", "rm -rf -- /", "rm -rf //", "rm -rf /.", "rm -rf /*",
    "rm -fr ~", "rm -rf ~/", "rm -rf $HOME", "rm -rf ${HOME}/", 'rm -rf "$HOME"/*', "rm -rf *", "rm -rf */", "rm -rf ./*", "rm -rf .", "rm -rf ..",
    "rm -rf build/../..", "rm /etc/passwd", "rm ~/.bashrc", "rm -rf .git", "rm -rf .GIT/objects", "rm -rf /tmp", "rmdir /etc", "unlink /etc/hosts",
    "shred -u /etc/shadow", "truncate -s 0 /etc/passwd", "ls; rm -rf /", "ls && rm -rf / || true", "ls | rm -rf /", "echo $(rm -rf /)", "ls\nrm -rf /",
    "if true; then rm -rf /; fi", "f() { rm -rf /; }; f", "sudo rm -rf /etc", "sudo -u root sh -c 'rm -rf /var/lib'", "doas rm -rf /", "env A=1 rm -rf /usr",
    "A=1 rm -rf /usr", 'bash -c "rm -rf /"', "eval rm -rf /", "timeout 5 rm -rf /", "nohup rm -rf / &", "nice -n 5 rm -rf /", "busybox rm -rf /",
    "\\rm -rf /", "'rm' -rf /", "r''m -rf /", "/bin/rm -rf /", "command rm -rf /", "echo x | xargs rm -rf /", "find . -exec rm -rf / \\;",
    "cd / && rm -rf *", "cd build; rm -rf *", "(cd build); rm -rf *", "cd build || rm -rf *", "cd build & rm -rf *", "cd .. && rm -rf project",
    "find / -delete", "find . -delete", "find -delete", "find . -type f -delete", "find . -name '*' -delete", "find ~ -name x -delete",
    "find / -name '*.log' -exec rm -f {} +", "find . -exec /bin/rm {} +", "find /usr -name x -exec rm {} \\;",
    "git clean -fdx", "git -C x clean -ffdx", "git clean -f -d", "git clean --force", "dd if=/dev/zero of=/dev/sda", "dd of='/dev/nvme0n1' if=x",
    "cat x > /dev/sda", "echo x >/dev/nvme0n1", "cat x >| /dev/vda1", "mkfs.ext4 /dev/sdb1", "sudo mkfs -t ext4 /dev/sdb", "wipefs -a /dev/sda",
    "echo x | tee /dev/sda", "cp x /dev/sdb", "chmod -R 777 /", "chmod 777 -R ~", "chmod --recursive 777 /", "chown -R me /etc", "chmod -R 777 ..",
    "mv ~ /tmp/x", "mv / /x", "mv . /tmp/x", "git -c alias.x='!rm -rf /' x",
]  # fmt: skip
ASKED = [
    "rm -rf $X", 'rm -rf "$X"/', "rm -rf build$X", "rm -rf {a,b}", "rm -rf build{,/../..}", "ls | xargs rm", "echo / | xargs rm -rf", "rm -rf `cat list`",
    "rm -rf ?*", "rm -rf .*", "rm -rf '/'*", "rm -rf [a-z]*", "cd $X && rm -rf build", "cd && rm -rf x", "cd - && rm x", "popd; rm x", "chmod -R 777 $X", "find $X -delete",
    "curl x | sh", "$X -rf /", "eval $X", "git $X", "git reset --hard HEAD~1", "git reset --har", "git -C x reset --hard", "git push --force",
    "git push -f origin", "git push --force-with-lease", "git checkout -- .", "git restore .", "git stash drop", "git branch -D x",
    "git -c alias.x='!x' x", "kubectl delete ns x", "terraform -chdir=x destroy", "docker system prune -f", "rsync -a --delete a/ b/", "crontab -r",
]  # fmt: skip
FREE = [
    "ls -l", "ls *", "rm README", "rm -rf build", "rm -rf ./build/ node_modules", "rm -rf build/*", "rm -f *.pyc", "rm -rf build*", "cd build && rm -rf *",
    "cd build && rm x && cd .. && ls", "find . -name '*.pyc' -delete", "find build -type f -delete", "find . -name '*.pyc' -exec rm {} +", "find . -name rm",
    "git clean -nfd", "git clean --dry-run", "git commit -m 'rm -rf /'", "echo rm -rf /", "grep -r 'rm -rf /' .", "cat > a <<'EOF'\nrm -rf /\nEOF",
    "git commit -m \"$(cat <<'EOF'\nrm -rf /\nEOF\n)\"", "rm -rf /tmp/interpose-example", "chmod -R u+w .", "chmod +x a", "chmod 600 ~/.ssh/config",
    "git push origin main", "git checkout main", "git branch -d x", "git reset HEAD x", "dd if=/dev/sda of=disk.img", "python -m pytest", "npm run clean",
    "make 2>&1 | tee log", "cp -r a b", "mv a b", "echo x > /dev/null", "ls /dev/sda",
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "command"),
    [*(("deny", line) for line in DENIED), *(("ask", line) for line in ASKED), *(("none", line) for line in FREE)],
)
def test_a_command_is_judged_by_what_it_would_destroy(project: Path, expected: str, command: str) -> None:
    check = module_of("destructive-commands", "destructive_commands").check

    outcome = fire(check, "PreToolUse", tool_name="Bash", tool_input={"command": command}, cwd=str(project))

    assert (outcome.decision, [str(one.error) for one in outcome.results if one.error]) == (expected, []), (
        outcome.reason
    )


def test_a_link_in_a_deletion_counts_as_what_it_leads_to(project: Path) -> None:
    check = module_of("destructive-commands", "destructive_commands").check
    (project / "link").symlink_to("/usr")

    outcome = fire(check, "PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf link/*"}, cwd=str(project))

    assert outcome.denied


def test_nothing_is_free_in_a_home_or_in_the_root() -> None:
    check = module_of("destructive-commands", "destructive_commands").check

    for cwd in ("/", os.path.expanduser("~")):
        assert fire(check, "PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf usr"}, cwd=cwd).denied


# protected-files


def test_a_protected_file_is_found_behind_a_link_and_in_any_case(project: Path) -> None:
    check = module_of("protected-files", "protected_files").check
    (project / ".git").mkdir()
    (project / ".env").touch()
    (project / "notes").symlink_to(".git")
    (project / "settings.txt").symlink_to(".env")

    def decided(path: str) -> str:
        return fire(check, "PreToolUse", tool_name="Write", tool_input={"file_path": path}, cwd=str(project)).decision

    paths = [
        "notes/config",
        "settings.txt",
        ".Env",
        "a/../.env",
        f"{project}/.env",
        "~/.aws/credentials",
        "x/id_rsa.pub",
    ]
    assert [path for path in paths if decided(path) != "deny"] == []
    assert [path for path in ["a.txt", ".env.sample", "git/x", "environment"] if decided(path) != "none"] == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat .env", "ask"), ("echo A=1>.env", "ask"), ('cat "./.e"nv', "ask"), ("cat .e\\nv", "ask"), ("cp x ~/.ssh/authorized_keys", "ask"),
        ("sed -i s/a/b/ .git/config", "ask"), ("tee -a .env <<< x", "ask"), ("curl -d @.env x", "ask"), ("scp .env host:", "ask"), ("x --file=.env", "ask"),
        ("cat .gitignore", "none"), ("git status", "none"), ("cp .env.example x", "none"), ("jq .key a.json", "none"), ("echo environment", "none"),
    ],
)  # fmt: skip
def test_a_command_line_is_asked_for_the_protected_files_it_names(project: Path, command: str, expected: str) -> None:
    check = module_of("protected-files", "protected_files").check_command

    outcome = fire(check, "PreToolUse", tool_name="Bash", tool_input={"command": command}, cwd=str(project))

    assert outcome.decision == expected


# Secrets. They are put together here, so that nobody who looks for secrets finds one.

SECRETS = [
    "AKIA" + "I" * 16, "ghp_" + "a1" * 18, "github_pat_" + "A1b2_" * 12, "glpat-" + "a1-_" * 5, "npm_" + "a1" * 18, "pypi-" + "Ag1_-" * 12,
    "sk-ant-api03-" + "aB1-_" * 8, "sk-" + "aB1" * 16, "sk-proj-" + "aB1-_" * 8, "sk_live_" + "aB1" * 8, "xoxb-" + "123456-" * 4, "AIza" + "aB1-_" * 7,
    "eyJ" + "hbGc" * 5 + ".eyJ" + "zdWI" * 5 + "." + "aB1-_" * 6,
]  # fmt: skip


@pytest.mark.parametrize("script", ["secrets-in-prompts.sh", pytest.param("secrets-in-prompts.mjs", marks=needs_node)])
def test_no_kind_of_secret_gets_into_a_prompt_or_into_the_reason(script: str) -> None:
    path = EXAMPLES["secrets-in-prompts"].folder / script

    for secret in [*SECRETS, "-----BEGIN EC PRIVATE KEY-----\nMHcC\n"]:
        outcome = run_script(path, "UserPromptSubmit", prompt=f"é:\n{secret}")
        assert outcome.denied, secret
        assert secret not in outcome.reason
    for prompt in (SECRETS[0], f"'{SECRETS[0]}'", f'"{SECRETS[0]}"', f"={SECRETS[0]}."):
        assert run_script(path, "UserPromptSubmit", prompt=prompt).denied


def test_every_kind_of_secret_is_removed_from_a_result() -> None:
    redact = module_of("secrets-in-results", "redact_secrets").redact

    outcome = fire(
        redact,
        "PostToolUse",
        tool_name="Read",
        tool_response={"a": [f"x {' '.join(SECRETS)} y"], **dict.fromkeys(SECRETS, 1)},
    )

    assert [secret for secret in SECRETS if secret in json.dumps(outcome.tool_response)] == []
    assert outcome.tool_response["a"][0].startswith("x [AWS key removed] [GitHub token removed]")


@pytest.mark.parametrize("script", ["redact_secrets.py", pytest.param("redact-secrets.mjs", marks=needs_node)])
def test_a_command_that_prints_secrets_and_fails_shows_the_model_none_of_them(project: Path, script: str) -> None:
    folder = EXAMPLES["secrets-in-results"].folder
    hooks = Hooks.load(folder / ("hooks.node.yaml" if script.endswith(".mjs") else "hooks.yaml"))

    def env_and_false(tool_input: Any) -> str:
        raise RuntimeError(f"exit status 1\n{' '.join(SECRETS)}\nend")

    with hooks.session_sync(cwd=str(project)) as session:
        answer = session.tool("Bash", {"command": "env; false"}, env_and_false)

    assert [secret for secret in SECRETS if secret in f"{answer.content}{answer.reason}"] == []
    assert answer.content.startswith("exit status 1\n[AWS key removed] [GitHub token removed]")
    assert answer.content.endswith("\nend")


# format-after-edit


@pytest.mark.parametrize("script", ["format_after_edit.py", pytest.param("format-after-edit.mjs", marks=needs_node)])
def test_a_file_is_formatted_and_the_model_is_told(project: Path, script: str) -> None:
    path = EXAMPLES["format-after-edit"].folder / script
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/ruff").symlink_to(BIN / "ruff")
    outside = project.parent / "outside.py"
    for file in (project / "a.py", outside):
        file.write_text("x = [1,2 ]\n")
    (project / "b.py").write_text("x = (\n")

    def context(file: str) -> list[str]:
        given: dict[str, Any] = {
            "tool_name": "Write",
            "tool_input": {"file_path": file},
            "tool_response": "",
            "cwd": str(project),
        }
        said: list[str] = run_script(path, "PostToolUse", **given).context
        return said

    assert context("a.py") == ["a.py was formatted by ruff after you wrote it: read it before you edit it again."]
    assert (project / "a.py").read_text() == "x = [1, 2]\n"
    assert context("a.py") == []
    assert context(str(outside)) == []
    assert outside.read_text() == "x = [1,2 ]\n"
    [said] = context("b.py")
    assert said.startswith("ruff cannot format b.py: ")
    assert len(said) > 40


# tests-before-stop


def test_an_agent_is_kept_going_while_tests_fail_but_not_for_ever(project: Path) -> None:
    path = EXAMPLES["tests-before-stop"].folder / "tests-before-stop.sh"
    (project / "result").write_text("1")
    env = {"HOME": str(project.parent / "home"), "TESTS": "echo broken; exit $(cat result)", "TRIES": "2"}

    def goes_on(active: bool) -> bool:
        outcome = run_script(path, "Stop", env, stop_hook_active=active, session_id="s", cwd=str(project))
        if outcome.keep_going:
            assert "The tests fail" in outcome.reason
            assert "broken" in outcome.reason
        return bool(outcome.keep_going)

    assert [goes_on(False), goes_on(True), goes_on(True)] == [True, True, False]
    assert [goes_on(False), goes_on(False), goes_on(True)] == [True, True, True]
    (project / "result").write_text("0")
    assert [goes_on(True), goes_on(False)] == [False, False]
    assert list((project.parent / "home").rglob("tests-before-stop/*")) == []


def test_the_tests_of_a_project_are_found(project: Path) -> None:
    path = EXAMPLES["tests-before-stop"].folder / "tests-before-stop.sh"
    (project / "Makefile").write_text("test:\n\t@echo from make; exit 1\n")

    outcome = run_script(path, "Stop", {"HOME": str(project.parent / "home")}, session_id="s", cwd=str(project))

    assert outcome.keep_going
    assert "The tests fail (make test)" in outcome.reason


# context-at-start


def test_the_model_is_told_what_git_says(project: Path) -> None:
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=trunk"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", 'A "first" commit']):
        subprocess.run([*git, *words], cwd=project, check=True)
    for number in range(20):
        (project / f"new{number:02}.txt").touch()

    outcome = run_script(
        EXAMPLES["context-at-start"].folder / "context_at_start.py", "SessionStart", source="startup", cwd=str(project)
    )

    [said] = outcome.context
    assert "Branch:\n  trunk\n" in said
    assert "  ?? new14.txt\n  … and 5 more\n" in said
    assert said.endswith('Ada: A "first" commit')


# cost-limit, rate-limit, audit-to-file: any number of processes at once.


def test_nothing_that_was_spent_at_the_same_time_is_lost(project: Path) -> None:
    folder = EXAMPLES["cost-limit"].folder
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import cost_limit; from interpose.testing import fire\n"
        "for _ in range(40): fire(cost_limit.spend, 'post:message', prompt='', output='', cost_usd=0.01, session_id='s',"
        " usage={'input_tokens': 1, 'output_tokens': 1})\n"
        "print(fire(cost_limit.check, 'pre:message', prompt='', session_id='s').reason)"
    )
    environment = {**os.environ, "XDG_STATE_HOME": str(project)}

    with ThreadPoolExecutor(4) as pool:
        runs = [
            pool.submit(subprocess.run, [sys.executable, "-c", program], env=environment, check=True) for _ in range(4)
        ]
    assert [run.result().returncode for run in runs] == [0] * 4
    [file] = (project / "interpose" / "cost-limit").iterdir()

    assert file.read_text() == "0.010000 2\n" * 160


def test_a_limit_denies_if_what_was_spent_cannot_be_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "interpose").write_text("not a folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(project))
    hooks = Hooks.load(EXAMPLES["cost-limit"].folder / "hooks.yaml")

    assert hooks.fire_sync("PreToolUse", tool_name="Read").denied


def test_of_many_calls_at_once_only_so_many_go_on(project: Path) -> None:
    path = EXAMPLES["rate-limit"].folder / "rate_limit.py"

    def call(_: int) -> bool:
        event = {"tool_name": "mcp__mail__send", "session_id": "s"}
        done = subprocess.run([path], input=json.dumps(event), env={**os.environ, "XDG_STATE_HOME": str(project)},
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode in (0, 2), done.stderr
        return done.returncode == 0

    with ThreadPoolExecutor(6) as pool:
        went_on = list(pool.map(call, range(6)))

    assert sum(went_on) == 2


def test_a_call_waits_for_another_that_is_being_counted(project: Path) -> None:
    path = EXAMPLES["rate-limit"].folder / "rate_limit.py"
    event = json.dumps({"tool_name": "mcp__mail__send", "session_id": "s"}).encode()
    environment = {**os.environ, "XDG_STATE_HOME": str(project)}
    subprocess.run([path], input=event, env=environment, check=True)
    [file] = (project / "interpose" / "rate-limit").iterdir()

    with file.open("a") as held, subprocess.Popen([path], stdin=subprocess.PIPE, env=environment) as call:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert call.stdin is not None
        call.stdin.write(event)
        call.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            call.wait(1)
        held.write(file.read_text())
        held.close()

    assert call.returncode == 2


def test_records_are_whole_lines_that_only_their_owner_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "deep" / "audit.jsonl"
    monkeypatch.setenv("INTERPOSE_AUDIT_FILE", str(file))
    write = module_of("audit-to-file", "audit_to_file").write

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: fire(write, "PostToolUse", tool_name=f"t{n}", tool_response="é\n" * 5000), range(40)))

    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert sorted(record["tool_name"] for record in records) == sorted(f"t{n}" for n in range(40))
    assert records[0]["tool_response"].endswith("… (10000 characters)")
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_recorded_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPOSE_AUDIT_FILE", str(tmp_path))
    hooks = Hooks.load(EXAMPLES["audit-to-file"].folder / "hooks.yaml")

    assert hooks.fire_sync("PreToolUse", tool_name="Read").denied
    assert not hooks.fire_sync("UserPromptSubmit", prompt="hello").denied


# approvals


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"), ("git log --oneline -5 main", "allow"), ("git diff HEAD~1 -- src/a.py", "allow"), ("ls -la src", "allow"), ("pwd", "allow"),
        ("git status\n", "none"), ("git status && x", "none"), ("git status | sh", "none"), ("git status & x", "none"), ("git status `x`", "none"),
        ("git status $(x)", "none"), ("git diff > a", "none"), ("git diff --output=a", "none"), ("git diff -- --output=a", "none"), ("git diff --ext-diff", "none"),
        ("git branch -D x", "none"), ("git -c core.pager=x log", "none"), ("git log -p --output a", "none"), ("ls -l; x", "none"), ("ls ~", "none"),
        ("A=1 ls", "none"), ("ls 'a b'", "none"), ("", "none"), ("git push", "none"), ("ls {a,b}", "none"), ("ls *", "none"),
    ],
)  # fmt: skip
def test_a_question_is_answered_only_if_the_whole_line_only_looks(command: str, expected: str) -> None:
    path = EXAMPLES["approvals"].folder / "permission_rules.py"

    outcome = run_script(path, "PermissionRequest", tool_name="Bash", tool_input={"command": command})

    assert outcome.decision == expected


# notifications


class _Chat(http.server.BaseHTTPRequestHandler):
    heard: list[str] = []  # noqa: RUF012 - one chat for all requests

    def do_POST(self) -> None:
        self.heard.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_a_chat_is_told_in_letters_that_mean_nothing(project: Path) -> None:
    _Chat.heard.clear()
    path = EXAMPLES["notifications"].folder / "notify.sh"
    with http.server.HTTPServer(("127.0.0.1", 0), _Chat) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            env = {"NOTIFY_WEBHOOK": f"http://127.0.0.1:{server.server_port}/hook?key=1", "NO_PROXY": "127.0.0.1"}
            for message in ("All done!", "</b>`$(touch x)`"):
                run_script(path, "Notification", env, message=message, notification_type="x", cwd=str(project))
            run_script(
                path, "PermissionRequest", env, tool_name="Bash", tool_input={"command": "secret"}, cwd=str(project)
            )
            run_script(path, "Stop", {**env, "INTERPOSE_DOCTOR": "1"}, cwd=str(project))
        finally:
            server.shutdown()
            thread.join()

    assert [json.loads(text)["text"] for text in _Chat.heard] == [
        "The agent in project says: All done!",
        "The agent in project says: btouch x",
        "The agent in project has a question about Bash",
    ]
