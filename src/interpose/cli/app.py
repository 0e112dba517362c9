"""The typer app of all commands, built from the table of commands. Loads the one that is called.

typer parses command lines, prints the help of a command and completes in shells; errors are printed in our own words
and with our own exit statuses. ``interpose fire`` is parsed in ``fire``; here are its help and its completion.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import InterposeError, Problem, nearest
from . import options
from .commands import COMMANDS, GROUPS, Subcommand, names
from .render import is_coloured, paint, print_error, print_problem
from .render.table import terminal_width, wrap_text

__all__ = ["build", "fire_help", "general_help", "load", "run"]

_COMPLETION = "_INTERPOSE_COMPLETE"
_VALUES = ("--install-completion", "--show-completion")
_WORDS = {
    r"is not a valid int(?:eger)?(?: range)?$": "is not a whole number",
    r"is not a valid float(?: range)?$": "is not a number",
    r"is not in the range x>=(\S+)$": r"is below \1",
    r"is not in the range (\S+)<=x<=(\S+)$": r"is not between \1 and \2",
    r"^Got unexpected extra arguments?(?:\(s\))? \((.*)\)$": r"\1: nothing more is expected here",
    r"'\[(\w+)\]'": r"'\1'",
}
"""Patterns of typer's messages, and our words for each."""


def run(given: list[str]) -> int:
    """Run one command and return its exit status; print errors on standard error."""
    called = next((word for word in given if not word.startswith("-")), "")
    if called == "help":
        given = [*given[1:2], "--help"]
        called = given[0] if len(given) == 2 else ""
    if not called and _COMPLETION not in os.environ and (not given or {"-h", "--help"} & set(given)):
        print(general_help())
        return 0
    if given[:1] in (["-V"], ["--version"]):
        print(f"interpose {__version__}")
        return 0
    if called and called not in names() and not set(_VALUES) & set(given):
        hint = nearest(called, names()) or "`interpose --help` lists the commands"
        print_problem(Problem(f"{called} is not a command", hint=hint), "")
        return 1
    # A shell that completes asks for the options of any command.
    wanted = names() if _COMPLETION in os.environ else (called,)
    try:
        status = build(wanted)(given, prog_name="interpose", standalone_mode=False)
    except InterposeError as error:
        print_error(error, called)
        return 1
    except typer.Abort:
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk, a directory without permission: a traceback would explain nothing
        if error.filename is None:
            raise
        print_problem(Problem(error.strerror or str(error), where=os.fsdecode(error.filename)), called)
        return 1
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return _report_usage(error, called)
    return status if isinstance(status, int) else 0


def build(wanted: Iterable[str]) -> typer.Typer:
    """Return the app; of the commands that are not wanted it has the name and the purpose only."""
    app = typer.Typer(
        no_args_is_help=True, add_completion=True, rich_markup_mode=None if _plain() else "rich",
        pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
    )  # fmt: skip
    app.callback()(_root)
    wanted = set(wanted)
    for command in sorted(COMMANDS, key=lambda command: GROUPS.index(command.group)):
        function = load(command) if command.name in wanted else _stub
        # The first line of a command's help is its line in the table; its docstring says the rest.
        text = f"{command.purpose}\n\n{_help_of(_docstring(function))}" if function is not _stub else command.purpose
        shown: dict[str, Any] = {"help": text, "short_help": command.purpose, "rich_help_panel": command.group}
        if isinstance(function, typer.Typer):  # it has commands of its own
            for info in function.registered_commands:
                info.help = info.help or _help_of(_docstring(info.callback or _stub))
            app.add_typer(function, name=command.name, **shown)
        else:
            app.command(command.name, **shown)(function)
    return app


def load(command: Subcommand) -> Callable[..., Any]:
    """Return the function that a line of the table names."""
    module, _, function = command.place.partition(":")
    found: Callable[..., Any] = getattr(import_module(f".{module}", __package__), function or "run")
    return found


def general_help() -> str:
    """Return the help of ``interpose`` itself: the commands in groups, and an example."""
    lines = [
        *_fitted(
            "Interpose is a hook engine for AI agents: the agent fires an event, your hooks answer, and one outcome "
            "says what the agent may do."
        ),
        "",
        "usage: interpose COMMAND [options]",
    ]
    width = max(map(len, names()))
    for group in GROUPS:
        lines += ["", paint(group, "bold")]
        for command in COMMANDS:
            if command.group == group:
                first, *rest = _fitted(command.purpose, indent=width + 4)
                lines += [f"  {paint(command.name.ljust(width), 'cyan')}  {first}"]
                lines += [" " * (width + 4) + more for more in rest]
    lines += [
        "",
        paint("Example", "bold"),
        "  interpose init      # write a configuration, a guard and test cases",
        "  interpose trust     # review the configuration; its hooks run only after that",
        '  interpose fire PreToolUse --tool Bash --tool-input \'{"command": "rm -rf /"}\'',
        "",
        *_fitted(
            "`interpose COMMAND --help` shows the options of a command, `interpose --version` the version; "
            "`interpose --install-completion` makes your shell complete commands and options."
        ),
    ]
    return "\n".join(lines)


def _fitted(text: str, indent: int = 0) -> list[str]:
    """Return the lines of a text behind an indentation, at most as wide as the terminal and 100 columns."""
    return wrap_text(text, min(terminal_width() or 100, 100) - indent)


Reply = Annotated[
    str | None,
    typer.Option(
        "--reply", metavar="DIALECT", rich_help_panel="Acting as a hook",
        help="Print a hook's reply instead of the report: native, or the words of an agent that `interpose agents` "
             "lists, such as claude or codex. The event is read from standard input unless --input is given, and every "
             "mistake denies.",
    ),
]  # fmt: skip

Require = Annotated[
    bool,
    typer.Option(
        "--require", rich_help_panel="Acting as a hook",
        help="Finding no trusted configuration is a mistake: with --reply it denies.",
    ),
]  # fmt: skip


Deadline = Annotated[
    str | None,
    typer.Option(
        "--deadline", metavar="SECONDS", rich_help_panel="Acting as a hook", show_default=False,
        help="The time that the host gives this hook: a question waits no longer. Default: what the host gives to a "
             "hook without a timeout.",
    ),
]  # fmt: skip


def fire_help(
    event: options.Event = None,
    input: options.Input = None,
    tool: options.Tool = None,
    tool_input: options.ToolInput = None,
    agent: options.Agent = None,
    field: options.Fields = None,
    config: options.Config = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    as_json: options.AsJson = False,
    reply: Reply = None,
    require: Require = False,
    deadline: Deadline = None,
) -> int:
    """Exit status: 0 go on, 2 denied, 3 a person must be asked, 1 a mistake in use or configuration.

    Example: interpose fire PreToolUse --tool Bash --tool-input '{"command": "rm -rf /"}'

    As a hook of Claude Code: interpose fire --reply claude --require
    """
    raise AssertionError("`fire` parses its own command line")


def _stub() -> None:
    """Represent a command that was not called."""


def _root(version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False) -> None:
    """Represent the app itself, whose help and version are printed without typer."""


def _plain() -> bool:
    """Return whether to print help without boxes and colours."""
    return not is_coloured(sys.stdout)


def _docstring(function: Callable[..., Any]) -> str:
    if isinstance(function, typer.Typer) and function.registered_callback is not None:
        function = function.registered_callback.callback or _stub
    return function.__doc__ or ""


def _help_of(docstring: str) -> str:
    """Return the help that a docstring gives; on a terminal a paragraph is one line, which is wrapped to its width."""
    from inspect import cleandoc

    text = cleandoc(docstring)
    return text if _plain() else re.sub(r"(?<=\S)\n(?!\s|- )", " ", text)


def _report_usage(error: Any, called: str) -> int:
    """Print in one line what is wrong with a command line."""
    what, _, guess = str(error.format_message()).partition(" Did you mean ")
    what = what.partition(" (Possible")[0].rstrip(".")
    for theirs, ours in _WORDS.items():
        what = re.sub(theirs, ours, what)
    path = getattr(getattr(error, "ctx", None), "command_path", "") or f"interpose {called}".strip()
    option = str(getattr(error, "option_name", ""))
    if option.startswith("--"):  # two dashes would make any two options alike
        known = _long_options(getattr(error, "ctx", None))
        hint = nearest(option[2:], known).replace("did you mean ", "did you mean --")
    else:
        hint = f"did you mean {_bare(guess)}" if guess else ""
    hint = hint or f"`{path} --help`"
    print_problem(Problem(what[:1].lower() + what[1:], hint=hint), path.partition(" ")[2])
    return 1


def _long_options(context: Any) -> list[str]:
    """Return the options of a command that begin with two dashes, without these."""
    spelt = (
        [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)]
        if context is not None
        else []
    )
    return [name[2:] for name in ("--help", *spelt) if name.startswith("--")]


def _bare(guess: str) -> str:
    return guess.replace("'", "").rstrip("?") + "?"
