"""``interpose ui``: the pages, in a browser on this machine."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from ...audit.read_only import ReadOnlyStore
from ...audit.store import AuditStore
from ...errors import UsageError
from ...person import require_person
from ...person.identity import this_person
from .. import options
from ..audit_store import NamedStore, names_store
from ..render import paint

if TYPE_CHECKING:
    from ...server.pages.access import Access
    from ...server.pages.app import Pages
    from .fleet_questions import FleetQuestions

__all__ = ["open_pages", "require_pages", "run"]

Port = Annotated[
    int | None,
    typer.Option("--port", metavar="PORT", min=0, max=65535, show_default=False,
                 help="The port on 127.0.0.1; 0: any free one. Default: 8787, or any free one if that is taken."),
]  # fmt: skip
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Show everything, and change and answer nothing.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")]


@names_store
def run(
    *,
    port: Port = None,
    read_only: ReadOnly = False,
    no_browser: NoBrowser = False,
    fleet: options.Fleet = False,
    key: options.FleetKey = None,
    store: NamedStore,
) -> int:
    """Shows what runs, what was stopped and why, and the calls that wait for you; answers them; switches hooks between
    observing and enforcing; compares rules. The record is the one that `interpose log` reads.

    A browser opens the pages with a code that this terminal shows, and that counts once; press Enter for another. So
    it takes a person at a terminal, outside of any agent; with --read-only it does not. The record of a fleet, which
    --store postgresql://… names, is always read-only.

    With --fleet the questions of all nodes are there too, and your key signs the answers.

    Example: interpose ui
    """
    return open_pages(store, port=port, read_only=read_only, no_browser=no_browser, fleet=fleet, key=key)


def open_pages(
    store: NamedStore,
    *,
    port: int | None = None,
    read_only: bool = False,
    no_browser: bool = False,
    fleet: bool = False,
    key: str | None = None,
) -> int:
    """Serve the pages until Ctrl-C."""
    require_pages()
    read_only = read_only or store.is_of_fleet  # it is written by the nodes alone
    if not read_only:
        require_person("opening the pages", or_else="add --read-only")
    from ...server.pages.access import Access
    from ...server.pages.serving import serve_pages
    from ..questions import check_fleet_options
    from .project import LocalProject

    check_fleet_options(fleet, key)
    questions = _open_fleet(store.files, key, read_only) if fleet else None
    with ExitStack() as opened:
        writer: AuditStore | ReadOnlyStore
        if store.is_of_fleet:
            writer = ReadOnlyStore(store.find().path)
            writer.read().close()  # one that cannot be read is told at once
        else:
            writer = opened.enter_context(store.open_writer())
        project = LocalProject(store.files, store.dialect, writer)
        access = Access(_show_code, warn=_warn, read_only=read_only)
        if isinstance(writer, AuditStore) and not read_only:
            writer.prepare_reading()

        def ready(address: str, _: Pages) -> None:
            print(f"interpose ui: {paint(address, 'bold')}{'  (read-only)' if read_only else ''}", flush=True)
            access.new_code()
            _read_enter(access)
            if not no_browser:
                _open_browser(address)

        try:
            serve_pages(
                writer, project, access, port=port, who=this_person(), ready=ready, warn=_warn, elsewhere=questions
            )
        finally:
            if questions is not None:
                questions.close()
    return 0


def _open_fleet(config: list[str] | None, key: str | None, read_only: bool) -> FleetQuestions:
    """Return what knows the questions of the fleet; raise UsageError if there is none, or no key to sign with."""
    from ..fleet import fleet_of
    from ..fleet.questions import load_approver_key
    from .fleet_questions import FleetQuestions

    return FleetQuestions(fleet_of(config), None if read_only else load_approver_key(key))


def require_pages() -> None:
    """Raise UsageError if the packages of the pages are not installed."""
    from importlib.util import find_spec

    missing = [name for name in ("starlette", "jinja2", "uvicorn") if find_spec(name) is None]
    if missing:
        raise UsageError(f"the pages need {', '.join(missing)}", hint="pip install 'interpose[ui]'")


def _show_code(code: str) -> None:
    """Print a code where the person has started the pages, and nowhere else."""
    print(
        f"code: {paint(code, 'bold', 'cyan')}   it counts once; Enter shows another, Ctrl-C ends the pages", flush=True
    )


def _warn(text: str) -> None:
    """Print a warning where the code was printed."""
    print(paint(f"interpose ui: {text}", "yellow"), flush=True)


def _read_enter(access: Access) -> None:
    """Show another code whenever the person presses Enter."""
    if sys.stdin is None or not sys.stdin.isatty():
        return

    def read() -> None:
        while sys.stdin.readline():
            access.new_code()

    threading.Thread(target=read, name="interpose-enter", daemon=True).start()


def _open_browser(address: str) -> None:
    """Open the address, which has no secret in it: every program of the user sees the arguments of a browser."""
    has_screen = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(address)
