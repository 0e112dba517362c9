"""Rules that a node could not take over for a while: it takes them over when it can, without another push."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.rule_nodes import DAY, Team, refusal_of, run, until, version_of
from tests.fleet.test_rules import check_refused, statement_for

from interpose.fleet import rules
from interpose.fleet.statements import signed_statement
from interpose.fleet.take_over import RulesFolder


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    monkeypatch.setattr(rules, "_LOOKS", (0.05, 0.1))
    monkeypatch.setattr(rules, "_AGAIN", 0.1)
    with a_nats_server(tmp_path / "nats") as server:
        yield Team(tmp_path, server.url)


def test_a_node_that_could_not_write_takes_the_rules_over_when_it_can(team: Team) -> None:
    async def work() -> None:
        folder = team.node_folder()
        folder.mkdir(parents=True)
        (folder / "bundles").write_text("no file can be written below this one")
        await team.push()
        async with team.node() as node:
            assert await until(lambda: "cannot be written" in refusal_of(node))
            (folder / "bundles").unlink()

            assert await until(lambda: version_of(node) == 1)
            assert refusal_of(node) == ""

    run(work())


def test_a_node_whose_clock_is_put_right_takes_the_rules_over(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = [0.0]
    real = time.time
    monkeypatch.setattr("interpose.fleet.rules.time.time", lambda: real() + ahead[0])

    async def work() -> None:
        await team.push()
        ahead[0] = 2 * DAY
        async with team.node() as node:
            assert await until(lambda: "has expired" in refusal_of(node))
            ahead[0] = 0.0

            assert await until(lambda: version_of(node) == 1)

    run(work())


def test_rules_that_were_signed_in_the_future_are_refused_as_a_wrong_clock(team: Team) -> None:
    ahead = int(time.time()) + 60 * 24 * 3600
    made = statement_for(team, team.bundle("good"), created=ahead, expires=ahead + 1000)

    check_refused(team, signed_statement(made, team.key), "60.0 days after the time on this machine", "clock")


def test_a_machine_with_the_rules_of_one_team_takes_none_of_another_until_it_has_left(team: Team) -> None:
    async def work() -> None:
        await team.push()
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1)
        other = Team(team.folder / "others", team.settings.nats.servers[0], "search")
        await other.push("other")
        mine: dict[str, Any] = {"team": "search", "signers": other.settings.signers}
        async with team.node(**mine) as node:
            assert await until(lambda: "runs the rules of the team payments" in refusal_of(node)), node.report
            assert version_of(node) == 1
        RulesFolder(str(team.node_folder())).leave()
        async with team.node(**mine) as node:
            assert await until(lambda: node.report.get("rules", {}).get("team") == "search"), node.report

    run(work())
