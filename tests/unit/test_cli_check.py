"""What ``interpose check`` finds doubtful."""

import pytest

from interpose import Hooks
from interpose.cli.check import examine
from interpose.cli.doubts import doubts_about
from interpose.config.load import Source


def codes(*hooks, **settings):
    made = Hooks.from_mapping({"hooks": {**settings, "PreToolUse": list(hooks)}})
    return [(doubt.severity, doubt.code) for doubt in doubts_about(made, made.settings)]


SOUND = {"command": "true", "onError": "abort"}


@pytest.mark.parametrize(
    ("hook", "found"),
    [
        (SOUND, []),
        ({"command": "true", "onError": "log"}, [("warning", "fails_open")]),
        ({"command": "true", "onError": "skip"}, [("warning", "fails_open")]),
        ({"command": "true"}, [("note", "may_fail_open")]),
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
        ({"type": "command", "handler": "/no/such/program", "onError": "abort"}, [("warning", "missing")]),
        ({"type": "command", "handler": "/etc/passwd", "onError": "abort"}, [("warning", "not_executable")]),
        ({**SOUND, "timeout": 5000}, [("warning", "timeout")]),
    ],
)
def test_each_doubt_has_its_code(hook, found):
    assert codes(hook) == found


def test_a_time_above_the_ceiling_or_the_total_has_no_sense():
    assert codes({**SOUND, "timeout": 10}, timeout=5000) == [("warning", "timeout")]
    assert codes({**SOUND, "timeout": 10}, totalTimeout="5s") == [("warning", "timeout")]
    assert codes({**SOUND, "timeout": 10}, totalTimeout="20s") == []


def test_an_event_that_cannot_deny_has_no_guards():
    made = Hooks.from_mapping({"hooks": {"SessionEnd": [{"command": "true", "onError": "log"}]}})

    assert doubts_about(made, made.settings) == []


def write(path, text):
    path.write_text(text)
    path.chmod(0o644)
    return str(path)


def test_a_name_that_is_used_again_in_one_file_replaces_and_in_another_layer_shadows(tmp_path):
    twice = write(
        tmp_path / "a.yaml", "hooks:\n  Stop:\n    - {name: x, command: 'true'}\n    - {name: x, command: 'true'}\n"
    )
    once = write(tmp_path / "b.yaml", "hooks:\n  Stop:\n    - {name: x, command: 'true'}\n")

    replaced = examine([Source(twice)])
    shadowed = examine([Source(once, "user"), Source(once, "project")])

    assert [(doubt.code, doubt.problem.where) for doubt in replaced.doubts] == [("replaced", f"{twice}:3")]
    assert [doubt.code for doubt in shadowed.doubts] == ["shadowed"]


def test_a_file_that_is_not_trusted_is_looked_at_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path.chmod(0o755)
    path = write(tmp_path / "hooks.yaml", "hooks:\n  PreToolUse:\n    - {matcher: bash, handler: json.dumps}\n")

    found = examine([Source(path, "project", None, True)])

    assert [doubt.code for doubt in found.doubts] == ["untrusted", "never_matches"]
    assert found.hooks == 1


def test_a_file_with_problems_has_all_of_them(tmp_path):
    path = write(tmp_path / "hooks.yaml", "hooks:\n  Stopp: []\n  Stop: [{}]\n")

    found = examine([Source(path)])

    assert [doubt.problem.where for doubt in found.errors] == [f"{path}:2:3", f"{path}:3:10"]
