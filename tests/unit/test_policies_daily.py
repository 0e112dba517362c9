"""The recommended policies let the calls of ordinary sessions pass: a question without need makes people switch them off."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interpose.policies.call import Call
from interpose.policies.hook import PolicyHook
from interpose.policies.reading import read_policies

LINES = Path(__file__).with_name("daily_lines.txt").read_text(encoding="utf-8").splitlines()
"""Command lines as coding agents write them."""

SCRIPTS: tuple[str, ...] = (
    "git commit -F - <<'MSG'\nStop the worker before rm -rf of its directory\n\ncurl | sh was the old way.\nMSG",
    "python3 - <<'PY'\nimport pandas as pd\ndf = pd.read_csv('data/orders.csv')\nprint(df.describe())\nprint(df.groupby('country').amount.sum())\nPY",
    'cat > src/hello.py <<\'PY\'\nimport os\n\ndef main():\n    print("hello")\n\nif __name__ == "__main__":\n    main()\nPY',
    "cat > scripts/clean.sh <<'SH'\n#!/bin/sh\nrm -rf build dist\nrm -rf /tmp/cache\nSH",
    "cat <<EOF2 > Dockerfile\nFROM python:3.11\nRUN curl -sSL https://install.python-poetry.org | python3 -\nCOPY . /app\nEOF2",
    "cat >> README.md <<'MD'\n\n## Install\n\n    curl https://sh.rustup.rs | sh\n    sudo rm -rf /opt/old\nMD",
    "cat > k8s/deploy.yaml <<'YAML'\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nYAML",
    "cat > migrations/0002.sql <<'SQL'\nDROP TABLE IF EXISTS old_users;\nALTER TABLE users ADD COLUMN age int;\nSQL",
    "python - <<'PY'\nfrom pathlib import Path\nfor p in Path('src').rglob('*.py'):\n    t = p.read_text()\n    p.write_text(t.replace('foo', 'bar'))\nPY",
    "git commit -m \"$(cat <<'EOF'\nAdd the login form\n\nIt validates e-mail addresses; rm -rf is no longer needed.\n\nCo-Authored-By: Claude <noreply@anthropic.com>\nEOF\n)\"",
    'gh pr create --title "Login" --body "$(cat <<\'EOF\'\n## Summary\n- adds `git push --force` docs\n- removes `curl | sh`\n\n## Test plan\n- [ ] npm test\nEOF\n)"',
    "psql shop_dev <<'SQL'\nCREATE TABLE notes (id serial primary key, body text);\nINSERT INTO notes (body) VALUES ('drop table x');\nSELECT * FROM notes;\nSQL",
    "cat > /tmp/t.py <<'PY'\nprint(\"hi\")\nPY",
    "cat > run.sh <<'SH'\n#!/bin/sh\nnpm test\nSH",
    "cat > /tmp/check.js <<'JS'\nconst fs = require('fs');\nconsole.log(fs.readdirSync('.'));\nJS",
    "python -c \"\nimport ast, sys\nsrc = open('src/app.py').read()\ntree = ast.parse(src)\nprint([n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)])\n\"",
    'python - <<\'PY\'\nimport subprocess\nout = subprocess.run(["git", "log", "--oneline", "-5"], capture_output=True, text=True)\nprint(out.stdout)\nPY',
    "python3 <<'PY'\nimport tempfile, shutil, pathlib\nd = tempfile.mkdtemp()\npathlib.Path(d, 'a.txt').write_text('x')\nshutil.rmtree(d)\nPY",
    "cat > /tmp/t.py <<'PY'\nprint('hi')\nPY\npython3 /tmp/t.py",
    "cat > run.sh <<'SH'\n#!/bin/sh\nnpm test\nSH\nchmod +x run.sh && ./run.sh",
    "cat > /tmp/check.js <<'JS'\nconsole.log(1)\nJS\nnode /tmp/check.js",
    "cat > Main.java <<'J'\nclass Main{public static void main(String[] a){System.out.println(1);}}\nJ\njavac Main.java && java Main",
)
"""Command lines of several lines."""

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Write", {"file_path": "{project}/src/new.py", "content": "def f():\n    return 1\n"}),
    (
        "Write",
        {
            "file_path": "{project}/.env.example",
            "content": "DATABASE_URL=postgres://user:password@localhost/db\nAPI_KEY=your-key-here\n",
        },
    ),
    ("Write", {"file_path": "{project}/.env", "content": "DEBUG=1\nSECRET_KEY=dev\n"}),
    ("Write", {"file_path": "{project}/Dockerfile", "content": "FROM node:20\nRUN npm ci\n"}),
    (
        "Write",
        {
            "file_path": "{project}/docker-compose.yml",
            "content": "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_PASSWORD: postgres\n",
        },
    ),
    (
        "Write",
        {
            "file_path": "{project}/scripts/deploy.sh",
            "content": "#!/bin/sh\nset -e\nrm -rf /opt/app\nkubectl apply -f k8s/\n",
        },
    ),
    ("Write", {"file_path": "{project}/migrations/0003_drop.sql", "content": "DROP TABLE old;\n"}),
    ("Write", {"file_path": "{project}/.gitignore", "content": "node_modules\n.env\n"}),
    ("Write", {"file_path": "{project}/package.json", "content": '{"name":"x"}'}),
    ("Write", {"file_path": "{project}/.prettierrc", "content": "{}"}),
    ("Write", {"file_path": "{project}/CLAUDE.md", "content": "# Notes\nRun npm test.\n"}),
    ("Write", {"file_path": "{project}/AGENTS.md", "content": "# Notes\nRun npm test.\n"}),
    ("Write", {"file_path": "{project}/docs/install.md", "content": "curl https://sh.rustup.rs | sh\n"}),
    (
        "Write",
        {
            "file_path": "{project}/tests/test_app.py",
            "content": "import os\n\ndef test_env(monkeypatch):\n    monkeypatch.setenv('API_KEY', 'test-key-123')\n",
        },
    ),
    (
        "Write",
        {"file_path": "{project}/tests/fixtures/user.json", "content": '{"password": "hunter2", "token": "abc123"}'},
    ),
    (
        "Write",
        {
            "file_path": "{project}/src/config.ts",
            "content": "export const apiKey = process.env.API_KEY;\nconst token = getToken();\n",
        },
    ),
    (
        "Write",
        {
            "file_path": "{project}/src/auth.py",
            "content": "password = request.form['password']\nSECRET_KEY = os.environ['SECRET_KEY']\nAWS = 'AKIAIOSFODNN7EXAMPLE'\n",
        },
    ),
    ("Write", {"file_path": "/tmp/notes.md", "content": "todo"}),
    ("Write", {"file_path": "{home}/.claude/plans/a.md", "content": "plan"}),
    ("Write", {"file_path": "{project}/src/i18n/fa.json", "content": '{"hello": "می\u200cخواهم"}'}),
    ("Write", {"file_path": "{project}/src/emoji.ts", "content": "export const family = '👨\u200d👩\u200d👧';"}),
    ("Write", {"file_path": "{project}/terraform/main.tf", "content": 'resource "aws_s3_bucket" "b" { bucket = "x" }'}),
    ("Write", {"file_path": "{project}/notebook.ipynb", "content": '{"cells": [], "metadata": {}, "nbformat": 4}'}),
    ("Write", {"file_path": "{project}/.vscode/settings.json", "content": '{"editor.tabSize": 2}'}),
    ("Write", {"file_path": "{project}/Makefile", "content": "test:\n\tpytest\n"}),
    ("Write", {"file_path": "{project}/src/sql.py", "content": "q = 'DELETE FROM users'\n"}),
    (
        "Write",
        {
            "file_path": "{project}/certs/README.md",
            "content": "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
        },
    ),
    ("Edit", {"file_path": "{project}/src/app.py", "old_string": "x=1", "new_string": "x=2"}),
    ("Edit", {"file_path": "{project}/package.json", "old_string": "{}", "new_string": '{"type":"module"}'}),
    ("Edit", {"file_path": "{project}/pyproject.toml", "old_string": "a", "new_string": "b"}),
    (
        "Edit",
        {
            "file_path": "{project}/README.md",
            "old_string": "x",
            "new_string": "## Install\n\n```sh\nsudo rm -rf /opt/x\n```",
        },
    ),
    ("Edit", {"file_path": "{project}/tests/test_app.py", "old_string": "assert 1", "new_string": "assert 2"}),
    (
        "Edit",
        {
            "file_path": "{project}/tests/test_app.py",
            "old_string": "def test_a():",
            "new_string": "@pytest.mark.skip\ndef test_a():",
        },
    ),
    ("Edit", {"file_path": "{project}/settings.py", "old_string": "DEBUG = True", "new_string": "DEBUG = False"}),
    ("Edit", {"file_path": "{project}/LICENSE", "old_string": "2023", "new_string": "2024"}),
    ("Edit", {"file_path": "{project}/.env", "old_string": "DEBUG=1", "new_string": "DEBUG=0"}),
    (
        "MultiEdit",
        {
            "file_path": "{project}/src/app.py",
            "edits": [
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
                {"old_string": "a", "new_string": "b"},
            ],
        },
    ),
    (
        "NotebookEdit",
        {"notebook_path": "{project}/a.ipynb", "new_source": "import pandas as pd\ndf.head()", "cell_id": "1"},
    ),
    ("Read", {"file_path": "{project}/src/app.py"}),
    ("Read", {"file_path": "{project}/.env.example"}),
    ("Read", {"file_path": "/etc/os-release"}),
    ("Read", {"file_path": "{home}/.gitconfig"}),
    ("Read", {"file_path": "{project}/package-lock.json", "limit": 50}),
    ("Read", {"file_path": "/usr/lib/python3.11/json/decoder.py"}),
    ("Read", {"file_path": "{project}/src/secrets.py"}),
    ("Read", {"file_path": "{project}/src/credentials.ts"}),
    ("Read", {"file_path": "{project}/config/credentials.yml.example"}),
    ("Read", {"file_path": "{project}/src/auth/token.go"}),
    ("Read", {"file_path": "{project}/docs/ssh-keys.md"}),
    ("Read", {"file_path": "{project}/tests/fixtures/.env.test"}),
    ("Read", {"file_path": "{home}/.ssh/config"}),
    ("Read", {"file_path": "{home}/.ssh/known_hosts"}),
    ("Read", {"file_path": "{project}/.git/config"}),
    ("Read", {"file_path": "{project}/.git/HEAD"}),
    ("Read", {"file_path": "{project}/.claude/settings.json"}),
    ("Read", {"file_path": "{project}/.interpose/hooks.yaml"}),
    ("Grep", {"pattern": "password", "path": "{project}", "output_mode": "content"}),
    ("Grep", {"pattern": "API_KEY|SECRET", "glob": "*.ts"}),
    ("Grep", {"pattern": "TODO", "path": "{project}/src", "-n": True}),
    ("Glob", {"pattern": "**/*.py"}),
    ("Glob", {"pattern": "**/.env*"}),
    ("Glob", {"pattern": "**/*.pem", "path": "{project}"}),
    ("LS", {"path": "{project}"}),
    ("LS", {"path": "/"}),
    ("WebFetch", {"url": "https://docs.python.org/3/library/json.html", "prompt": "How does dumps sort keys?"}),
    ("WebFetch", {"url": "http://localhost:3000/", "prompt": "what is on the page"}),
    ("WebFetch", {"url": "https://github.com/acme/shop/issues/3", "prompt": "summarise"}),
    ("WebFetch", {"url": "http://example.com", "prompt": "x"}),
    ("WebFetch", {"url": "https://bit.ly/3abc", "prompt": "x"}),
    ("WebSearch", {"query": "rm -rf / recovery how to"}),
    ("WebSearch", {"query": "pytest fixture scope"}),
    ("Task", {"description": "Find usages", "prompt": "Find where sudo rm -rf is used", "subagent_type": "Explore"}),
    ("TodoWrite", {"todos": [{"content": "drop table", "status": "pending", "activeForm": "x"}]}),
    ("BashOutput", {"bash_id": "1"}),
    ("KillShell", {"shell_id": "1"}),
    ("ExitPlanMode", {"plan": "1. rm -rf build\n2. git push --force"}),
    ("AskUserQuestion", {"questions": [{"question": "Delete all?"}]}),
    ("Skill", {"command": "pdf"}),
    ("mcp__github__list_issues", {"owner": "acme", "repo": "shop"}),
    (
        "mcp__github__create_pull_request",
        {"owner": "acme", "repo": "shop", "title": "x", "head": "feature/x", "base": "main", "body": "fixes"},
    ),
    ("mcp__github__get_file_contents", {"owner": "acme", "repo": "shop", "path": "README.md"}),
    ("mcp__github__create_issue", {"owner": "acme", "repo": "shop", "title": "Bug", "body": "rm -rf fails"}),
    ("mcp__github__add_issue_comment", {"owner": "acme", "repo": "shop", "issue_number": 3, "body": "done"}),
    (
        "mcp__github__push_files",
        {
            "owner": "acme",
            "repo": "shop",
            "branch": "feature/x",
            "files": [{"path": "a.py", "content": "x"}],
            "message": "m",
        },
    ),
    ("mcp__postgres__query", {"sql": "SELECT * FROM users LIMIT 5"}),
    ("mcp__postgres__query", {"sql": "select count(*) from orders where status = 'drop table'"}),
    ("mcp__playwright__browser_navigate", {"url": "http://localhost:3000"}),
    ("mcp__playwright__browser_click", {"element": "Delete", "ref": "e3"}),
    ("mcp__playwright__browser_snapshot", {}),
    ("mcp__filesystem__read_file", {"path": "{project}/src/app.py"}),
    ("mcp__filesystem__write_file", {"path": "{project}/src/b.py", "content": "x"}),
    ("mcp__filesystem__list_directory", {"path": "{project}"}),
    ("mcp__context7__get-library-docs", {"context7CompatibleLibraryID": "/vercel/next.js", "topic": "routing"}),
    ("mcp__linear__create_issue", {"title": "x", "description": "y"}),
    ("mcp__slack__post_message", {"channel": "#dev", "text": "Deployed feature/x to staging"}),
    ("mcp__notion__search", {"query": "runbook"}),
    ("mcp__sentry__get_issue_details", {"issueId": "1"}),
    ("mcp__memory__create_entities", {"entities": [{"name": "x"}]}),
    ("mcp__sequential-thinking__sequentialthinking", {"thought": "delete the table?", "thoughtNumber": 1}),
    ("mcp__ide__getDiagnostics", {}),
    ("mcp__ide__executeCode", {"code": "import os\nprint(os.getcwd())"}),
    ("mcp__figma__get_file", {"fileKey": "abc"}),
    ("shell", {"command": ["bash", "-lc", "cd src && rg -n TODO | head"], "workdir": "{project}"}),
    ("shell", {"command": ["bash", "-lc", "npm test --silent"]}),
    ("shell", {"command": ["git", "status", "--short"]}),
    (
        "shell",
        {
            "command": [
                "bash",
                "-lc",
                "apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: src/app.py\n@@\n-x=1\n+x=2\n*** End Patch\nPATCH",
            ]
        },
    ),
    ("exec_command", {"cmd": "pytest -q", "workdir": "{project}"}),
    (
        "apply_patch",
        {
            "input": "*** Begin Patch\n*** Add File: src/c.py\n+print(1)\n*** Update File: src/app.py\n@@\n-x=1\n+x=3\n*** End Patch"
        },
    ),
    ("apply_patch", {"input": "*** Begin Patch\n*** Delete File: src/app.py\n*** End Patch"}),
    ("update_plan", {"plan": [{"step": "rm -rf dist", "status": "pending"}]}),
    ("run_shell_command", {"command": "npm run build", "description": "builds"}),
    ("run_shell_command", {"command": "ls -la && cat package.json", "directory": "src"}),
    ("write_file", {"file_path": "{project}/src/d.py", "content": "x=1"}),
    ("replace", {"file_path": "{project}/src/app.py", "old_string": "x", "new_string": "y"}),
    ("read_file", {"absolute_path": "{project}/src/app.py"}),
    ("read_many_files", {"paths": ["src/**/*.py"]}),
    ("search_file_content", {"pattern": "secret", "path": "src"}),
    ("glob", {"pattern": "**/*.ts"}),
    ("list_directory", {"path": "{project}"}),
    ("web_fetch", {"prompt": "Summarise https://example.com/a"}),
    ("google_web_search", {"query": "how to drop table"}),
    ("save_memory", {"fact": "The user prefers tabs"}),
    ("Bash", {"command": "git diff src/app.py", "description": "x", "timeout": 1000}),
    ("Bash", {"command": "npm run dev", "run_in_background": True}),
    ("Bash", {"command": "git push"}),
    ("Bash", {"command": "git push origin"}),
    ("Bash", {"command": "git push --force-with-lease"}),
    ("Bash", {"command": "git checkout main"}),
    ("Bash", {"command": "git switch main && git merge feature/x"}),
    ("Bash", {"command": "git stash && git pull --rebase && git stash pop"}),
    ("Bash", {"command": "git branch -D feature/old-local"}),
    ("Bash", {"command": "git restore --staged src/app.py"}),
    ("Bash", {"command": "git rebase -i HEAD~3"}),
    ("Bash", {"command": "rm -rf src/__pycache__ node_modules"}),
    ("Bash", {"command": "cd src && rm -f *.pyc && cd .. && rm -rf dist"}),
    ("Bash", {"command": "rm -rf {project}/dist"}),
    ("Bash", {"command": "rm {project}/package-lock.json && npm install"}),
    ("Bash", {"command": "mv package.json package.json.bak && mv package.json.bak package.json"}),
    ("Bash", {"command": "cp src/app.py src/app.py.orig; diff src/app.py src/app.py.orig; rm src/app.py.orig"}),
    ("Bash", {"command": "cd {project} && git add -A && git commit -m 'feat: x' && git push -u origin feature/x"}),
    ("Bash", {"command": "mkdir -p {home}/other && cp -r src {home}/other/"}),
    ("Bash", {"command": "git log --oneline main..HEAD"}),
    ("Bash", {"command": "git rm --cached package-lock.json"}),
    ("Bash", {"command": "git clean -fdX -n"}),
    ("Bash", {"command": "git worktree add ../wt feature/y && cd ../wt && npm ci"}),
    ("Bash", {"command": "git fetch origin main:main"}),
    ("Bash", {"command": "git tag -a v1 -m v1 && git push origin v1"}),
    ("Bash", {"command": "git push --tags"}),
    ("Bash", {"command": "git cherry-pick -x abc && git push"}),
    ("Bash", {"command": "git commit --allow-empty -m 'Trigger CI' && git push"}),
    ("Bash", {"command": "git checkout --theirs package-lock.json && git add package-lock.json"}),
    ("Bash", {"command": "git checkout main -- README.md"}),
    ("Bash", {"command": "git show main:README.md > /tmp/README.old"}),
)
"""Calls of tools; ``{project}`` stands for the project and ``{home}`` for the home."""


@pytest.fixture(name="project")
def make_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository below a home, on a branch, with a change that is not committed."""
    project = tmp_path / "home" / "project"
    (project / "src").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (project / "src" / "app.py").write_text("x = 1\n")
    (project / "package-lock.json").write_text("{}\n")
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "x"), ("checkout", "-qb", "topic")):
        subprocess.run(("git", *identity, *words), cwd=project, check=True, capture_output=True)
    (project / "src" / "app.py").write_text("x = 2\n")
    return project


@pytest.fixture(scope="module", name="judges")
def make_judges() -> list[PolicyHook]:
    """Return the recommended policies that judge calls."""
    problems: list[str] = []
    uses = read_policies("recommended", lambda *problem: problems.append(str(problem)))
    assert not problems
    return [use.hook for use in uses if use.event == "PreToolUse" and use.hook.function is None]


def stopped(judges: list[PolicyHook], project: Path, calls: list[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yield the reasons against calls."""
    for tool, given in calls:
        fields = {"tool_name": tool, "tool_input": given, "cwd": str(project)}
        for judge in judges:
            reply = judge.answer(Call(fields, str(project)))
            if reply is not None and reply.decision is not None:
                yield f"{tool} {given}: {reply.reason}"


@pytest.mark.slow
def test_ordinary_command_lines_pass(judges: list[PolicyHook], project: Path) -> None:
    found = list(stopped(judges, project, [("Bash", {"command": line}) for line in (*LINES, *SCRIPTS)]))
    assert not found, "\n".join(found)


def test_ordinary_calls_of_tools_pass(judges: list[PolicyHook], project: Path) -> None:
    places = (("{project}", str(project)), ("{home}", str(project.parent)))
    found = list(stopped(judges, project, [(tool, _placed(given, places)) for tool, given in CALLS]))
    assert not found, "\n".join(found)


def _placed(value: Any, places: tuple[tuple[str, str], ...]) -> Any:
    if isinstance(value, dict):
        return {key: _placed(one, places) for key, one in value.items()}
    if isinstance(value, list):
        return [_placed(one, places) for one in value]
    for name, path in places if isinstance(value, str) else ():
        value = value.replace(name, path)
    return value
