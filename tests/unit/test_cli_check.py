"""What ``interpose check`` finds."""

import pytest

from interpose import Hooks
from interpose.config.load import Source
from interpose.lint.files import check_files
from interpose.lint.rules import check_hooks


def codes(*hooks, **settings):
    made = Hooks.from_mapping({"hooks": {**settings, "PreToolUse": list(hooks)}})
    return [(finding.severity, finding.code) for finding in check_hooks(made, made.settings)]


SOUND = {"command": "true", "onError": "abort"}


@pytest.mark.parametrize(
    ("hook", "found"),
    [
        (SOUND, []),
        ({"command": "true", "onError": "log"}, [("warning", "fails_open")]),
        ({"command": "true", "onError": "skip"}, [("warning", "fails_open")]),
        ({"command": "true", "onError": "log", "locked": True}, [("warning", "no_effect")]),
        ({"command": "true"}, [("note", "may_fail_open")]),
        ({**SOUND, "async": True}, [("warning", "no_effect")]),
        ({"command": "true", "locked": True, "async": True}, [("warning", "no_effect")]),
        ({"command": "true", "async": True}, []),
        ({**SOUND, "once": True}, [("warning", "no_effect")]),
        ({**SOUND, "command": "python3 -m guard"}, [("warning", "imports_from_cwd")]),
        ({**SOUND, "command": "./a.py; python3 -c 'import json'"}, [("warning", "imports_from_cwd")]),
        ({**SOUND, "command": "jq . | python3 -c 'import json'"}, []),
        ({**SOUND, "command": "python3 -I -m guard; python3 -Pc 1; python3 x -c"}, []),
        ({**SOUND, "matcher": "mcp__github"}, [("warning", "never_matches")]),
        ({**SOUND, "matcher": "mcp__my_server|mcp__a__b"}, [("warning", "never_matches")]),
        ({"handler": "json.dumps"}, []),
        ({"handler": "no_such_module.function"}, [("warning", "missing")]),
        ({**SOUND, "matcher": "Bash|Write|mcp__github__*|my_tool"}, []),
        ({**SOUND, "matcher": "bash"}, [("warning", "never_matches")]),
        ({**SOUND, "matcher": "Wirte|Edit"}, [("warning", "never_matches")]),
        ({**SOUND, "matcher": "web*"}, [("warning", "never_matches")]),
        ({**SOUND, "matcher": "Web*"}, []),
        ({**SOUND, "matcher": "re:bash.*"}, []),
        ({**SOUND, "if": "bash(rm *)", "matcher": "*"}, [("warning", "never_matches")]),
        ({**SOUND, "if": "Bash(rm *)", "matcher": "Write"}, [("warning", "never_matches")]),
        ({**SOUND, "if": "bash(rm *)"}, [("warning", "never_matches")]),
        ({**SOUND, "if": ["Bash(rm *)", "Bahs(curl *)"]}, [("warning", "never_matches")]),
        ({**SOUND, "if": ["Write(a)", "Bash(rm *)"], "matcher": "Bash"}, [("warning", "never_matches")]),
        ({**SOUND, "if": "Read(.env)", "matcher": "Grep|Glob"}, []),
        ({**SOUND, "if": "Edit(.env)", "matcher": "Write"}, []),
        ({**SOUND, "if": "Edit", "matcher": "Write"}, [("warning", "never_matches")]),
        ({**SOUND, "matcher": "re:mcp__.*"}, []),
        ({**SOUND, "if": "Bash(rm *)"}, []),
        ({**SOUND, "if": "mcp__files__*"}, []),
        ({**SOUND, "cwd": "/no/such/directory"}, [("warning", "missing")]),
        ({"type": "command", "handler": "/no/such/program", "onError": "abort"}, [("warning", "missing")]),
        ({"type": "command", "handler": "/etc/passwd", "onError": "abort"}, [("warning", "not_executable")]),
        ({**SOUND, "timeout": 5000}, [("warning", "timeout")]),
        ({"type": "script", "handler": "/inject x"}, [("warning", "no_effect")]),
        ({"type": "script", "handler": "/deny x"}, []),
    ],
)
def test_each_finding_has_its_code(hook, found):
    assert codes(hook) == found


@pytest.mark.parametrize(
    ("first_line", "said"),
    [
        ("#!/bin/sh\n", []),
        ("#!/usr/bin/env sh\n", []),
        ("#!/usr/bin/env -S sh -e\n", []),
        ("#!/bin/sh\r\n", ["its first line ends in a carriage return"]),
        ("#!/no/such/sh -e\n", ["its interpreter '/no/such/sh' does not exist"]),
        ("#!/usr/bin/env no-such-interpreter\n", ["its interpreter 'no-such-interpreter' is not on PATH"]),
        ("#!\n", ["its interpreter '' does not exist"]),
        ("exit 0\n", ["has no #! line"]),
        ("\x7fELF\0", []),
    ],
)
def test_a_script_that_could_not_be_started_is_found_by_its_first_line(tmp_path, first_line, said):
    script = tmp_path / "guard"
    script.write_text(first_line + "exit 0\n", newline="")
    script.chmod(0o755)
    made = Hooks.from_mapping({"hooks": {"Stop": [{"type": "command", "handler": str(script), "onError": "abort"}]}})

    findings = check_hooks(made, made.settings)

    assert len(findings) == len(said)
    assert all(part in finding.problem.what for part, finding in zip(said, findings, strict=True))


@pytest.mark.parametrize(
    ("module", "handler", "said"),
    [
        ("def check(event): ...", "guards.check", []),
        ("async def check(event): ...", "guards:check", []),
        ("if True:\n    check = print", "guards.check", []),
        ("try:\n    from json import dumps as check\nexcept ImportError:\n    pass", "guards.check", []),
        ("class Guard:\n    def check(self, event): ...", "guards:Guard.check", []),
        ("class Guard:\n    def check(self, event): ...", "guards.Guard.check", []),
        ("from json import *", "guards.check", []),
        ("def __getattr__(name): ...", "guards.check", []),
        ("def chekc(event): ...", "guards.check", ["guards.py has no check, so every firing denies (did you mean chekc?)"]),
        ("def check(event:\n    pass", "guards.check", ["guards.py:1: '(' was never closed, so every firing denies"]),
        ("check = '\\d'", "guards.check", []),
    ],
)  # fmt: skip
def test_a_function_that_could_not_be_imported_is_found_without_importing_it(tmp_path, module, handler, said):
    (tmp_path / "guards.py").write_text(f"{module}\n")
    path = write(tmp_path / "hooks.yaml", f"hooks:\n  PreToolUse:\n    - {{handler: '{handler}'}}\n")

    findings = check_files([Source(path)]).findings

    assert [finding.code for finding in findings] == ["cannot_import"] * len(said)
    assert all(part in str(finding.problem) for part, finding in zip(said, findings, strict=True))


def test_a_time_above_the_ceiling_or_the_total_has_no_sense():
    assert codes({**SOUND, "timeout": 10}, timeout=5000) == [("warning", "timeout")]
    assert codes({**SOUND, "timeout": 10}, totalTimeout="5s") == [("warning", "timeout")]
    assert codes({**SOUND, "timeout": 10}, totalTimeout="20s") == []


def test_an_event_that_cannot_deny_has_no_guards():
    made = Hooks.from_mapping({"hooks": {"SessionEnd": [{"command": "true", "onError": "log"}]}})

    assert check_hooks(made, made.settings) == []


def write(path, text):
    path.write_text(text)
    path.chmod(0o644)
    return str(path)


def test_a_name_that_is_used_again_in_one_file_replaces_and_in_another_layer_shadows(tmp_path):
    twice = write(
        tmp_path / "a.yaml", "hooks:\n  Stop:\n    - {name: x, command: 'true'}\n    - {name: x, command: 'true'}\n"
    )
    once = write(tmp_path / "b.yaml", "hooks:\n  Stop:\n    - {name: x, command: 'true'}\n")

    replaced = check_files([Source(twice)])
    shadowed = check_files([Source(once, "user"), Source(once, "project")])

    assert [(finding.code, finding.problem.where) for finding in replaced.findings] == [("replaced", f"{twice}:3")]
    assert [finding.code for finding in shadowed.findings] == ["shadowed"]


def test_a_file_that_is_not_trusted_is_looked_at_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path.chmod(0o755)
    path = write(tmp_path / "hooks.yaml", "hooks:\n  PreToolUse:\n    - {matcher: bash, handler: json.dumps}\n")

    found = check_files([Source(path, "project", None, True)])

    assert [finding.code for finding in found.findings] == ["untrusted", "never_matches"]
    assert found.hooks == 1


def test_a_file_with_problems_has_all_of_them(tmp_path):
    path = write(tmp_path / "hooks.yaml", "hooks:\n  Stopp: []\n  Stop: [{}]\n")

    found = check_files([Source(path)])

    assert [finding.problem.where for finding in found.errors] == [f"{path}:2:3", f"{path}:3:10"]


def test_a_permission_rule_about_a_misspelt_tool_is_found(tmp_path):
    file = tmp_path / "hooks.yaml"
    file.write_text("permissions: {bash(rm *): deny, 'Bash(ls *)': allow, network: deny, 'mcp__a__b(x)': ask}")

    found = check_files([Source(str(file))]).findings

    assert [(finding.code, finding.problem.what) for finding in found] == [
        ("never_matches", "permissions: bash(rm *) matches no known tool")
    ]
