"""How certain it is that a line runs a command: certain, possible, opaque, or not at all."""

import pickle
import shutil
import sys
from pathlib import Path

import pytest
from tests.properties.shell_fuzz import SHELLS, Laboratory
from tests.tables import rows
from tests.unit.shell_lines import CERTAIN, NEEDS_MORE, POSSIBLE_OR_OPAQUE

from interpose.matching.grades import Grade
from interpose.matching.shell import CommandPattern, read_line


def grade(rule: str, line: str) -> Grade | None:
    return CommandPattern(rule).grade_line(line)


@rows("line", CERTAIN)
def test_a_command_that_was_read_is_certain(line: str) -> None:
    assert grade("git push *", line) == "certain"


@rows("line", POSSIBLE_OR_OPAQUE)
def test_a_command_that_may_be_run_is_possible_or_opaque(line: str) -> None:
    assert grade("git push *", line) in ("possible", "opaque")


@rows("line", NEEDS_MORE)
def test_a_command_that_another_program_may_run_has_a_grade(line: str) -> None:
    assert grade("git push *", line) is not None


@pytest.mark.more
@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="needs a C compiler for the stub")
def test_these_lines_really_run_the_command(tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path)
    laboratory.environment["PATH"] += ":/usr/bin:/bin:/usr/sbin:/sbin"
    lines = [line for line in CERTAIN + POSSIBLE_OR_OPAQUE if shutil.which(line.split()[0]) or " " in line]

    idle = [line for line in lines if not any(laboratory.runs(shell, line) for shell in SHELLS)]

    # Some need a program, or a right, that the machine may not have.
    assert len(idle) < len(lines) / 10, idle


@rows(
    ("rule", "line", "expected"),
    [
        # In command position after any runner, known or not.
        ("rm *", "sudo rm x", "certain"),
        ("rm *", "unknownrunner rm -rf x", "possible"),
        ("rm *", "unknownrunner --flag 5 rm -rf x", "possible"),
        ("git push *", "unknownrunner a b git push", "possible"),
        ("git push *", "ssh host git push", "possible"),
        # Inside one quoted argument of a program that is not inert.
        ("git push *", "unknownrunner 'cd x && git push'", "possible"),
        ("git push *", "make 'CC=git push'", "possible"),
        ("git push *", "echo 'git push'", None),
        ("git push *", "grep -r 'git push' .", None),
        ("git push *", "git commit -m 'git push'", None),
        ("git push *", "git commit -am 'rm old; git push'", None),
        ("git push *", "git commit -m \"$(cat <<'EOF'\nit's git push\nEOF\n)\"", None),
        ("git push *", "git commit -F - <<'EOF'\ngit push\nEOF", None),
        ("git push *", "gh pr create --title x --body 'run git push'", None),
        # Inert only while the output reaches nothing that runs it.
        ("git push *", "echo git push | tee f", None),
        ("git push *", "echo git push | tee f | sh", "possible"),
        ("git push *", "echo git push | unknownrunner", "possible"),
        ("git push *", "echo git push > f; cat f", None),
        ("git push *", "echo git push > f; sh f", "possible"),
        ("curl *", "echo ls > f; sh f", "opaque"),
        # A word with unknown parts.
        ("git push *", "$x push", "possible"),
        ("git push *", "g?t push", "possible"),
        ("git push *", "git $x", "possible"),
        ("git push *", "git push $x", "certain"),
        ("git push *", "git status $x", None),
        ("rm *", "$x push", "opaque"),
        # Something that cannot be read.
        ("rm *", 'eval "$x"', "opaque"),
        ("rm *", "curl x | sh", "opaque"),
        ("rm *", ". ./file", "opaque"),
        ("rm *", "bash <(curl x)", "opaque"),
        ("rm *", "base64 -d f | bash", "opaque"),
        ("rm *", "ls\rrm", "opaque"),
        ("rm *", "ls\v-l", "opaque"),
        ("rm *", "ls\f-l", "opaque"),
        ("rm *", "python3 -c 'import shutil; shutil.rmtree(\"x\")'", "opaque"),
        # A subcommand is no command.
        ("test *", "npm test", None),
        ("test *", "make test", None),
        ("test *", "go test ./...", None),
        ("test *", "./gradlew test", None),
        ("test *", "mytool test", None),
        ("test *", "mytool test ./... --watch", None),
        ("test *", "bin/test models", None),
        ("test *", "python manage.py test app", None),
        ("test *", "unknownrunner test -f x", "possible"),
        ("curl *", "apt-get install -y curl git", None),
        ("curl *", "mytool install curl", None),
        ("rm *", "docker rm x", None),
        ("rm *", "docker run --rm x", None),
        # What is usually sourced and evaluated.
        ("rm *", "source .venv/bin/activate && pytest", None),
        ("rm *", ". ~/.nvm/nvm.sh", None),
        ("rm *", 'eval "$(ssh-agent -s)"', None),
        ("rm *", 'eval "$(ssh-agent -s; echo rm x)"', "opaque"),
        ("rm *", "python3 -c 'import x; print(x.__version__)'", None),
        ("rm *", "sed -i 's/a/b/g' f", None),
        ("rm *", "awk '{print $2}' f", None),
        ("rm *", "export PATH=$HOME/bin:$PATH", None),
        ("rm *", "export PATH=$HOME/bin:$PATH; ls", "opaque"),
        ("rm *", "i=0; while ((i<3)); do ((i++)); done", None),
        ("pip install *", "python -m pip install x", "certain"),
        ("pip install *", "uv pip install x", None),
        ("pip install *", ".venv/bin/pip install x", "possible"),
    ],
)  # fmt: skip
def test_a_line_has_the_grade_that_its_shape_says(rule: str, line: str, expected: Grade | None) -> None:
    assert grade(rule, line) == expected


def test_a_rule_that_begins_with_a_star_is_compared_with_whole_commands() -> None:
    assert grade("* --force", "git push --force") == "certain"
    assert grade("* --force", "unknownrunner git push --force") == "certain"
    assert grade("* --force", "git push") is None
    assert grade("* --force", "ls; . ./x") == "opaque"


def test_an_allow_rule_covers_only_what_is_certain() -> None:
    rule = CommandPattern("git push *")

    assert rule.covers_line("git push origin")
    assert not rule.covers_line("git -c core.sshCommand=evil push")
    assert not rule.covers_line("for x in a; do git push; done")
    assert not rule.covers_line("sudo git push")


class TestReading:
    def test_each_command_says_how_it_was_reached(self) -> None:
        line = read_line("sudo -u me sh -c 'cd x && git push' > out | cat")

        assert [(command.name, command.via, command.grade) for command in line.commands] == [
            ("sudo", (), "certain"),
            ("sh", ("sudo",), "certain"),
            ("cd", ("sudo", "sh -c"), "certain"),
            ("git", ("sudo", "sh -c"), "certain"),
            ("cat", (), "certain"),
        ]
        assert [(one.operator, one.target) for one in line.commands[0].redirections] == [(">", "out")]
        [pipe] = line.pipes
        assert (pipe.first, pipe.middle, pipe.last) == (0, 1, 2)
        assert [command.place for command in line.commands] == [0, 0, 0, 0, 1]

    def test_a_group_feeds_what_follows_it(self) -> None:
        line = read_line("{ echo a; echo b; } | cat | wc")

        assert [(pipe.first, pipe.middle, pipe.last) for pipe in line.pipes] == [(0, 2, 3), (0, 3, 4)]

    def test_what_is_unknown_is_marked(self) -> None:
        [command] = read_line('cp "$x" a$y *.txt b').commands

        assert [(word.text, word.known) for word in command.words] == [
            ("cp", True), ("", False), ("a", False), ("", False), ("b", True),
        ]  # fmt: skip

    def test_variables_are_kept_with_their_command(self) -> None:
        [command] = read_line("A=1 B='x y' make").commands

        assert command.assigned == (("A", "1"), ("B", "x y"))

    def test_what_cannot_be_read_says_why(self) -> None:
        assert read_line("eval $x").opaque == ("eval runs a text that is computed",)
        assert read_line("echo 'x").opaque == ("a quote that is not closed",)
        assert not read_line("echo 'x").is_whole


@pytest.mark.slow
@rows(
    "part",
    ["a ", "git ", "foo 'git x' ", "$(ls) ", '"$x" ', "a|", "a; ", "x=git ", "sudo -z git ", "-c git ", "[a", "{a,"],
)
def test_the_work_grows_with_the_length_of_a_line(part: str) -> None:
    """Ten times the text takes about ten times the steps, not a hundred times. A step is a call of a function."""
    assert steps_of(part, 20_000) < 15 * steps_of(part, 2_000)


def steps_of(part: str, size: int) -> int:
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    read_line.cache_clear()
    rule, text = CommandPattern("git push *"), (part * size)[:size]
    sys.setprofile(count)
    try:
        rule.grade_line(text)
    finally:
        sys.setprofile(None)
    return steps


@rows(
    ("line", "kind"),
    [
        ('eval "$x"', "computed"),
        ("$x push", "program"),
        ("x=$(y); $x push", "computed"),
        ("x=$(y); unknown $x", "arguments"),
        ("source <(make_settings)", "computed"),
        ("curl x | sh", "input"),
        (". /dev/stdin", "input"),
        ("echo ls > f.sh; sh f.sh", "written"),
        ("echo ls > f.sh; . f.sh", "written"),
        ("source ./settings.sh", "file"),
        ("source ~/settings.sh", "file"),
        ("perl -e 'f()'", "code"),
        ("LD_PRELOAD=./x.so ls", "variable"),
        ("PATH=./bin ls", "variable"),
        ("PATH=~/bin:$PATH ls", "path"),
        ("git -c core.hooksPath=./h commit", "variable"),
        ("echo 'a", "broken"),
        ("ls\x07", "control"),
    ],
)
def test_what_cannot_be_read_has_a_kind(line: str, kind: str) -> None:
    assert {reason.kind for reason in read_line(line).opaque} == {kind}


def test_a_reason_can_be_pickled() -> None:
    reason = read_line("curl x | sh").opaque[0]

    again = pickle.loads(pickle.dumps(reason))

    assert (again, again.kind) == (reason, "input")


def test_a_rule_that_allows_a_beginning_covers_no_way_out_of_it() -> None:
    rule = CommandPattern("rm -rf ../build*")

    assert rule.covers_line("rm -rf ../build/x")
    assert not rule.covers_line("rm -rf ../build/../other")
    assert not rule.covers_line("rm -rf ../build/x/..")
    assert not CommandPattern("cat src/*").covers_line("cat src/./../secret")
    assert CommandPattern("git add *").covers_line("git add src/../x")
