"""``interpose report``: one file that opens offline, runs nothing, and has no secret that the record does not have."""

import re
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.asking import Asking, answer, waiting
from tests.unit.test_pages import HOSTILE, Seen

from interpose import AuditStore, Hooks, Questions
from interpose.cli import main

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    fire(tmp_path / "audit.db", command="ls")
    return tmp_path / "audit.db"


def fire(path: Path, session: str = "s1", **given: Any) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: {"decision": "deny", "reason": "No <b>publishing</b>."} if "publish" in str(given) else None,
                   name="no-publish")  # fmt: skip
    with AuditStore(path) as store:
        hooks.record(store)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=given, session_id=session)


def report(*options: str) -> str:
    assert main(["report", "--html", "out.html", "--store", "audit.db", *options]) == 0
    return Path("out.html").read_text("utf-8")


def check_self_contained(text: str) -> None:
    seen = Seen()
    seen.feed(text)
    assert {"script", "link", "img", "iframe", "object", "form", "base"} & set(seen.tags) == set()
    assert seen.links == []
    assert [name for name in seen.attributes if name.startswith("on") or name == "style"] == []
    assert "url(" not in text
    assert "@import" not in text
    assert re.search(r"default-src &#39;none&#39;|default-src 'none'", text)


def test_a_report_shows_what_was_stopped_and_why_and_opens_by_itself(path: Path) -> None:
    fire(path, command="npm publish")

    text = report()

    check_self_contained(text)
    assert "No &lt;b&gt;publishing&lt;/b&gt;." in text
    assert "npm publish" in text
    assert "<svg" in text
    assert stat.S_IMODE(Path("out.html").stat().st_mode) == 0o600


def test_hostile_text_stays_text(path: Path) -> None:
    fire(path, session=HOSTILE, command=f"publish {HOSTILE}")

    text = report()

    check_self_contained(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202e]", text)


def test_a_report_has_no_secret_that_the_record_has_not(path: Path) -> None:
    fire(path, command=f"publish --token {SECRET}")

    assert SECRET not in report()


def test_a_session_is_shown_whole_and_a_time_without_what_went_on(path: Path) -> None:
    fire(path, session="s2", command="git status")

    assert "git status" in report("--session", "s2")
    assert "git status" not in report("--since", "1h")


def test_a_report_says_who_answered(path: Path) -> None:
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        answer(store, waiting(path)[0], approved=False, reason="not today")
        assert not asking.approval.approved

    text = report()

    assert "alice (/dev/pts/3)" in text
    assert "not today" in text


@pytest.mark.parametrize(("options", "why"), [
    (["--session", "nowhere"], "nothing is recorded of session nowhere"), (["--since", "soon"], "soon is not a time"),
    (["--since", "3000-01-01"], "nothing is recorded of the time"),
])  # fmt: skip
def test_a_mistake_writes_no_file(path: Path, capsys: pytest.CaptureFixture[str], options: list[str], why: str) -> None:
    assert main(["report", "--html", "out.html", "--store", "audit.db", *options]) == 1

    assert why in capsys.readouterr().err
    assert not Path("out.html").exists()


def test_what_comes_after_until_is_left_out(path: Path) -> None:
    fire(path, session="s2", command="npm publish now")

    assert main(["report", "--html", "out.html", "--store", "audit.db", "--until", "1h"]) == 1


def test_without_the_packages_it_says_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "jinja2" else found(name, *more)
    )

    assert main(["report", "--html", "out.html", "--store", "audit.db"]) == 1
    assert "the pages need jinja2 (pip install 'interpose[ui]')" in capsys.readouterr().err
