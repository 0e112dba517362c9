"""A command of a settings file is named by the file of its script."""

import pytest

from interpose.config.script_names import script_name

LINES = {
    '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh': "guard.sh",
    "${CLAUDE_PLUGIN_ROOT}/hooks/guard": "guard",
    'python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/x.py --flag': "x.py",
    "/usr/bin/env python3.12 -u hooks/x.py": "x.py",
    "uv run x.py": "x.py",
    "uv run --with requests --script hooks/y.py": "y.py",
    "npx -y tsx hooks/h.ts": "h.ts",
    "node --experimental-strip-types hooks/h.mjs < /dev/null": "h.mjs",
    "python3 -m team.hooks": "team.hooks",
    'cd "$CLAUDE_PROJECT_DIR" && FOO=1 timeout 10 ./scripts/fmt.sh > /tmp/log.py': "fmt.sh",
    "if [ -f x ]; then ./y.sh; fi": "y.sh",
    "bash -c 'exec ./g.sh --now'": "g.sh",
    "bash -lc 'true; python3 a/b.py'": "b.py",
    "true\n./second.sh": "second.sh",
    "'/opt/my tools/guard v2'": "guard v2",
    "~/bin/guard || true": "guard",
    # No script: the line itself is the label.
    "echo Tests run with make test.": "",
    "jq -r .tool_input.file_path | xargs prettier --write": "",
    "npx prettier --write src/a.ts": "",
    "grep -q rm && exit 2": "",
    "/usr/bin/grep -q rm": "",
    "cat > /tmp/x.sh": "",
    "echo x.sh": "",
    "python3 -c 'print(1)'": "",
    'sh -c "$LINE"': "",
    "bash -c 'bash -c \"bash -c true\"'": "",
    'echo "open': "",
    "interpose fire --reply claude": "",
    "$GUARD": "",
    "./$GUARD": "",
    "": "",
}


@pytest.mark.parametrize(("line", "name"), LINES.items())
def test_a_line_is_named_by_its_script(line: str, name: str) -> None:
    assert script_name(line) == name


@pytest.mark.parametrize(
    ("words", "name"),
    [(["${CLAUDE_PROJECT_DIR}/run", "a b"], "run"), (["node", "x/y.js"], "y.js"), (["/bin/sh", "-c", "./a.sh"], "a.sh"),
     (["/bin/echo", "a.sh"], "")],
)  # fmt: skip
def test_words_without_a_shell_are_named_too(words: list[str], name: str) -> None:
    assert script_name(words) == name
