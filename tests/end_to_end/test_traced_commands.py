"""Commands of ours that fire are traced to where the environment says; what is missing there breaks no guard."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.end_to_end.otlp_receiver import Receiver

pytestmark = pytest.mark.slow

COMMAND = Path(sys.executable).parent / "interpose"
GUARD = "hooks:\n  PreToolUse:\n    - {name: guard, command: 'echo no >&2; exit 2', onError: abort}\n"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def run(words: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (cwd / "hooks.yaml").write_text(GUARD)
    (cwd / "turns.json").write_text(json.dumps([{"call": {"Bash": {"command": "ls"}}}, {"say": "Done."}]))
    return subprocess.run(
        [COMMAND, *words], cwd=cwd, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **environment},
    )  # fmt: skip


FIRE = ["fire", "PreToolUse", "-c", "hooks.yaml", "--tool", "Bash", "--json"]
RUN = ["run", "-c", "hooks.yaml", "-m", "scripted:turns.json", "Go."]


@pytest.mark.parametrize(("words", "status"), [(FIRE, 2), (RUN, 0)], ids=["fire", "run"])
def test_the_firings_of_a_command_are_traced_below_the_span_that_started_it(
    words: list[str], status: int, tmp_path: Path
) -> None:
    with Receiver() as receiver:
        done = run(words, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint, TRACEPARENT=PARENT)

    assert (done.returncode, done.stderr) == (status, "")
    spans = {span.name: span for span in receiver.spans}
    guard = next(span for span in receiver.spans if span.attributes.get("interpose.hook") == "guard")
    assert spans["hooks PreToolUse"].id == guard.parent_id
    assert spans["hooks PreToolUse"].trace_id in PARENT
    assert spans["hooks PreToolUse"].parent_id in PARENT


def test_a_collector_that_is_not_there_breaks_no_guard(tmp_path: Path) -> None:
    done = run(FIRE, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")

    assert done.returncode == 2
    assert json.loads(done.stdout)["reason"] == "no"


def test_what_cannot_be_had_is_a_warning(tmp_path: Path) -> None:
    done = run(FIRE, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_EXPORTER_OTLP_PROTOCOL="grpc")

    assert done.returncode == 2
    assert done.stderr.startswith("warning: nothing is traced: ")
    assert json.loads(done.stdout)["reason"] == "no"
