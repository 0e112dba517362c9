"""Random command lines around a command, and what bash and dash really run of them.

The command is a compiled program: variables such as BASH_ENV would start a script again and again.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

__all__ = ["SHELLS", "TOOLS", "Laboratory", "random_line", "token_soup"]

SHELLS = [shell for shell in ("bash", "dash") if shutil.which(shell)]
TOOLS = ["bash", "dash", "sh", "cat", "env", "echo", "xargs", "nice", "timeout", "nohup", "find", "tee", "true", "false", "tr", "head", "test", "printf", "setsid"]  # fmt: skip

_STUB = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char line[4096]; int used = 0;
  for (int at = 0; at < argc && used < 4000; at++) {
    const char *word = at ? argv[at] : (strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
    used += snprintf(line + used, sizeof line - used - 2, at ? " %s" : "%s", word);
  }
  used += snprintf(line + used, sizeof line - used, "\n");
  int file = open(RAN, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file >= 0 && write(file, line, used) < 0) return 1;
  return 0;
}
"""


class Laboratory:
    """A directory in which lines are run, with a PATH of a few tools and the stub ``git``."""

    def __init__(self, folder: Path) -> None:
        self.ran = folder / "ran"
        self.work = folder / "work"
        tools = folder / "bin"
        tools.mkdir()
        source = folder / "stub.c"
        source.write_text(_STUB)
        compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
        subprocess.run([compiler, f'-DRAN="{self.ran}"', "-o", str(tools / "git"), str(source)], check=True)
        for tool in TOOLS:
            if found := shutil.which(tool):
                (tools / tool).symlink_to(os.path.realpath(found) if tool != "sh" else found)
        self.environment = {"PATH": str(tools), "HOME": str(folder), "LC_ALL": "C.UTF-8"}

    def runs(self, shell: str, line: str) -> bool:
        """Return whether a shell runs ``git push`` for a line."""
        self.ran.unlink(missing_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        process = subprocess.Popen(
            [shutil.which(shell) or shell, "-c", line], cwd=self.work, env=self.environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()
        return self.ran.exists() and any(
            said == "git push" or said.startswith("git push ") for said in self.ran.read_text().splitlines()
        )


# Ways to write or run a command; {} is the command. Each of them runs it, in bash or in dash.
_AROUND = [
    "{}", "{}", "( {} )", "{{ {}; }}", "true && {}", "false || {}", "true; {}", "true\n{}", "true & {}", "if {}; then :; fi", "if true; then {}; fi",
    "for x in 1; do {}; done", "while {}; do break; done", "case x in x) {};; esac", "case a in (b) :;; a|x) {};; esac", "f() {{ {}; }}; f", "function f {{ {}; }}; f",
    "echo $({})", 'echo "$({})"', "echo `{}`", "x=$({})", ": ${{x:-$({})}}", "cat <({})", "{{ cat <<EOF\n$({})\nEOF\n}}", "cat <<'EOF'\n'\nEOF\n{}", "cat <<-EOF\n\ta\n\tEOF\n{}",
    'echo "$(cat <<EOF\n)\nEOF\n)"; {}',  "echo a # b\n{}", "echo 'a # b'; {}", 'echo "a \' b"; {}', "echo \\'; {}", "echo \\\\; {}", "true &&\n{}",
    "{{ true; }} && {}", "[ -n x ] && {}", "[[ a == a ]] && {}", "((1)) && {}", ": $((1 + 2)); {}", ": ${{#x}}; {}", ": \"${{x#'}}\"; {}" , "cat > f <<E\nx\nE\n{}", "cd . && {}", "set -e; {}", "echo a\\\nb; {}",
    "A=1; {}", "a=(1 2); {}", ": {{a,b}}; {}", ": [a]; {}", ": *; {}", "echo $'a\\nb'; {}", ": ~; {}", "{} > out", "{} 2>&1", "case x in esac; {}", "select x in; do :; done; {}",
]  # fmt: skip
_WRAPPED = [
    "env {}", "env A=1 {}", "env -i PATH=\"$PATH\" {}", "env -u X {}", "nice {}", "nice -n 1 {}", "timeout 5 {}", "nohup {}", "xargs {} < /dev/null",
    "setsid -w {}", "env env {}",
]  # fmt: skip
_WORDS = [
    ("git", "push"), ("git", "push", "origin", "main"), ("git", "push", "'a b'"), ("git", "push", "$x"), ('"git"', "push"), ("g\\it", "'push'"), ("gi''t", "pu\\\nsh"), ("$'git'", "push"), ("git", ">o", "push"), ("git", "\\\n", "push"),
    ("git", "push", "--force"), ("git", "push", "{a,b}"), ("git", "push", "*"),
]  # fmt: skip


_BUILTIN_WRAPPERS = [
    "find . -maxdepth 0 -exec {} \\;",
    "find . -maxdepth 0 -exec env {} {{}} +",
    "command {}",
    "exec {}",
    "eval {}",
    "builtin eval {}",
    "time {}",
    "A=1 {}",
    "> out {}",
]


def random_line(chance: random.Random, depth: int = 3) -> str:
    """Return a line that runs ``git push`` in bash, and everything in it is reached."""
    command = " ".join(chance.choice(_WORDS))
    while chance.random() < 0.3:
        command = chance.choice(_WRAPPED).format(command)
    if chance.random() < 0.2:
        command = chance.choice(_BUILTIN_WRAPPERS).format(command)
    for _ in range(chance.randint(0, depth)):
        command = chance.choice(_AROUND).format(command)
        if chance.random() < 0.25 and "'" not in command:
            command = f"{chance.choice(['bash', 'bash -e', 'bash --norc'])} -c '{command}'"
    return command


_TOKENS = [
    "git push", "git push", "git", "push", " ", " ", " ", "\n", ";", "&&", "|", "&", "(", ")", "((", "))", "{ ", "; }", "$(", "`", '"', "'", "\\", "$", "${", "}", "$'", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "<(", ">f", "&>", "#",
    "case x in ", " esac", "x)", ";;", "if ", "then ", "; fi", "f()", "[[ ", " ]]", "*", "=", "a=(", "sh -c ", "eval ", "env ", "xargs ", "!", "\t", "echo ", "true", "x", "{a,", "$x", "[", "]", "~", "\\\n", "for x in 1; do ", "; done", "cat ", "$((", "2>&1", "<<< ",
]  # fmt: skip


def token_soup(chance: random.Random) -> str:
    """Return a line of random parts, with the command somewhere in it."""
    return "".join(chance.choice(_TOKENS) for _ in range(chance.randint(2, 14)))
