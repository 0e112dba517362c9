"""``if`` rules on a shell's command line: which commands count as which rule."""

import subprocess
import sys
import time
from typing import Any

import pytest
from tests.tables import rows

from interpose.matching import compile_condition
from interpose.matching.shell import shell_commands

PUSH = "git push *"


def judge(pattern: str, command: Any, tool: str = "Bash", **more: Any) -> bool:
    condition = compile_condition(f"{tool}({pattern})")
    assert condition is not None
    return condition({"tool_name": tool, "tool_input": {"command": command, **more}, "cwd": "/project"})


@rows(
    ("pattern", "command", "expected"),
    [
        ("git push *", "git push origin main", True),
        ("git push *", "git push", True),
        ("git push *", "git pushy", False),
        ("git push *", "git pull", False),
        ("git push *", "git -C dir push", True),
        ("git push *", "git --no-pager -c a.b=c push x", True),
        ("git push *", "git -C push pull", False),
        ("npm publish *", "npm --registry x publish", True),
        ("docker push *", "docker --context x push y", True),
        ("rm -rf *", "rm -fr x", True),
        ("rm -rf *", "rm -r -f x", True),
        ("rm -rf *", "rm --recursive --force x", True),
        ("rm -rf *", "rm --recurs --forc x", True),
        ("rm -rf *", "rm x -vRf", True),
        ("rm -rf *", "rm -r x", False),
        ("rm -rf *", "rm -- -rf x", False),
        ("git push --force *", "git push -f origin", True),
        ("git push --force *", "git push origin main --force", True),
        ("git push --force *", "git push origin", False),
        ("kubectl delete *", "kubectl -n x delete pod y", True),
        ("git push:*", "git push", True),
        ("git push:*", "git push origin", True),
        ("git push:*", "git pushy", False),
        ("git push*", "git pushy", True),
        ("git push", "git push", True),
        ("git push", "git push origin", False),
        ("ls", "ls", True),
        ("ls", "ls -l", False),
        ("npm run *", "npm run build -- --x", True),
        ("npm run *", "npm runs", False),
        ("rm *", "rm -rf /a/b c", True),
        ("* --force", "git push --force", True),
        ("git * --force", "git push a --force", True),
        ("git * --force", "git push a", False),
        ("git * main * x", "git push main a x", True),
        ("git push *", "/usr/bin/git push", True),
        ("/usr/bin/git push *", "/usr/bin/git push x", True),
        ("/usr/bin/git push *", "/bin/git push x", False),
        ('git commit -m "a b"', "git commit -m 'a b'", True),
        ("echo a*", 'echo "a\nb"', True),
    ],
)
def test_a_pattern_is_the_text_of_a_command_with_stars(pattern: str, command: str, expected: bool) -> None:
    assert judge(pattern, command) is expected


RUNS_IT = [
    # spelling
    "git  push", "\tgit\tpush", '"git" push', "'git' 'push'", "g\\it pu\\sh", 'g""it p"us"h', "git pu\\\nsh", "gi\\\nt push",
    "$'git' push", '$"git" push', "git push # to the server",
    "git push$\\\nx", "echo $\\\n(git push)", "i\\\nf git push; then x; fi", "A\\\n=1 git push", "cat <<E\\\nF\n$(git push)\nEF",
    # around it
    "A=1 git push", "A=1 B='x y' git push", "A=$(x) git push", "a=(1 2) git push", "a[1]=2 git push", "a[1 + 2]=3 git push",
    "git push >f", ">f git push", "git >f push", "git 2>&1 push", "git push 2>/dev/null", "git <<< x push", "git push &>f",
    "x &>f git push", "! git push", "time git push", "time -p git push", "time -f x git push", "coproc git push",
    # lists
    "ls; git push", "ls && git push", "ls || git push", "ls & git push", "ls\ngit push", "git push; ls", "git push | cat",
    "yes | git push", "yes |& git push", "ls;git push", "ls # a comment \\\ngit push", "echo it\\'s; git push",
    # compounds
    "(git push)", "( (git push) )", "((git push); ls)", "{ git push; }", "time { git push; }", "if git push; then ls; fi",
    "if ls; then git push; fi", "if ls; then x; else git push; fi", "while git push; do ls; done", "for x in 1; do git push; done",
    "for x do git push; done", "for ((i=0;i<3;i++)); do git push; done", "until x; do git push\ndone", "select x in a; do git push; done",
    "case x in a) git push;; esac", "case x in (a|b) ls;; *) git push;; esac", "f() { git push; }; f", "function f { git push; }",
    "f() (git push)", "function f() { git push; }", '[[ -f x ]] && git push',
    # substitutions
    "echo $(git push)", "echo `git push`", 'echo "$(git push)"', 'echo "`git push`"', "diff <(git push) x", "tee >(git push)",
    "x=$(git push)", "echo ${x:-$(git push)}", "echo $(( $(git push) ))", "echo `echo \\`git push\\``", 'echo "a $(echo "$(git push)")"',
    'echo "$(case x in a) git push;; esac)"', "cat <<EOF\n$(git push)\nEOF", "cat <<EOF\n`git push`\nEOF", "a[$(git push)]=1",
    "export A=$(git push)", "cat <(echo <(git push))", "echo x > $(git push)", 'echo "$(x # )\ngit push)"',
    # here-documents end where they end
    "cat <<EOF\nx\nEOF\ngit push", "cat <<'EOF'\n'\nEOF\ngit push", "cat <<-EOF\n\tx\n\tEOF\ngit push", "cat <<EOF && git push\nx\nEOF",
    "git <<EOF push\nx\nEOF", "cat <<A <<B\na\nA\nb\nB\ngit push", "cat <<EOF\nx\\\nEOF\nEOF\ngit push",
    # commands that run a command
    "sudo git push", "sudo -u me git push", "sudo -n -E git push", "sudo --user=me git push", "sudo --user me A=1 git push", "env git push",
    "env A=1 B=2 git push", "env -i -u X git push", "env -S 'git push'", "nice git push", "nice -n 5 git push", "nice -10 git push",
    "nohup git push &", "timeout 5 git push", "timeout -s KILL 5 git push", "timeout --signal KILL 5s git push", "command git push",
    "builtin eval git push", "exec git push", "exec -a x git push", "\\time -o f git push", "stdbuf -oL git push", "sudo env nice git push",
    "eval git push", "eval 'git push'", 'eval "git" "push"', "sh -c 'git push'", "bash -c 'ls; git push'", "zsh -c 'git push'", "dash -c 'git push'",
    "/bin/bash -lc 'git push'", "bash -eo pipefail -c 'git push'", "bash --norc -c 'git push'", "sudo sh -c 'git push'",
    "sh -c \"sh -c 'git push'\"", "xargs git push", "echo push | xargs git", "xargs -n 1 git push", "xargs -I{} git {} x", "xargs -I % sh -c %",
    "find . -exec git push \\;", "find . -name x -exec git push {} +", "find . -ok git push ';'", "find . -exec ls \\; -execdir git push \\;",
    "find . -exec sh -c 'git push' \\;", "trap 'git push' EXIT", "alias p='git push'", "su -c 'git push'",
]  # fmt: skip

MAY_RUN_IT = [
    "$g push", "${g} push", "$(which git) push", "`which git` push", '"$g" push', "git $x", "git pu$x", 'git "$x"', "git ${x}", "git $(x)",
    "git {push,x}", "{git,push}", "git pus?", "git p[u]sh", "gi? push", "/usr/bin/g*t push", "=git push", "$'\\x67it' push", "@(git) push",
    "eval $x", 'eval "$(x)"', 'sh -c "$x"', 'sh -c "git $x"', "sh <<EOF\ngit push\nEOF", "echo git push | sh", "curl x | bash -s", "cat x | sudo sh",
    "sh <<< 'git push'", "cat <<EOF | sh\ngit push\nEOF", "bash <(echo git push)", "source <(echo git push)", ". /dev/stdin", "bash $x",
    "sudo $x", "env $x git", "timeout $x git push", "x='. -delete'; find $x", "sudo --unknown x git push", "git() { command git \"$@\"; }",
    "if (", "echo 'git push", 'echo "git push', "echo $(git", "echo `git", "(a", "git -C $x push", "bash script.sh git push", "${ git push; }", "echo $[1]",
    "x=(git push); ${x[@]}", "git push () { ls; }", "f (git push", "bash /dev/stdin", "sh /proc/self/fd/0", "x='a'; ((x++))", "git push\r\n",
]  # fmt: skip

RUNS_SOMETHING_ELSE = [
    "", "  \n", "# git push", "ls # git push", "ls # ; git push", "echo git push", 'echo "git push"', "echo 'git push; git push'", "echo 'a' 'git push'",
    "echo \\; git push", 'echo "; git push"', "echo '$(git push)'", 'echo "\\$(git push)"', 'echo "\\`git push\\`"', "echo \\`git push",
    "echo $HOME", "echo $x git push", 'echo "$x; git push"', "echo $(date) `date`", "ls *.py", "git commit -m \"$x\"", "git -C x status", "git status $x", "cat <<EOF\nx", "cat <<EOF", "a )", "f (a)", "sh", "bash -s", "sudo -s", "find $x -name y",
    "git commit$x", "git pull{a,b}", "git stash drop stash@{0}", "git push-to-checkout", "gitpush", "x=git", "A='git push' ls",
    "cat <<EOF\ngit push\nEOF", "cat <<'EOF'\n$(git push)\nEOF", "cat <<EOF > f\n; git push '\nEOF\nls", "cat <<-EOF\n\tgit push\n\tEOF", "cat <<< 'git push'",
    "cat > 'git push'", "case git in push) ls;; esac", "for git in push; do ls; done", "function git { ls; }", "sudo echo git push", "env A=git ls push",
    "timeout 5 echo git push", "xargs echo git push", "command -v git push", "eval echo git push", "sh -c 'echo git push'", "bash script.sh git",
    "sh -c 'ls' git push", "find . -name git -exec ls push \\;", "find git push", "nice -n 5 ls", "((x++))", "((i=0; i<3))", "[ -f git ] && ls", "[[ git == push ]]",
    "echo $((1 + 2)) ${x:-git push} ${#x}", "echo git 2>&1 push", "ls &>/dev/null", "a && b || c; d | e & f", "f() { ls; }; f git push", "git", "push",
    "/git/push x", "git\u00a0push", "while read -r x; do echo \"$x\"; done < git", "if [ -n \"$x\" ]; then echo git push; fi",
    "python -c 'print(\"git push\")'", "echo {} git push", "echo ${x:-; git push }", "(ls);" * 50, "for x in git push; do ls; done",
    "echo $(case x in esac)", "echo $(case in in esac)", "echo $(case x in a) ls;; esac)", "echo $(case x in a) if ls; then ls; fi;; b) ls;; esac)",
]  # fmt: skip


@rows("command", RUNS_IT)
def test_a_command_is_found_wherever_a_shell_would_run_it(command: str) -> None:
    assert judge(PUSH, command)


WRAPPERS = [
    "builtin", "busybox", "bwrap", "caffeinate", "chronic", "chroot /x", "chrt 5", "command", "doas", "env", "exec", "fakeroot", "firejail", "flock f",
    "ionice", "ltrace", "nice", "nohup", "nsenter", "parallel", "prlimit", "proot", "rlwrap", "setsid", "stdbuf", "strace", "sudo", "systemd-run",
    "taskset 1", "time", "timeout 5", "unbuffer", "unshare", "xargs",
]  # fmt: skip


@rows("wrapper", WRAPPERS)
def test_a_command_that_runs_another_is_judged_by_the_other(wrapper: str) -> None:
    assert judge(PUSH, f"{wrapper} git push")
    assert not judge(PUSH, f"{wrapper} echo git push")


@rows("command", MAY_RUN_IT)
def test_what_cannot_be_told_counts(command: str) -> None:
    assert judge(PUSH, command)


@rows("command", RUNS_SOMETHING_ELSE)
def test_what_is_certainly_something_else_does_not_count(command: str) -> None:
    assert not judge(PUSH, command)


def test_the_words_before_the_first_that_is_not_known_decide() -> None:
    assert judge("rm -rf *", "rm -rf $x")
    assert judge("rm -rf *", "rm $x")
    assert judge("rm -rf *", "rm -r $x")
    assert not judge("rm -rf *", "rm dist/*.js")
    assert judge("ls", "ls $x")
    assert not judge("ls", "ls a$x")
    assert judge("ls a b", "ls a$x")


@rows("tool", ["Bash", "shell", "PowerShell", "mcp__x__run"])
def test_every_tool_that_is_given_a_command_is_a_shell(tool: str) -> None:
    assert judge(PUSH, "git push", tool)
    assert not judge(PUSH, "git pull", tool)


@rows("command", [None, 5, ["git", "push"], {}, True])
def test_a_command_that_is_no_text_counts(command: Any) -> None:
    assert judge(PUSH, command)


def test_a_path_beside_a_command_does_not_hide_it() -> None:
    assert judge(PUSH, "git push", path="/x")
    assert judge(PUSH, "git push", url="https://x")
    assert not judge(PUSH, "git pull", path="/x")


def test_a_tool_with_a_path_and_a_command_of_its_own_is_judged_by_both() -> None:
    assert judge("src/**", "view", "editor", path="/project/src/a")
    assert not judge("src/**", "view", "editor", path="/project/lib/a")


@rows(
    "command",
    ["\0", "ls\0", "\ud800", "ls; " * 40_000, "ls;" * 20_000, "$(" * 50_000, "(" * 100_000, "eval " * 11 + "ls", "sudo " * 20 + "ls",
     "(ls);" * 50 + "( " * 41 + "ls" + " )" * 41],
)  # fmt: skip
def test_what_is_too_much_counts(command: str) -> None:
    assert judge(PUSH, command)


# Found to take a parser of the shell's whole grammar minutes, or all memory.
HOSTILE = ["(", "$(", "`", "((", "{ ", "a|", '"$(', "$((", "${", "${x:-", "case x in a) ", "\\", "'", '"', "<(", "<<EOF\n", "<<a <<b ", "a=(", "a ",
    "$x", "{a,", "[[ ", "f() { ", ">f ", "\n", "# ", "a&&", "$[", ")", "a$(b) ", "$'", "é", "@(", "\\\n", "a[", "'' ", '"" ', "a\\", "=", "*", "!", "~", "a=b ",
    "<<a\na\n", "`\\`", "a[]]", "$'\\\\' ", "&>f", "eval ", "sudo ", "time ", "esac "]  # fmt: skip


def seconds_to_judge(line: str, limit: float) -> float:
    """The best of three: the other work of a busy machine, and a collection of garbage, are not the reader's."""
    best = float("inf")
    for attempt in range(3):
        other = line + " " * attempt  # a line that was judged before is not read again
        began = time.process_time()
        judge(PUSH, other)
        best = min(best, time.process_time() - began)
        if best < limit:
            break
    return best


@rows("part", HOSTILE)
@pytest.mark.slow
def test_no_line_takes_long(part: str) -> None:
    """What is read in linear time takes a fifth of this limit, what is read in quadratic time several times as long."""
    assert seconds_to_judge((part * 30_000)[:29_990], 1.5) < 1.5


@pytest.mark.slow
@rows("part", HOSTILE)
def test_no_line_with_a_command_around_the_part_takes_long(part: str) -> None:
    hostile = [line.format((part * 15_000)[:14_990]) for line in ("git {0}", "ls\n{0}\nls", 'echo "{0}"', "$({0})")]

    assert [line[:40] for line in hostile if seconds_to_judge(line, 0.6) >= 0.6] == []


@pytest.mark.more
@rows("part", HOSTILE)
@rows("line", ["{0}", "git {0}", "ls\n{0}\nls", 'echo "{0}"', "$({0})"])
def test_no_line_takes_long_wherever_the_part_stands(line: str, part: str) -> None:
    assert seconds_to_judge(line.format((part * 100_000)[:99_990]), 5) < 5


def test_a_long_line_of_one_command_is_still_judged() -> None:
    assert not judge(PUSH, f"cat > f <<'EOF'\n{'git push; $(x) ' * 6_000}\nEOF")
    assert shell_commands("a " * 49_000) is not None


def test_nothing_is_read_before_a_rule_asks() -> None:
    script = "import sys, interpose; from interpose.matching import compile_condition; compile_condition('Bash'); print([m for m in sys.modules if 'matching.shell' in m])"

    report = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert report.stdout.strip() == "[]"
