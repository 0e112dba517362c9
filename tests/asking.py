"""Questions that wait in a record, for tests: asking in a thread or a process, and waiting until one is there."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interpose import Approval, AuditStore, Question, Questions
from interpose.audit import open_store
from interpose.audit.protocol import NotAStore
from interpose.audit.questions import StoredQuestion
from interpose.questions import answer_question

PATIENCE = 60.0
WHO = {"user": "alice", "terminal": "/dev/pts/3", "host": "desk"}
PUSH = Question(
    tool_name="Bash", tool_input={"command": "git push"}, reason="a push?", session_id="s1", agent_id="main", hook="guard"
)  # fmt: skip


def until(found: Callable[[], Any]) -> Any:
    """Wait until a function returns something true, and return it."""
    deadline = time.monotonic() + PATIENCE
    while not (made := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
    return made


def waiting(path: Path, count: int = 1) -> list[StoredQuestion]:
    """Wait until so many questions wait in a store, and return them, the oldest first."""

    def look() -> list[StoredQuestion]:
        try:
            with open_store(path) as reader:
                found = [one for one in reader.questions() if one.state == "waiting"]
        except NotAStore:
            return []
        return found[::-1] if len(found) == count else []

    found: list[StoredQuestion] = until(look)
    return found


def stored(path: Path) -> list[StoredQuestion]:
    """All questions of a store, the oldest first."""
    with open_store(path) as reader:
        return reader.questions(answered=True)[::-1]


def answer(store: AuditStore, question: StoredQuestion, *, approved: bool = True, **more: Any) -> StoredQuestion:
    """Answer as a person."""
    return answer_question(store, question, approved=approved, who=WHO, **more)


class Asking:
    """A question that waits in a thread; ``approval`` is its answer."""

    def __init__(self, questions: Questions, question: Question = PUSH) -> None:
        self._thread = threading.Thread(target=self._ask, args=(questions, question), daemon=True)
        self._made: Approval | None = None
        self._thread.start()

    def _ask(self, questions: Questions, question: Question) -> None:
        self._made = questions(question).block()

    @property
    def approval(self) -> Approval:
        self._thread.join(PATIENCE)
        assert self._made is not None, "it still waits"
        return self._made


@contextmanager
def firing(
    project: Path, *more: str, config: Path | None = None, program: str | Path = "interpose", event: Any = None
) -> Iterator[subprocess.Popen[str]]:  # fmt: skip
    """``interpose fire --reply claude`` with an event, in a process that waits."""
    sent = event or {
        "hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": "git push"}, "cwd": str(project),
    }  # fmt: skip
    command = [str(Path(sys.executable).parent / program), "fire", "--reply", "claude", "--config",
               str(config or project / "hooks.yaml"), *more]  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "LANG": "C.UTF-8"}
    started = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert started.stdin is not None
        started.stdin.write(json.dumps(sent))
        started.stdin.close()
        started.stdin = None
        yield started
    finally:
        if started.poll() is None:
            started.kill()
        started.communicate(timeout=PATIENCE)


def configure(project: Path, wait: str = "5m", **audit: Any) -> Path:
    """Write a configuration that asks about every call of Bash; return the path of its store."""
    settings = json.dumps({"path": str(project / "audit.db"), **audit})
    (project / "hooks.yaml").write_text(
        f"audit: {settings}\nquestions: {{wait: {wait}, default: deny}}\nhooks:\n  PreToolUse:\n"
        '    - {name: guard, matcher: Bash, type: script, handler: /ask "a push?"}\n'
    )
    return project / "audit.db"
