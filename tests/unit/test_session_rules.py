"""Rules of permission: one that denies or asks looks at a call, one that allows has to be sure of all of it."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.tables import rows

from interpose import Hooks
from interpose.matching import compile_condition, compile_rule
from interpose.matching.shell import CommandPattern
from interpose.session.permission import RuleAnswer, Rules, judge, kind_of


def covers(rule: str, given: Any, tool: str = "Bash", cwd: Any = "/project") -> bool:
    condition = compile_condition(rule)
    assert condition is not None
    return condition.covers({"tool_name": tool, "tool_input": given, "cwd": cwd})


# Lines that run nothing but `git push …`.
COVERED = [
    "git push", "git push origin main", "  git   push\torigin ", '"git" push', "g''it 'push'", "git push # to the server",
    "git push && git push --tags", "git push; git push", "git push || git push", "git push | git push", "git push & git push &",
    "git push\ngit push", "! git push", "time git push", "time -p git push", "if git push; then git push; fi",
    "git push 'two words'", 'git push -o "ci skip"', "git push origin HEAD:main", "git push --force-with-lease=main",
    "git push origin +main", "git push https://example.org/x.git", "git push -o ci@x%y^z~1",
]  # fmt: skip

# Lines that do more, or may.
NOT_COVERED = [
    "", "  ", "# git push", "ls", "git pull", "git", "git pushy", "git -C x push", "git  'push x'",
    # more commands
    "git push; rm -rf /", "rm -rf / && git push", "git push || rm x", "git push | sh", "git push & rm x", "git push\nrm x", "git push;rm x",
    "sudo git push", "env git push", "nice git push", "xargs git push", "sh -c 'git push'", "eval git push", "command git push", "exec git push",
    "timeout 5 git push", "find . -exec git push ';'", "trap 'git push' EXIT", "alias git=rm", "nohup git push", "builtin git push",
    # substitutions, variables, patterns
    "git push $(rm x)", "git push `rm x`", 'git push "$(rm x)"', "git push <(rm x)", "git push $x", "git push ${x:-y}", "$g push", "git $x",
    "git push *", "git push ?", "git push [a]", "git push {a,b}", "git push ~/x/*", "git push $'\\x41'", "git push \\\n origin", "git p\\ush",
    # files
    "git push > /etc/passwd", "git push >> f", "git push < f", "git push 2>&1", "git push &> f", "git push <<EOF\nx\nEOF", "git push <<< x", "> f git push",
    # variables that change what is run
    "PATH=/tmp/evil git push", "GIT_SSH_COMMAND=rm git push", "A=1; git push", "git push; A=1", "PATH[0]=/tmp/evil; git push", "a[0]=1 git push",
    "PATH+=:/tmp; git push", "PATH[0]+=x; git push", "\tA=1 git push", "ls&&A=1 git push", "git push\nPATH=x\ngit push", "git push A=1",
    # compounds that define or test
    "git() { rm x; }; git push", "function git { rm x; }; git push", "(git push)", "{ git push; }", "for x in a; do git push; done", "[[ -f x ]] && git push",
    "[ -f x ] && git push", "case x in a) git push;; esac", "select x in a; do git push; done", "((x)) && git push", "coproc git push", "time -o f git push",
    # other programs of that name
    "/tmp/evil/git push", "./git push", "/usr/bin/git push", "'git push'", '"git push" origin', "'git push/../../tmp/evil' x", "git 'push origin'",
    "git\\ push x",
    # text that shells take apart in different ways
    "git push\rorigin", "git\rpush", "git push \r\n", "git\x0bpush", "git push\x0corigin", "git push \x00", "git push \x1b[31m", "git\u00a0push",
    "git push 'x", 'git push "x', "git push \ud800", "git push (", "git push )", "if (git push", "cat <<E\n",
]  # fmt: skip


@rows("line", COVERED)
def test_a_line_that_runs_nothing_else_is_covered(line: str) -> None:
    assert covers("Bash(git push *)", {"command": line})
    assert covers("Bash(git push:*)", {"command": line})


@rows("line", NOT_COVERED)
def test_a_line_that_does_more_or_may_is_not_covered(line: str) -> None:
    assert not covers("Bash(git push *)", {"command": line})


@rows(
    ("pattern", "line", "expected"),
    [
        ("rsync * --dry-run", "rsync a b --dry-run", True),
        ("rsync * --dry-run", "rsync a b", False),
        ("rsync * --dry-run", "rsync a 'b --dry-run'", False),
        ("rsync * --dry-run", "rsync a b\r--dry-run", False),
        ("rsync * --dry-run", "rsync a --dry-run b", False),
        ("npm run test", "npm run test", True),
        ("npm run test", "npm run test -- -x", False),
        ("npm run test", "npm 'run test'", False),
        ("npm run test*", "npm run test:unit", True),
        ("npm run test:*", "npm run test unit", True),
        ("npm run test:*", "npm run tests", False),
        ("ls *", "ls && ls -l", True),
        ("ls *", "ls && lsof", False),
        ('git commit -m "a b"', "git commit -m 'a b'", True),
        ('git commit -m "a b"', "git commit -m a b", False),
        ('git commit -m "a b" *', "git commit -m 'a b' --amend", True),
        ("git commit *", "git commit -m 'a b'", True),
        ("git commit 'x", "git commit x", False),
        ("find *", "find . -name x", True),
        ("find *", "find . -exec rm x +", False),
        ("find *", "find . -exec find y ';'", True),
        ("find *", "find . -exec find y +", False),
        ("sudo *", "sudo rm x", False),
        ("bash *", "bash -c 'rm x'", False),
        ("bash *", "bash x.sh", True),
        ("xargs *", "xargs rm", False),
        ("*", "anything > goes", True),
    ],
)
def test_a_pattern_is_compared_word_by_word(pattern: str, line: str, expected: bool) -> None:
    assert covers(f"Bash({pattern})", {"command": line}) is expected


@rows("line", [None, 5, ["git", "push"], b"git push", {"git": "push"}])
def test_a_command_that_is_no_text_is_not_covered(line: Any) -> None:
    assert not covers("Bash(git push *)", {"command": line})


@rows("line", COVERED)
def test_what_is_covered_is_also_matched(line: str) -> None:
    """Whatever a rule lets through, a rule of the same words that denies would have seen."""
    assert CommandPattern("git push *").grade_line(line) == "certain"


class TestTools:
    @rows(
        ("rule", "tool", "expected"),
        [
            ("Read", "Read", True),
            ("Read", "read", False),
            ("Read", "", False),
            ("Read", None, False),
            ("Read", 5, False),
            ("mcp__files__*", "mcp__files__read", True),
            ("mcp__files__*", "mcp__shell__run", False),
            ("*", "anything", True),
        ],
    )
    def test_a_rule_without_a_pattern_goes_by_the_name(self, rule: str, tool: Any, expected: bool) -> None:
        condition = compile_condition(rule)
        assert condition is not None

        assert condition.covers({"tool_name": tool, "tool_input": object()}) is expected

    @rows("given", [None, "x", 5, [], {}, {"something": "src/a"}, {"file_path": None}])
    def test_an_input_that_cannot_be_judged_is_not_covered(self, given: Any) -> None:
        assert not covers("Write(src/**)", given, "Write")


class TestPaths:
    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        project = tmp_path / "project"
        (project / "src").mkdir(parents=True)
        (tmp_path / "secret").mkdir()
        (project / "src" / "away").symlink_to(tmp_path / "secret")
        (project / "src" / "link.py").symlink_to(project / "other.py")
        (project / "src" / "loop").symlink_to(project / "src" / "loop")
        (tmp_path / "door").symlink_to(project)
        return project

    @rows(
        ("rule", "path", "expected"),
        [
            ("src/**", "src/a.py", True),
            ("src/**", "./src/new/a.py", True),
            ("src/**", "{project}/src/a.py", True),
            ("./src/**", "src/a.py", True),
            ("/src/**", "src/a.py", True),
            ("src/**", "srcs/a.py", False),
            ("src/**", "src/../other.py", False),
            ("src/**", "src/../../secret/x", False),
            ("src/**", "../project/src/a.py", True),
            ("src/**", "/etc/passwd", False),
            ("src/**", "/src/a.py", False),
            ("src/**", "src/away/x", False),
            ("src/**", "src/away/../a.py", False),
            ("src/**", "src/link.py", False),
            ("src/**", "src/a\0b", False),
            ("src/**", "src/\ud800", False),
            ("src/*.py", "src/a.py", True),
            ("src/*.py", "src/deep/a.py", False),
            ("*.py", "a.py", True),
            ("*.py", "deep/er/a.py", True),
            ("*.py", "/etc/a.py", False),
            ("*.py", "../a.py", False),
            ("*.py", "~/a.py", False),
            ("**/a.py", "deep/a.py", True),
            ("**/a.py", "../a.py", False),
            ("**", "src/a", True),
            ("**", "/etc/passwd", False),
            ("**", "~root/x", False),
            ("/{root}/**", "{root}/secret/x", True),
            ("/{root}/secret/*", "src/away/x", False),
        ],
    )
    def test_both_the_name_and_what_it_names_must_match(
        self, project: Path, rule: str, path: str, expected: bool
    ) -> None:
        places = {"project": str(project), "root": str(project.parent)}
        text = f"Write({rule.format(**places)})"

        assert covers(text, {"file_path": path.format(**places)}, "Write", str(project)) is expected

    def test_a_directory_that_is_reached_through_a_link_is_that_directory(self, project: Path) -> None:
        door = project.parent / "door"

        assert covers("Write(src/**)", {"file_path": "src/a.py"}, "Write", str(door))
        assert covers("Write(src/**)", {"file_path": f"{door}/src/a.py"}, "Write", str(door))
        assert not covers("Write(src/**)", {"file_path": "src/away/x"}, "Write", str(door))

    def test_a_link_in_a_circle_is_somewhere_below(self, project: Path) -> None:
        assert covers("Write(src/**)", {"file_path": "src/loop"}, "Write", str(project)) in (True, False)

    @rows("name", ["[a]", "{a,b}", "*", "a?b"])
    def test_a_directory_with_marks_in_its_name_means_itself(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).mkdir()

        assert covers("Write(src/**)", {"file_path": "src/x"}, "Write", str(tmp_path / name))
        assert not covers("Write(src/**)", {"file_path": "../a/src/x"}, "Write", str(tmp_path / name))

    def test_a_home_is_the_persons(self) -> None:
        home = os.path.expanduser("~")

        assert covers("Read(~/notes/**)", {"file_path": f"{home}/notes/a"}, "Read")
        assert not covers("Read(~/notes/**)", {"file_path": f"{home}/other/a"}, "Read")

    @rows(
        "given",
        [
            {"file_path": "src/a", "path": "/etc/passwd"},
            {"path": "src/a", "notebook_path": "/etc/passwd"},
            {"file_path": "src/a", "path": None},
            {"file_path": "src/a", "command": "rm x"},
            {"path": "src/a", "pattern": "../../etc/*"},
            {"path": "src/a", "pattern": "/etc/*"},
            {"path": "src/a", "pattern": "{b,../../x}"},
            {"path": "src/a", "pattern": "~/x"},
        ],
        ids=repr,
    )
    def test_a_second_place_is_judged_too(self, given: dict[str, Any]) -> None:
        assert not covers("Tool(src/**)", given, "Tool")

    def test_two_places_that_match_are_covered(self) -> None:
        assert covers("Tool(src/**)", {"file_path": "src/a", "path": "src/b", "pattern": "*.py"}, "Tool")

    def test_a_command_is_not_covered_by_a_path_beside_it(self) -> None:
        assert not covers("Bash(ls)", {"command": "ls", "file_path": "/etc/passwd"})
        assert not covers("Bash(src/**)", {"command": "rm x", "file_path": "src/a"})


class TestTexts:
    @rows(
        ("rule", "given", "expected"),
        [
            ("WebFetch(domain:example.org)", {"url": "https://example.org/a", "prompt": "read"}, True),
            ("WebFetch(domain:example.org)", {"url": "https://EXAMPLE.org:8443/"}, True),
            ("WebFetch(domain:example.org)", {"url": "https://example.org.evil.net/"}, False),
            ("WebFetch(domain:example.org)", {"url": "https://evil.net/example.org"}, False),
            ("WebFetch(domain:example.org)", {"url": "https://example.org@evil.net/"}, False),
            ("WebFetch(domain:example.org)", {"query": "example.org"}, False),
            ("WebFetch(domain:example.org)", {"url": "https://example.org/", "query": "x"}, False),
            ("WebFetch(domain:example.org)", {"url": "http://[::1"}, False),
            ("WebFetch(domain:example.org)", {"url": ["https://example.org"]}, False),
            ("Search(python *)", {"query": "python lists"}, True),
            ("Search(python *)", {"query": "rust", "url": "python x"}, False),
            ("Task(explorer)", {"subagent_type": "explorer", "prompt": "look"}, True),
            ("Task(explorer)", {"subagent_type": "writer", "prompt": "explorer"}, False),
            ("Task(explorer)", {"subagent_type": "writer", "skill": "explorer"}, False),
            ("Glob(src/**)", {"pattern": "src/*.py"}, True),
            ("Glob(src/**)", {"pattern": "src/../../etc/*"}, False),
            ("Glob(src/**)", {"pattern": "src/{a,../../etc}/*"}, False),
            ("Say(hello *)", {"prompt": "hello you"}, True),
            ("Skill(deploy *)", {"skill": "deploy", "args": "staging"}, True),
            ("Skill(deploy)", {"skill": "deploy", "args": "staging"}, False),
            ("Skill(deploy)", {"skill": "deploy", "args": ""}, True),
        ],
    )
    def test_everything_that_names_what_is_meant_must_match(
        self, rule: str, given: dict[str, Any], expected: bool
    ) -> None:
        assert covers(rule, given, rule.partition("(")[0]) is expected


class TestNames:
    @rows(
        ("rule", "given", "grade"),
        [
            ("Agent(writer)", {"subagent_type": "writer", "prompt": "x"}, "certain"),
            ("Agent(writer)", {"subagent_type": " Writer", "prompt": "x"}, "possible"),
            ("Agent(writer)", {"prompt": "x"}, "opaque"),
            ("Agent(writer)", {"subagent_type": "reader", "prompt": "writer x"}, None),
            ("Skill(deploy)", {"skill": "/deploy"}, "possible"),
            ("Skill(deploy *)", {"skill": "deploy", "args": "production"}, "certain"),
            ("Skill(deploy)", {"skill": "deploy", "args": "production"}, "certain"),
            ("Skill(deploy)", {"skill": "review", "args": "deploy"}, None),
            ("WebSearch(*password*)", {"query": "my PASSWORD"}, "possible"),
            ("mcp__hub__push(*main*)", {"branch": "main"}, "possible"),
            ("mcp__hub__push(*main*)", {"branch": "feature"}, None),
            ("mcp__hub__push(*main*)", {}, "opaque"),
        ],
        ids=repr,
    )
    def test_a_name_is_compared_as_hosts_look_it_up(self, rule: str, given: dict[str, Any], grade: str | None) -> None:
        call = {"tool_name": rule.partition("(")[0], "tool_input": given, "cwd": "/"}

        assert compile_rule(rule).grade(call) == grade


class TestRules:
    CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "git push; ls"}, "cwd": "/"}  # noqa: RUF012

    @rows(
        ("rules", "answer"),
        [
            ({}, ("", "")),
            ({"Bash": "allow"}, ("allow", "Bash")),
            ({"Bash(git push *)": "allow"}, ("", "")),
            ({"Bash(git push *)": "ask", "Bash": "allow"}, ("ask", "Bash(git push *)")),
            ({"Bash": "allow", "Bash(ls)": "deny", "Bash(git push *)": "ask"}, ("deny", "Bash(ls)")),
            ({"Bash(l*)": "deny", "Bash(ls)": "deny"}, ("deny", "Bash(l*)")),
            ({"Read": "deny"}, ("", "")),
            ({"*": "deny"}, ("deny", "*")),
            ({"*(git push *)": "ask"}, ("ask", "*(git push *)")),
            ({"Read|Bash(git push *)": "ask"}, ("ask", "Read|Bash(git push *)")),
            ({"Read|Write": "deny"}, ("", "")),
        ],
    )
    def test_the_strictest_that_holds_counts(self, rules: dict[str, str], answer: tuple[str, str]) -> None:
        found = Rules(rules)(self.CALL)

        assert (found.answer, found.rule) == answer

    @rows(
        ("rule", "given"),
        [
            ("Tool(//etc/**)", {"file_path": "src/a", "path": "/etc/passwd"}),
            ("Tool(//etc/**)", {"path": "/etc/passwd", "command": "ls"}),
            ("Tool(explorer)", {"subagent_type": "explorer", "prompt": "look around"}),
            ("Tool(domain:evil.net)", {"url": "https://evil.net/", "query": "x"}),
        ],
        ids=repr,
    )
    def test_a_rule_that_keeps_back_holds_if_any_part_of_the_call_is_meant(
        self, rule: str, given: dict[str, Any]
    ) -> None:
        call = {"tool_name": "Tool", "tool_input": given, "cwd": "/project"}

        assert Rules({rule: "deny"})(call) == RuleAnswer("deny", rule)

    def test_an_input_that_breaks_whoever_looks_is_kept_back(self) -> None:
        class Odd(dict[str, Any]):
            def __contains__(self, key: object) -> bool:
                raise RuntimeError

        call = {"tool_name": "Bash", "tool_input": Odd(), "cwd": "/"}

        answers = [Rules({"Bash(ls)": answer})(call).answer for answer in ("allow", "ask", "deny")]
        assert answers == ["", "ask", "ask"]

    @rows("path", ["a\0b", "\ud800", "x" * 100_000])
    def test_a_path_that_is_none_is_never_allowed_and_never_an_exception(self, path: str) -> None:
        call = {"tool_name": "Write", "tool_input": {"file_path": path}, "cwd": "/project"}

        for answer in ("allow", "ask", "deny"):
            for pattern in ("src/**", "*.py", "~/x", "//etc/*"):
                assert Rules({f"Write({pattern})": answer})(call).answer in ({"", "ask", answer} - {"allow"})


class TestGrades:
    """A rule denies or asks about what it is sure of and what is possible, and asks about what cannot be read."""

    @rows(
        ("path", "denying", "asking", "allowing"),
        [
            ("secret", ("deny", "certain"), ("ask", "certain"), "allow"),
            ("file:///p/secret", ("deny", "possible"), ("ask", "possible"), ""),
            ("/dev/fd/3", ("ask", "opaque"), ("ask", "opaque"), ""),
            ("other", ("", "certain"), ("", "certain"), ""),
        ],
    )
    def test_what_each_grade_means(self, path: str, denying: Any, asking: Any, allowing: str) -> None:
        call = {"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": "/p"}

        for answer, expected in (("deny", denying), ("ask", asking)):
            found = Rules({"Read(./secret)": answer})(call)
            assert (found.answer, found.grade) == expected
        assert Rules({"Read(./secret)": "allow"})(call).answer == allowing

    def test_the_reason_says_how_sure_it_is(self) -> None:
        def reason(path: str, answer: str = "deny") -> str:
            call = {"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": "/p"}
            return Rules({"Read(./secret)": answer})(call).reason

        assert reason("secret") == "denied by the rule Read(./secret)"
        assert reason("file:///p/secret") == "denied by the rule Read(./secret), which this call may match"
        assert (
            reason("/dev/fd/3")
            == "its input does not tell all that this call does, and the rule Read(./secret) may match it"
        )
        assert reason("secret", "ask") == "the rule Read(./secret) asks"
        assert reason("file:///p/secret", "ask") == "the rule Read(./secret) asks, which this call may match"

    def test_a_rule_that_allows_does_not_answer_for_one_that_cannot_read_the_call(self) -> None:
        call = {"tool_name": "Read", "tool_input": {"file_path": "/dev/fd/3"}, "cwd": "/p"}

        assert Rules({"Read(./secret)": "deny", "Read": "allow"})(call).answer == "ask"

    def test_of_two_rules_the_surer_one_is_named(self) -> None:
        call = {"tool_name": "Read", "tool_input": {"file_path": "secret", "more": "key"}, "cwd": "/p"}

        for texts in (("Read(key)", "Read(secret)"), ("Read(secret)", "Read(key)")):
            ruled = Rules(dict.fromkeys(texts, "deny"))(call)
            assert (ruled.rule, ruled.grade) == ("Read(secret)", "certain")

    def test_a_rule_that_asks_about_all_edits_does_not_hide_one_that_cannot_read_the_call(self) -> None:
        call = {"tool_name": "Write", "tool_input": {"file_path": "/dev/fd/3", "content": "x"}, "cwd": "/p"}
        outcome = Hooks().fire_sync("PreToolUse", tool_name="Write", tool_input=call["tool_input"])

        for texts in (("Write", "Write(./secret)"), ("Write(./secret)", "Write")):
            rules = Rules({text: "ask" if text == "Write" else "deny" for text in texts})
            verdict = judge(outcome, call, rules=rules, mode="acceptEdits", kind="edit", default="allow")
            assert verdict.what == "ask"

    @rows(
        ("mode", "tool", "what"),
        [
            ("default", "Read", "ask"),
            ("bypass", "Read", "run"),
            ("acceptEdits", "Write", "ask"),
            ("plan", "Write", "refuse"),
        ],
    )
    def test_a_mode_answers_the_question_or_not(self, mode: str, tool: str, what: str) -> None:
        call = {"tool_name": tool, "tool_input": {"file_path": "/dev/fd/3"}, "cwd": "/p"}
        outcome = Hooks().fire_sync("PreToolUse", **call)
        rules = Rules({f"{tool}(./secret)": "deny"})

        assert judge(outcome, call, rules=rules, mode=mode, kind=kind_of(tool), default="allow").what == what

    def test_bypass_never_answers_a_deny(self) -> None:
        for path in ("secret", "file:///p/secret"):
            call = {"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": "/p"}
            outcome = Hooks().fire_sync("PreToolUse", **call)
            rules = Rules({"Read(./secret)": "deny"})

            assert judge(outcome, call, rules=rules, mode="bypass", kind="read", default="allow").what == "refuse"


class TestSearches:
    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        for name in ("secrets/key", "notes/key", "src/app.py"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("token")
        (tmp_path / "src/link").symlink_to("../secrets/key")
        (tmp_path / "src/round").symlink_to("round")
        return tmp_path

    def test_a_wider_search_is_asked_about_unless_the_tool_leaves_files_out(self, place: Path) -> None:
        for answer in ("deny", "ask"):
            rules = Rules({"Read(secrets/**)": answer})
            wide = {"tool_name": "Grep", "tool_input": {"pattern": "token"}, "cwd": str(place)}
            aimed = {"tool_name": "Grep", "tool_input": {"pattern": "token", "path": "secrets"}, "cwd": str(place)}

            assert rules(wide).answer == "ask"
            assert rules(wide, leaves_out=True).answer == ""
            assert rules(aimed, leaves_out=True).answer == rules(aimed).answer == answer

    def test_files_that_rules_deny_or_ask_about_are_left_out(self, place: Path) -> None:
        rules = Rules(
            {"Read(secrets/**)": "deny", "Read(notes/**)": "ask", "Write(src/**)": "deny", "Bash(ls)": "deny"}
        )
        call = {"tool_name": "Grep", "tool_input": {"pattern": "token"}, "cwd": str(place)}
        left_out = rules.left_out(call)

        found = {str(path.relative_to(place)) for path in place.rglob("*") if left_out(str(path))}

        assert found == {"secrets", "secrets/key", "notes", "notes/key", "src/link", "src/round"}

    def test_what_was_asked_about_and_allowed_is_not_left_out(self, place: Path) -> None:
        rules = Rules({"Read(secrets/**)": "deny", "Read(notes/**)": "ask"})
        call = {"tool_name": "Grep", "tool_input": {"pattern": "token", "path": "notes"}, "cwd": str(place)}

        left_out = rules.left_out(call)

        assert not left_out(str(place / "notes/key"))
        assert left_out(str(place / "secrets/key"))
