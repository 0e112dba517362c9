"""Which files a command runs, and what is run in their place."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from interpose.config.redirect import redirect_line, redirect_value, redirect_words

FILES = ("check.sh", "tools/x.sh", ".claude/hooks/guard.py", ".claude/hooks/lib/a.sh", "package.json", "pkg/mod.py")
HOOKS = "/S/.claude/hooks"


class Place:
    """Runs every file of a project from /S, and names what is left."""

    def __init__(self, project: Path) -> None:
        self.project = str(project)
        self.folder = str(project / ".interpose")
        self.left: list[str] = []
        self.mentioned: list[str] = []

    def run(self, path: str) -> str | None:
        return self._moved(path) if os.path.isfile(path) else None

    def name(self, path: str) -> str | None:
        if os.path.isfile(path) and ".claude" in path:
            return self._moved(path)
        if os.path.isfile(path):
            self.left.append(os.path.relpath(path, self.project))
        return None

    def module(self, root: str, name: str) -> str | None:
        return self._moved(root) if os.path.exists(os.path.join(root, name.partition(".")[0])) else None

    def asks(self, path: str) -> str | None:
        return self.name(path)

    def searches(self, name: str, value: str) -> None:
        self.mentioned.append(f"{name}={value}")

    def unknown(self, text: str) -> None:
        self.left.append(text)

    def reads(self, path: str) -> None:
        if os.path.isfile(path):
            self.left.append(f"reads {os.path.relpath(path, self.project)}")

    def mentions(self, text: str, bases: Sequence[str]) -> None:
        self.mentioned = text.split()

    def _moved(self, path: str) -> str | None:
        below = os.path.relpath(path, self.project)
        return None if below.startswith("..") else os.path.normpath(f"/S/{below}")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".interpose").mkdir()
    (tmp_path / ".interpose" / "own.sh").write_text("")
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("./check.sh", "/S/check.sh"),
        ("./check.sh || exit 2", "/S/check.sh || exit 2"),
        ("cd tools && ./x.sh", "cd tools && /S/tools/x.sh"),
        ("(cd tools; ./x.sh); ./check.sh", "(cd tools; /S/tools/x.sh); /S/check.sh"),
        ("cd tools && cd .. && ./check.sh", "cd tools && cd .. && /S/check.sh"),
        ('python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.py', f"python3 {HOOKS}/guard.py"),
        ('python3 "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.py" --fast', f"python3 {HOOKS}/guard.py --fast"),
        ("${CLAUDE_PROJECT_DIR}/.claude/hooks/guard.py", f"{HOOKS}/guard.py"),
        ('"${CLAUDE_PROJECT_DIR:-.}"/.claude/hooks/guard.py', f"{HOOKS}/guard.py"),
        ('"$(git rev-parse --show-toplevel)/.claude/hooks/guard.py"', f"{HOOKS}/guard.py"),
        ("$(pwd)/check.sh", "/S/check.sh"),
        ("'./check.sh' 'a b'", "/S/check.sh 'a b'"),
        ("uv run --with x --script .claude/hooks/guard.py", f"uv run --with x --script {HOOKS}/guard.py"),
        ("uv run python .claude/hooks/guard.py", f"uv run python {HOOKS}/guard.py"),
        ("FAST=1 timeout 5 bash -eu check.sh a b", "FAST=1 timeout 5 bash -eu /S/check.sh a b"),
        (". .claude/hooks/lib/a.sh; f", f". {HOOKS}/lib/a.sh; f"),
        ("x=$(./check.sh) && echo $x", "x=$(/S/check.sh) && echo $x"),
        ('echo "result: `./check.sh`"', 'echo "result: `/S/check.sh`"'),
        ("if ./check.sh; then exit 0; else exit 2; fi", "if /S/check.sh; then exit 0; else exit 2; fi"),
        ("cat | ./check.sh >> log.txt 2>&1", "cat | /S/check.sh >> log.txt 2>&1"),
        ("bash -c './check.sh && tools/x.sh'", "bash -c '/S/check.sh && /S/tools/x.sh'"),
        ('sh -c "$CLAUDE_PROJECT_DIR/check.sh"', "sh -c /S/check.sh"),
        ("node --require ./check.sh tools/x.sh", "node --require /S/check.sh /S/tools/x.sh"),
        ("node --require=./check.sh tools/x.sh", "node --require=/S/check.sh /S/tools/x.sh"),
        ("cat < .claude/hooks/guard.py", f"cat < {HOOKS}/guard.py"),
        ("grep -f .claude/hooks/guard.py", f"grep -f {HOOKS}/guard.py"),
        ("case $1 in *.sh) ./check.sh;; esac", "case $1 in *.sh) /S/check.sh;; esac"),
        ("cat <<EOF\n./check.sh\nEOF\n./check.sh", "cat <<EOF\n./check.sh\nEOF\n/S/check.sh"),
        ("# ./check.sh\n./check.sh", "# ./check.sh\n/S/check.sh"),
        ("echo ./check.sh", "echo ./check.sh"),
        ("xargs -n1 ./check.sh", "xargs -n1 /S/check.sh"),
        ("go vet ./...", "go vet ./..."),
        ("f() { ./check.sh; }; f", "f() { /S/check.sh; }; f"),
    ],
)
def test_a_line_runs_files_from_their_new_places(place: Place, line: str, runs: str) -> None:
    assert redirect_line(line, place) == runs
    assert place.left == []


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ('"$DIR"/check.sh', ["*/check.sh"]),
        ("$(which x)", ["*"]),
        ("cd $DIR && ./check.sh", ["./check.sh"]),
        ("tools/*.sh", ["tools/*.sh"]),
        ("jq .version package.json", ["package.json"]),
        ("npm run lint", ["reads package.json"]),
        ('bash -c "$x"', ["*"]),
        ("echo ./check.sh | sh", ["the input of sh"]),
        ("bash <<EOF\n./check.sh\nEOF", ["the input of bash"]),
        ("tool --config=package.json", ["package.json"]),
    ],
)
def test_what_a_line_runs_or_names_and_cannot_be_moved_is_noted(place: Place, line: str, left: list[str]) -> None:
    assert redirect_line(line, place) == line
    assert place.left == left


def test_a_module_is_imported_from_its_new_place_and_from_nowhere_near(place: Place) -> None:
    line = redirect_line("python3 -m pkg.mod --fast", place)

    assert line.startswith("python3 -c ")
    assert "'/S'" in line.replace("'\"'\"'", "'")
    assert line.endswith(" --fast")
    assert redirect_line("python3 -m json.tool", place) == "python3 -m json.tool"


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (["./own.sh", "a"], ["/S/.interpose/own.sh", "a"]),
        (["python3", "check.sh"], ["python3", "/S/check.sh"]),
        (["python3", "own.sh"], ["python3", "/S/.interpose/own.sh"]),
        (["node", "${CLAUDE_PROJECT_DIR}/check.sh", "x y"], ["node", "/S/check.sh", "x y"]),
        (["sh", "-c", "./check.sh; exit 2"], ["sh", "-c", "/S/check.sh; exit 2"]),
        (["ls"], ["ls"]),
    ],
)
def test_words_run_files_from_their_new_places(place: Place, words: list[str], runs: list[str]) -> None:
    assert redirect_words(words, place) == runs


def test_a_variable_names_files_in_their_new_places(place: Place) -> None:
    assert redirect_value("--require=./check.sh -x", place) == "--require=/S/check.sh -x"
    assert redirect_value("${CLAUDE_PROJECT_DIR}/check.sh:other", place) == "/S/check.sh:other"
    assert redirect_value("plain", place) == "plain"
    assert redirect_value("v1.2 ./none", place) == "v1.2 ./none"


@pytest.mark.parametrize(
    "line", ["'", '"', "$(", "`", "${", "<<EOF", "\\", "a|", "&&", "((", "case", "'a", "x=$(y", "$"]
)
def test_a_line_that_the_shell_would_refuse_stays_as_it_is(place: Place, line: str) -> None:
    assert redirect_line(line, place) == line
