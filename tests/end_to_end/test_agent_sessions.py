"""Whole sessions of the agent, event by event and word by word, as the files of ``sessions/`` tell them.

Each is played three times: by the scripted model, and by the real clients of two APIs against servers that speak them.
"""

from pathlib import Path

import pytest
import yaml
from tests.end_to_end.model_servers import AnthropicServer, OpenAIServer
from tests.end_to_end.session_files import Recording, expected_of, play, session_files, session_of

from interpose.models import find_model

SESSIONS = pytest.mark.parametrize("path", session_files(), ids=lambda path: path.stem)

# pre:tool and post:tool are the first two.
SEEDS = {
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop",
    "SubagentStart", "SessionStart", "SessionEnd", "Setup", "PreCompact", "Notification", "TeammateIdle",
    "TaskCompleted", "pre:message", "post:message", "pre:agent:spawn", "post:agent:complete", "pre:session:phase",
    "post:session:phase", "pre:git:write", "post:git:write", "pre:view:render",
}  # fmt: skip


@SESSIONS
def test_a_session_goes_as_its_file_says(path: Path, tmp_path: Path) -> None:
    played = play(path, tmp_path)

    assert yaml.safe_load(played.text()) == expected_of(path)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "serve"), [("anthropic", AnthropicServer), ("openai", OpenAIServer)])
@SESSIONS
def test_it_goes_the_same_way_with_the_client_of_an_api(
    path: Path, kind: str, serve: type[AnthropicServer | OpenAIServer], tmp_path: Path
) -> None:
    session = session_of(path)
    if session.get("only_scripted"):
        pytest.skip("a script says what no server would")
    script = Recording(session)
    play(path, tmp_path / "scripted", script)

    with serve(script.played) as server:
        model = find_model(kind, environ=server.environ, window=session.get("window"))
        played = play(path, tmp_path / kind, model)

    assert yaml.safe_load(played.text()) == expected_of(path)
    assert len(server.requests) == len(script.played)


def test_every_event_of_the_seeds_fires_in_one_session() -> None:
    path = next(path for path in session_files() if path.stem == "everything")

    fired = {word for line in expected_of(path)["events"] for word in line.split() if word in SEEDS}

    assert fired == SEEDS
