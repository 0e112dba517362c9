"""Where a command of a line runs, and what its variables hold."""

from tests.tables import rows

from interpose.matching.shell import CommandPattern, read_line
from interpose.matching.shell.words import MANY, ONE, written_of


def directories(line: str) -> tuple[str, ...]:
    """Return the directories of the command ``x``."""
    (found,) = {one.directories for one in read_line(line).commands if one.parts[:1] == ("x",)}
    return tuple(sorted(found))


@rows(
    ("line", "expected"),
    [
        ("x", {""}),
        ("cd a && x", {"a"}),
        ("cd a; x", {"", "a"}),
        ("cd a\nx", {"", "a"}),
        ("cd a || exit 1; x", {"a"}),
        ("cd a || { echo no; exit 1; }; x", {"a"}),
        ("cd a || x", {""}),
        ("! cd a && x", {""}),
        ("set -e; cd a; x", {"a"}),
        ("set -euo pipefail\ncd a\nx", {"a"}),
        ("cd a && cd b && x", {"a/b"}),
        ("cd a && cd .. && x", {""}),
        ("cd a && cd /b && x", {"/b"}),
        ("cd && x", {"~"}),
        ("cd ~/a && x", {"~/a"}),
        ("cd $HOME/a && x", {"~/a"}),
        ("cd $PWD/a && x", {"a"}),
        ("cd -- a && x", {"a"}),
        ("cd -P a && x", {"a"}),
        ("cd $y && x", {ONE}),
        ("cd - && x", {ONE}),
        ("cd a* && x", {ONE}),
        ("cd a b && x", {ONE}),
        ("(cd a && x)", {"a"}),
        ("(cd a); x", {""}),
        ("{ cd a; } && x", {"a"}),
        ("{ cd a && true; } && x", {"a"}),
        ("y=$(cd a) && x", {""}),
        ("cd a & x", {""}),
        ("cd a | cat; x", {""}),
        ("true && cd a; x", {"", "a"}),
        ("if cd a; then x; fi", {"a"}),
        ("if cd a; then true; else x; fi", {""}),
        ("if true; then cd a; fi; x", {"", "a"}),
        ("if ! cd a; then exit; fi; x", {"a"}),
        ("case y in y) cd a;; *) cd b;; esac; x", {"", "a", "b"}),
        ("while cd a; do x; done", {"a", ONE}),
        ("for y in 1 2; do (cd $y && true); x; done", {""}),
        ("for y in 1 2; do cd $y; x; done", {"", "1", "2", ONE}),
        ("pushd a && x", {"a"}),
        ("pushd a && popd && x", {""}),
        ("pushd a && pushd b && popd && x", {"a"}),
        ("popd && x", {ONE}),
        ("d=a; cd $d && x", {"a"}),
        ("f() { cd a; }; f; x", {ONE}),
        ("env -C a x", {"a"}),
        ("cd a && env --chdir=b x", {"a/b"}),
        ("sudo -D /a x", {"/a"}),
        ("bash -c 'cd a && x'", {"a"}),
        ("cd b && bash -c 'cd a && x'", {"b/a"}),
        ("CDPATH=/etc; cd a && x", {ONE}),
        ("cd a && sudo x", {"a"}),
    ],
)
def test_a_command_runs_in_the_directories_that_the_line_leads_to(line: str, expected: set[str]) -> None:
    assert set(directories(line)) == expected


def words(line: str, name: str = "x") -> set[str]:
    """Return the words of the commands of a program, as a policy sees them."""
    found = [one.parts for one in read_line(line).commands if one.name == name]
    return {" ".join(map(written_of, parts[1:])).replace(ONE, "?").replace(MANY, "??") for parts in found}


@rows(
    ("line", "expected"),
    [
        ("f=.env; x $f", {".env"}),
        ('f=.env; x "$f"', {".env"}),
        ('f=.env; x "${f}.bak"', {".env.bak"}),
        ("f=.env && x $f", {".env"}),
        ("export f=.env; x $f", {".env"}),
        ("f=a; f=b; x $f", {"b"}),
        ("f=a; g=$f/c; x $g", {"a/c"}),
        ("for f in a b; do x $f; done", {"a", "b"}),
        ("for f in {a,b}; do x $f; done", {"a", "b"}),
        ("for f in *.c; do x $f; done", {"*.c"}),
        ("if y; then f=a; else f=b; fi; x $f", {"a", "b"}),
        ("if y; then f=a; fi; x $f", {"a", "??"}),
        ("f=a; (f=b); x $f", {"a"}),
        ("f=a; f=b y; x $f", {"a", "b"}),
        ("f=a; y | f=b; x $f", {"a", "b"}),
        ("f='a b'; x $f", {"??", "a b"}),
        ("f='a *'; x $f", {"??"}),
        ("f='a b'; x \"$f\"", {"a b"}),
        ("d=~/.ssh; x $d/id", {"~/.ssh/id"}),
        ('x ~/a $HOME/b ${HOME}/c "$HOME"', {"~/a ~/b ~/c ~"}),
        ("x $PWD/a $(pwd)/b", {"./a ./b"}),
        ("x $TMPDIR/a", {"/tmp/a"}),
        ("x $HOMEDIR/a ${HOME%/}/b ~root/c", {"??/a ??/b ~root/c"}),
        ("HOME=/a; x $HOME/b", {"/a/b"}),
        ("t=$(mktemp -d); x $t/a", {"/tmp/tmp.0000000000/a"}),
        ("t=$(mktemp -d ./b.XXXX); x $t", {"./b.XXXX"}),
        ("t=$(mktemp -d -p .); x $t", {"??"}),
        ("x $(echo a) $(printf b) $(which c)", {"a b /usr/bin/c"}),
        ("x a/* b?c [de]f", {"a/* b?c [de]f"}),
        ("x a{b,c} {d,e}", {"ab ac d e"}),
        ("x '{a,b}' \"*\"", {"{a,b} *"}),
        ("x ${f:-.env}", {"??", ".env"}),
        ("bash -c 'x $1' _ a", {"a"}),
        ("bash -c 'shift; x $1' _ a", {"??"}),
        # The order, or another command, decides.
        ("f=a; read f; x $f", {"a", "??"}),
        ("f=a; eval f=b; x $f", {"a", "??"}),
        ("f=a; for i in 1 2; do x $f; f=b; done", {"a", "b", "??"}),
        ("f() { g=b; }; g=a; f; x $g", {"a", "b", "??"}),
        ("f=a; ((f++)); x $f", {"a", "??"}),
        ("f=a; f+=b; x $f", {"a", "b", "??"}),
        ("declare -n f=g; f=a; x $f", {"g", "a", "??"}),
        ("IFS=,; f=a; x $f", {"??", "a"}),
        ("x $y", {"??"}),
    ],
)
def test_words_have_the_values_that_the_line_shows(line: str, expected: set[str]) -> None:
    assert words(line) == expected


@rows(
    ("line", "expected"),
    [
        ('echo "$API_KEY"', ("API_KEY",)),
        ("echo ${A:-$B} ${C[0]} $(echo $D)", ("A", "B", "C")),
        ("cat <<< $A > $B", ("A", "B")),
        ("cat <<EOF\n$A\nEOF", ("A",)),
        ("cat <<'EOF'\n$A\nEOF", ()),
        ("echo ${#A} '$B' \\$C", ()),
    ],
)
def test_a_command_names_the_variables_in_its_words(line: str, expected: tuple[str, ...]) -> None:
    assert read_line(line).commands[-1].variables == expected


@rows(
    ("line", "expected"),
    [
        ("f() { rm x; }", []),
        ("f() { rm x; }; ls", ["ls"]),
        ("f() { rm x; }; f", ["rm", "f"]),
        ("f() { rm x; }; g() { f; }; ls", ["ls"]),
        ("f() { rm x; }; g() { f; }; g", ["rm", "f", "g"]),
        ("f() { rm x; }; trap f EXIT", ["rm", "trap", "f"]),
        ("f() { rm x; }; $y", ["rm", ""]),
        ("alias l='rm x'", ["alias"]),
        ("alias l='rm x'\nl", ["alias", "rm", "l"]),
        ("git config alias.l '!rm x'", ["git"]),
        ("git config alias.l '!rm x'; git l", ["git", "rm", "git"]),
    ],
)
def test_what_is_only_defined_is_no_command(line: str, expected: list[str]) -> None:
    assert [one.name for one in read_line(line).commands] == expected


def test_a_rule_still_sees_what_is_only_defined() -> None:
    lines = ["f() { git push; }", "alias p='git push'", "git config alias.p push"]

    assert [CommandPattern("git push *").grade_line(line) for line in lines] == ["possible"] * 3


@rows(
    ("line", "expected"),
    [
        (":(){ :|:& };:", True),
        ("f() { f | f & }; f", True),
        ("f() { f & f; }\nf", True),
        ("bash -c ':(){ :|:& };:'", True),
        ("while true; do y & done", True),
        ("until false; do y & done", True),
        ("for ((;;)); do y & done", True),
        ("f() { f | f & }", False),
        ("f() { ls; f; }; f", False),
        ("while true; do y & sleep 1; done", False),
        ("while read l; do y & done", False),
        ("for i in 1 2; do y & done", False),
        ("echo ':(){ :|:& };:'", False),
    ],
)
def test_a_fork_bomb_is_seen(line: str, expected: bool) -> None:
    assert read_line(line).is_fork_bomb is expected


@rows(
    ("line", "inner"),
    [
        ("echo 'rm a' | bash", "rm a"),
        ("printf 'rm a\\n' | sudo sh", "rm a"),
        ("cat <<'E' | sh\nrm a\nE", "rm a"),
        ("bash <<< 'rm a'", "rm a"),
        ("bash <<E\nrm a\nE", "rm a"),
        ("tar --to-command='rm a' -xf b", "rm a ??"),
        ("tar xf b --checkpoint-action=exec='rm a'", "rm a ??"),
        ("rsync -ae 'rm a' b c", "rm a ??"),
        ("ssh -oProxyCommand='rm a' b", "rm a ??"),
        ("scp -o 'KnownHostsCommand rm a' b c:", "rm a ??"),
        ("socat - EXEC:'rm a',pty", "rm a"),
        ("git -c core.pager='rm a' log", "rm a ??"),
        ("git -c alias.y='!rm' y a", "rm a"),
        ("git filter-branch --tree-filter 'rm a' HEAD", "rm a"),
        ("parallel rm ::: a", "rm a"),
        ("parallel -j 4 --nice 10 rm {} ::: a", "rm a"),
        ("tmux new-session -d 'rm a'", "rm a"),
        ("ls | xargs rm", "rm ??"),
        ("ls | xargs -I{} rm a/{}", "rm a/?"),
        ("find . -exec rm {} +", "rm ?"),
        ("$y rm a", "rm a"),
    ],
)
def test_a_command_that_another_program_runs_is_seen(line: str, inner: str) -> None:
    found = [one.parts for one in read_line(line).commands if one.name == "rm"]

    assert [" ".join(parts).replace(ONE, "?").replace(MANY, "??") for parts in found] == [inner]


@rows(
    "line",
    [
        "bash -n script.sh", "echo 'rm x' | sh -n", "parallel --dry-run rm ::: a", "source .venv/bin/activate && pytest",
        'eval "$(brew shellenv)"', "source <(kubectl completion bash)", 'eval "$(_FOO_COMPLETE=bash_source foo)"',
        "PATH=/usr/bin:/bin ls", "PS1='$ '", "fpath=(~/.zsh $fpath)", "n=$((4*1024))", "echo ping | nc host 80",
        "echo 'select 1' | psql", "rsync -e 'ssh -p 22' a b:", "GIT_SSH_COMMAND='ssh -i k' git fetch", "history -c",
        "gcc -o x x.c", "x=a; tool --n=$x", "HOME=/a; rm -r $HOME/b", "alias ll='ls -l'", "f() { eval \"$1\"; }",
        "complete -F _x x",
    ],
)  # fmt: skip
def test_a_line_that_can_be_read_is_not_opaque(line: str) -> None:
    assert read_line(line).opaque == ()


@rows(
    "line",
    [
        "echo $x | bash -n +n", 'eval "$(./ssh-agent)"', 'eval "$(cat completion bash)"', "source <(sh completion bash)",
        "PATH=./bin:/bin ls", "PS1='$(x)' bash -i", "echo 'select 1 \\! x' | psql", "echo x | nc -e sh host 80",
        "HOME='a b'; x $HOME", "cat x | sh", "echo $x | sh", "x='a[$(y)]'; b=([x]=1)", "i='x[$(y)]'; echo ${a[@]:i}",
        "echo x > [a]b.sh; sh ab.sh", "echo x > $y.sh; sh ab.sh", "xargs sh -c", "ls | parallel", "alias l='eval $x'\nl",
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_read_stays_opaque(line: str) -> None:
    assert read_line(line).opaque != ()


def test_a_redirection_or_an_assignment_alone_is_told() -> None:
    line = read_line("> a; B=1; { ls; } > c; exec 3> d; ls >&3; env E=2 f")

    assert [(one.name, [part.target for part in one.redirections]) for one in line.commands] == [
        ("", ["a"]), ("", []), ("ls", []), ("", ["c"]), ("exec", ["d"]), ("ls", ["d"]), ("env", []), ("f", []),
    ]  # fmt: skip
    assert line.commands[-1].assigned == (("B", "1"), ("E", "2"))


def test_following_a_long_line_takes_linear_time() -> None:
    parts = ["cd a; x=$((1)); f() { g; }; for i in 1 2; do y & done; if z; then cd b; fi", "{ a=b; cd $a && c; }"]
    line = "; ".join(parts * 100)

    assert read_line(line).commands


@rows("first", ["", "a0=xx\n", "a0=~/x\n"])
def test_a_value_that_doubles_at_every_assignment_becomes_unknown(first):
    lines = [f"a{number}=$a{number - 1}$a{number - 1}" for number in range(1, 20)]

    found = read_line(f"{first}{chr(10).join(lines)}\nrm -rf $a19").commands[-1]

    assert [len(written_of(part)) < 20_001 for part in found.parts] == [True, True, True]
    assert found.parts[2] in (ONE, MANY)
