"""``interpose attach`` and ``interpose detach``: guard the coding agents that a person runs, and take the guard off."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ...attach.agents import AGENTS, SCOPES, CodingAgent, Scope, find_agent, found_agents
from ...attach.attachment import Plan, find_attachments, plan, write
from ...attach.attachment import detach as take_off
from ...attach.entry import SettingsEntry, make_entries
from ...attach.record import attachments
from ...attach.verify import Verified
from ...attach.verify import verify as run_canaries
from ...dialects.agents import agent_dialect
from ...errors import InterposeError, Problem, UsageError
from ...person import require_no_agent, require_person
from ...replies import clean
from ..loading import change_directory, current_directory
from ..options import AsJson, Cwd
from ..render import cut, escape, paint, plural, print_error, print_problem, short_path
from ..render.streams import confirm, is_interactive
from ..render.table import terminal_width

__all__ = ["attach", "detach", "entries_of"]

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT]…", show_default=False,
        help=f"{', '.join(AGENTS)}. Default: those that are found here.",
    ),
]  # fmt: skip
_PLACES = "Which settings"
Shared = Annotated[
    bool, typer.Option("--shared", rich_help_panel=_PLACES, help="The project's settings that are committed.")
]
User = Annotated[bool, typer.Option("--user", rich_help_panel=_PLACES, help="Your own settings, for every project.")]
Managed = Annotated[
    bool,
    typer.Option(
        "--managed", rich_help_panel=_PLACES,
        help="The settings of this machine, which the agent cannot write. They need root.",
    ),
]  # fmt: skip
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Adopt = Annotated[
    bool,
    typer.Option("--adopt", help="Move the hooks that are there into our configuration; they are recorded then."),
]
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Write nothing: start what was written as the agent does, and see that it denies."),
]


def attach(
    names: Names = None,
    shared: Shared = False,
    user: User = False,
    managed: Managed = False,
    adopt: Adopt = False,
    verify: Verify = False,
    yes: Yes = False,
    cwd: Cwd = None,
    as_json: AsJson = False,
) -> int:
    """Writes one hook per event into the settings of an agent: by default those of this project that are not
    committed. It shows the changes and asks first; hooks of others stay. At the end, or with --verify, it starts what
    it wrote as the agent would, with a call that must be denied.

    Exit status: 1 if an agent is not attached at the end, or would not be stopped.
    """
    change_directory(cwd)
    project = os.path.realpath(current_directory())
    scope = _scope(shared, user, managed)
    agents = _agents(names, project)
    if verify:
        if adopt:
            raise UsageError("--verify and --adopt exclude each other", hint="leave one of them out")
        return _verify_all([agent.name for agent in agents] if names else [], scope, project, as_json)
    require_no_agent("attaching an agent")
    if adopt:
        require_person("adopting hooks")
    reports, status = [], 0
    for agent in agents:
        try:
            report, ok = _attach(agent, scope or "local", project, adopt=adopt, yes=yes, quiet=as_json)
        except InterposeError as error:
            print_error(error, "attach")
            report, ok = {"agent": agent.name, "attached": False, "problems": [str(error)]}, False
        reports.append(report)
        status = status if ok else 1
    if as_json:
        print(json.dumps({"agents": reports}))
    return status


def detach(
    names: Names = None,
    shared: Shared = False,
    user: User = False,
    managed: Managed = False,
    yes: Yes = False,
    cwd: Cwd = None,
    as_json: AsJson = False,
) -> int:
    """Gives the settings back as they were. If a file was changed since, only our hooks are taken out of it. Without
    a name: every agent that is attached in this project.

    Taking a guard off takes a person at a terminal.
    """
    change_directory(cwd)
    project = os.path.realpath(current_directory())
    scope = _scope(shared, user, managed)
    found = {}
    for name in [find_agent(one).name for one in names or []] or [""]:
        held = find_attachments(name, scope or "", project)
        if not scope:  # of a person or a machine only if it is said, or if nothing else is there
            near = {key: one for key, one in held.items() if one["scope"] in ("local", "shared")}
            held = near or (held if name else {})
        if name and not held:
            raise UsageError(f"{find_agent(name).title} is not attached here", hint=_elsewhere(name))
        found.update(held)
    if not found:
        raise UsageError("nothing is attached here", hint=_elsewhere(""))
    require_person("taking an agent off")
    reports: list[dict[str, Any]] = []
    status = 0
    for key, one in found.items():
        title = find_agent(one["agent"]).title
        if not yes and not as_json:
            paths = ", ".join(short_path(file["path"]) for file in one["files"])
            if not is_interactive() or not confirm(f"Take {title} off ({clean(paths)})?"):
                print(f"{paint('still attached', 'yellow')}  {title}")
                status = 1
                continue
        try:
            done = take_off(key)
        except InterposeError as error:
            print_error(error, "detach")
            reports.append({"agent": one["agent"], "scope": one["scope"], "problems": [str(error)]})
            status = 1
            continue
        if any(file.path == one["adopted"] and file.what in ("removed", "gone") for file in done):
            _forget(one["adopted"])
        reports.append({"agent": one["agent"], "scope": one["scope"],
                        "files": [{"path": file.path, "what": file.what} for file in done]})  # fmt: skip
        if not as_json:
            print(f"{paint('detached', 'green')}  {title}")
            for file in done:
                print(f"  {_WHAT[file.what]}  {clean(short_path(file.path))}")
    if as_json:
        print(json.dumps({"agents": reports}))
    return status


_WHAT = {
    "restored": "as it was before     ",
    "removed": "removed              ",
    "cleaned": "our hooks taken out  ",
    "gone": "was removed already  ",
}


def _scope(shared: bool, user: bool, managed: bool) -> Scope | None:
    chosen: list[Scope] = [name for name, on in zip(SCOPES[1:], (shared, user, managed), strict=True) if on]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other", hint="leave one of them out")
    return chosen[0] if chosen else None


def _agents(names: Sequence[str] | None, project: str) -> list[CodingAgent]:
    if names:
        return list({agent.name: agent for agent in map(find_agent, names)}.values())
    found = found_agents(project)
    if not found:
        raise UsageError("no coding agent was found here", hint=f"name one: {', '.join(AGENTS)}")
    return found


def _elsewhere(name: str) -> str:
    known = [one for one in attachments().values() if not name or one["agent"] == name]
    if not known:
        return "`interpose attach` attaches agents"
    one = known[0]
    how = f"--{one['scope']}" if one["scope"] in ("user", "managed") else f"--cwd {one['project']}"
    return f"it is attached elsewhere: {how}"


def entries_of(agent: CodingAgent, *, shared: bool) -> list[SettingsEntry]:
    """Return the entries of an agent: those that are shared name no path of this machine."""
    from ...server.build import NoCompiler, build_client, client_command

    dialect = agent_dialect(agent.name)
    client: list[str] = []
    if not shared:
        try:
            client = [build_client()]
        except NoCompiler:
            client = client_command()
    return make_entries(
        agent.name, dialect.EVENTS, dialect.write_failure, agent.deadlines, client, in_posix_shell=agent.in_posix_shell
    )


def _attach(
    agent: CodingAgent, scope: Scope, project: str, *, adopt: bool, yes: bool, quiet: bool
) -> tuple[dict[str, Any], bool]:
    if scope == "local" and "local" not in agent.places:
        scope = "user" if "user" in agent.places else scope
        if not quiet:
            print(f"{agent.title} has no local settings: this is for every project of yours")
    made = plan(agent, scope, project, entries_of(agent, shared=scope == "shared"),
                adopt_into=_adopted_file(scope, project) if adopt else "")  # fmt: skip
    path = made.files[0].path
    report: dict[str, Any] = {"agent": agent.name, "scope": scope, "files": [file.path for file in made.files]}
    if not quiet:
        _print_plan(made)
    if made.is_done:
        if not quiet:
            print(f"{agent.title} is attached already")
    elif not yes and (quiet or not is_interactive()):
        problem = Problem("not written: there is no terminal to ask on", where=path, hint="--yes writes it")
        print_problem(problem, "")
        return {**report, "attached": False}, False
    elif yes or confirm(f"Attach {agent.title}?"):
        write(made)
    else:
        print(f"{paint('not attached', 'red')}  {agent.title}")
        return {**report, "attached": False}, False
    if made.adopted:
        _trust(made.adopted)
    verified = run_canaries(attachments()[made.key])
    problems = list(dict.fromkeys([*made.doubts, *verified.problems]))
    if not quiet:
        state = paint("attached", "green") if not problems else paint("attached, but it does not hold yet", "yellow")
        print(f"{state}  {agent.title}  {clean(short_path(path))}")
        for problem_text in problems:
            print(f"  {paint('!', 'yellow')} {clean(problem_text)}")
        for note in agent.notes:
            print(f"  {clean(note)}")
        if agent.restarts and not made.is_done:
            print("  Start its running sessions again.")
    return {**report, "attached": True, "verified": verified.events, "problems": problems}, not problems


def _adopted_file(scope: Scope, project: str) -> str:
    """Return the file of ours that takes the hooks of others in a scope."""
    from ...state.directories import user_directory

    if scope == "user":
        return os.path.join(user_directory("XDG_CONFIG_HOME", ".config"), "interpose", "hooks.json")
    if scope == "managed":
        raise UsageError("--adopt is not for managed settings", hint="leave one of them out")
    name = "hooks.local.json" if scope == "local" else "hooks.json"
    return os.path.join(project, ".interpose", name)


def _trust(path: str) -> None:
    """Trust the file into which hooks were adopted: a person has just seen them in the diff."""
    from ...config.read import Source
    from ...config.review import review
    from ...config.trust import TrustStore
    from ...events import TABLE

    TrustStore().trust(review(TABLE, Source(path, "project", "claude", found=True)))


def _forget(path: str) -> None:
    """Forget the trust in a file of adopted hooks that is gone: what was trusted would stay armed."""
    from ...config.trust import TrustStore

    TrustStore().forget(path)


def _print_plan(made: Plan) -> None:
    width = terminal_width()
    for file in made.files:
        for line in file.diff():
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
            print(paint(cut(escape(line), width) if width else escape(line), colour))
    if made.entries and width and not made.is_done:
        print(f"Each of the {plural(len(made.entries), 'hook')} runs a line such as:")
        print(f"  {escape(made.entries[0].command)}")
    if made.others:
        they = "hook of others stays and still runs" if made.others == 1 else "hooks of others stay and still run"
        print(f"{made.others} {they}{'; --adopt takes them over' if made.agent.adopts else ''}")


def _verify_all(names: Sequence[str], scope: Scope | None, project: str, as_json: bool) -> int:
    found = {
        key: one
        for key, one in find_attachments("", scope or "", project).items()
        if not names or one["agent"] in names
    }
    missing = [name for name in names if name not in {one["agent"] for one in found.values()}]
    if missing or not found:
        name = missing[0] if missing else ""
        what = f"{find_agent(name).title} is not attached here" if name else "nothing is attached here"
        raise UsageError(what, hint=_elsewhere(name))
    results = [run_canaries(one) for one in found.values()]
    if as_json:
        print(json.dumps({"agents": [{"agent": one.agent, "path": one.path, "holds": one.holds, "events": one.events,
                                      "problems": one.problems} for one in results]}))  # fmt: skip
    else:
        for one in results:
            _print_verified(one)
    return 0 if all(one.holds for one in results) else 1


def _print_verified(one: Verified) -> None:
    title = find_agent(one.agent).title
    state = paint("holds", "green") if one.holds else paint("does not hold", "red")
    print(f"{state}  {title}  {clean(short_path(one.path))}")
    if one.events:
        print(f"  a call was denied at {', '.join(one.events)}")
    for problem in one.problems:
        print(f"  {paint('!', 'yellow')} {clean(problem)}")
