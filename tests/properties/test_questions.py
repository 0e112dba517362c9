"""What is true of every question: one answer wins, whoever gives it; and its id is that of its content."""

import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.asking import Asking, answer, stored, waiting

from interpose import AuditStore, Questions
from interpose.audit.questions import digest_of, id_of, read_id
from interpose.audit.verify import verify_store

ROOT = Path(__file__).parent.parent.parent


@settings(max_examples=5, deadline=None)
@given(answers=st.lists(st.booleans(), min_size=2, max_size=8))
def test_one_answer_wins_among_many_threads(answers: list[bool]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.db"
        told: list[tuple[str, int]] = []
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            start = threading.Barrier(len(answers))

            def give(approved: bool) -> None:
                start.wait(60)
                found = answer(store, question, approved=approved)
                assert found.answer is not None
                told.append((found.state, found.answer.record))

            threads = [threading.Thread(target=give, args=(approved,)) for approved in answers]
            for one in threads:
                one.start()
            for one in threads:
                one.join(60)

            won = "approved" if asking.approval.approved else "refused"
        assert len(told) == len(answers)
        assert {state for state, _ in told} == {won}
        assert len(set(told)) == 1
        assert verify_store(str(path)).verdict == "consistent"


def test_one_answer_wins_among_many_processes(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    program = (
        "import sys\nfrom tests.asking import *\n"
        f"path = Path({str(path)!r})\n(question,) = waiting(path)\nprint('ready', flush=True)\nsys.stdin.readline()\n"
        "with AuditStore(path) as store:\n"
        "    found = answer(store, question, approved=sys.argv[1] == 'yes')\n"
        "print(json.dumps([found.state, found.answer.record]))\n"
    )
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        waiting(path)
        people = [
            subprocess.Popen([sys.executable, "-c", program, said], cwd=ROOT, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
            for said in ("yes", "no", "yes")
        ]  # fmt: skip
        for one in people:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in people:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        told = [json.loads(one.communicate(timeout=60)[0]) for one in people]
        won = "approved" if asking.approval.approved else "refused"

    assert told == [told[0]] * 3
    assert [one.state for one in stored(path)] == [won] == [told[0][0]]
    assert verify_store(str(path)).verdict == "consistent"


@settings(max_examples=20)
@given(st.text())
def test_every_id_can_be_typed(text: str) -> None:
    made = id_of(digest_of(text.encode("utf-8", "replace").decode()))

    assert read_id(made) == read_id(made.upper()) == read_id(made.replace("-", "")) == made
    assert not made.startswith("-")
