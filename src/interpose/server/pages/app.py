"""The pages' addresses. Each has the same as JSON: add ``.json``, or send ``Accept: application/json``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from time import monotonic, time
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from ...audit.completion import StoreDown
from ...audit.protocol import NotAStore, QuestionStore, StoredFiring, StoreReader, StoreUnreadable
from ...audit.questions import read_id
from ...errors import InterposeError, UsageError
from ...questions import answer_question
from . import views
from .access import Access, Browser
from .asked import KeptFiles, Missing, answer_in, id_of, number_of, place_after, record_of
from .compare import Comparisons
from .elsewhere import ElsewherePages, QuestionsElsewhere
from .guard import Guard
from .live import Live, waiting_questions
from .templating import environment

__all__ = ["Pages"]

_SEARCH_SECONDS = 0.15
_SAMPLE = 1_000
_STATS_SECONDS = 10.0
_DAY = 86_400.0
_SPANS = {"1h": 3600.0, "24h": _DAY, "7d": 7 * _DAY, "30d": 30 * _DAY, "all": None}
_ROWS = 50
_SESSIONS = 20
_OF_SESSION = 80


class Pages:
    """The application: a store, the configuration of a project, and the browsers that may see them."""

    def __init__(
        self,
        store: QuestionStore,
        access: Access,
        project: views.Project,
        who: Mapping[str, str],
        port: int,
        elsewhere: QuestionsElsewhere | None = None,
    ) -> None:
        self._store, self._access, self._project, self._who = store, access, project, dict(who)
        self._templates = environment()
        self.live = Live(self._open, self._fragment)
        self.comparisons = Comparisons()
        self._stats: dict[str, tuple[float, Any]] = {}
        self._elsewhere = ElsewherePages(elsewhere, self.page, self._back, self._whose) if elsewhere else None
        hosts = [f"{host}:{port}" for host in (access.name, "127.0.0.1", "localhost")]
        self.app = Guard(Starlette(routes=self._routes(), exception_handlers=_problems(self)), access, hosts)

    def _routes(self) -> list[Route | Mount]:
        static = os.path.join(os.path.dirname(__file__), "static")
        pages: dict[str, Callable[[Request], Response]] = {
            "/now": self.now, "/questions": self.questions, "/questions/{id}": self.question,
            "/sessions": self.sessions, "/sessions/{id:path}": self.session, "/events/{id:int}": self.event,
            "/events/{id:int}/case": self.case, "/hooks": self.hooks, "/search": self.search,
            "/compare": self.compare, "/compare/{id}": self.comparison,
        }  # fmt: skip
        forms = {
            "/questions/{id}": self.answer, "/hooks/switch": self.switch, "/compare": self.begin_compare,
            "/sign-in": self.sign_in, "/sign-out": self.sign_out,
        }  # fmt: skip
        if self._elsewhere is not None:
            pages |= self._elsewhere.pages
            forms |= self._elsewhere.forms
        return [
            Mount("/static", KeptFiles(directory=static)),
            Route("/", self.front),
            Route("/live", self.stream),
            *(Route(f"{path}.json", page, methods=["GET"]) for path, page in pages.items()),
            *(Route(path, page, methods=["GET"]) for path, page in pages.items()),
            *(Route(path, form, methods=["POST"]) for path, form in forms.items()),
        ]

    # What pages are made of.

    def _open(self) -> StoreReader:
        return self._store.read()

    def _fragment(self, name: str, data: dict[str, Any]) -> str:
        template = self._templates.get_template(f"_{name}.html")
        return template.render(
            base=f"/{self._access.prefix}", csrf="", read_only=self._access.read_only, live=True, **data
        )

    def page(
        self, request: Request, template: str, data: dict[str, Any], *, status: int = 200, **more: Any
    ) -> Response:
        """Return a page, or its data as JSON."""
        if request.url.path.endswith(".json") or "application/json" in request.headers.get("accept", ""):
            return Response(json.dumps(data, default=repr), status, media_type="application/json")
        browser: Browser | None = request.scope.get("browser")
        shown = self._templates.get_template(template).render(
            base=f"/{self._access.prefix}", path=request.url.path, query=dict(request.query_params),
            csrf=browser.csrf if browser is not None else "", read_only=self._access.read_only, browser=browser,
            store=self._store.path, live=False, **data, **more,
        )  # fmt: skip
        return HTMLResponse(shown, status)

    def _back(self, path: str) -> Response:
        return RedirectResponse(f"/{self._access.prefix}{path}", 303)

    # Signing in.

    def front(self, request: Request) -> Response:
        """Ask for the code. The session's cookie is not sent here: a browser that has one types its address."""
        return self.page(request, "sign_in.html", {"wrong": False, "to": request.query_params.get("to", "")})

    def sign_in(self, request: Request) -> Response:
        """Open a session for this browser."""
        form: dict[str, str] = request.scope["form"]
        browser = self._access.sign_in(form.get("code", ""))
        if browser is None:
            return self.page(request, "sign_in.html", {"wrong": True, "to": form.get("to", "")}, status=403)
        reply = self._back(place_after(form.get("to", "")))
        reply.set_cookie(
            self._access.cookie, browser.secret, path=f"/{self._access.prefix}", httponly=True, samesite="strict"
        )
        return reply

    def sign_out(self, request: Request) -> Response:
        """End the session of this browser."""
        self._access.sign_out(request.scope["browser"])
        return RedirectResponse("/", 303)

    # Pages.

    def now(self, request: Request) -> Response:
        """Show what runs."""
        with self._open() as reader:
            running = views.running_sessions(reader)
            recent = reader.recent_sessions(time() - _DAY, limit=12) if len(running) < 12 else []
            data = {
                "totals": views.totals_of(self.live.totals(reader)),
                "running": running,
                "recent": [views.session_of(one) for one in recent if not views.is_active(one)][:6],
                "questions": [views.question_view(one) for one in waiting_questions(reader)],
                "rows": [views.row_of(one) for one in reader.entries(limit=_ROWS)],
            }  # fmt: skip
        return self.page(request, "now.html", data)

    def questions(self, request: Request) -> Response:
        """Show the questions that wait, and the latest that were answered."""
        with self._open() as reader:
            found = reader.questions(answered=True, limit=80)
            waiting = [views.question_view(one) for one in waiting_questions(reader)]
            data: dict[str, Any] = {
                "questions": waiting,
                "before": [views.question_view(one) for one in found if one.state != "waiting"][:40],
            }
        if self._elsewhere is not None:
            data["elsewhere"] = self._elsewhere.waiting()
        return self.page(request, "questions.html", data)

    def question(self, request: Request) -> Response:
        """Show one question, whole."""
        return self._question(request, id_of(request), "")

    def _question(self, request: Request, id: str, problem: str, status: int = 200) -> Response:
        with self._open() as reader:
            found = reader.question(read_id(id))
            if found is None:
                raise Missing(f"there is no question {id}")
            session = found.text("session_id")
            earlier = [one for one in reader.questions(session=session, answered=True, limit=200)
                       if one.id != found.id and one.tool == found.tool][:10] if session else []  # fmt: skip
        data = {
            "question": views.question_view(found, whole=True),
            "earlier": [views.question_view(one) for one in earlier],
        }
        said = request.query_params.get("said", "")
        return self.page(request, "question.html", data, status=status, problem=problem, said=said)

    def answer(self, request: Request) -> Response:
        """Answer a question: of several answers the first counts, and the others are told."""
        form: dict[str, str] = request.scope["form"]
        wanted = read_id(id_of(request))
        with self._open() as reader:
            asked = reader.question(wanted)
        if asked is None:
            raise Missing(f"there is no question {wanted}")
        try:
            given = answer_in(form, asked.digest)
            who = self._whose(request)
            late = asked.answer is not None
            found = answer_question(self._store, asked, who=who, **given)
        except (UsageError, StoreDown) as error:
            return self._question(request, wanted, str(error), 409)
        ours = found.answer is not None and not late and found.answer.body.get("page") == who["page"]
        if request.headers.get("accept", "").startswith("application/json"):
            return JSONResponse({**found.to_dict(), "late": not ours})
        return self._back(f"/questions/{wanted}?said={'yours' if ours else 'late'}")

    def _whose(self, request: Request) -> dict[str, str]:
        """Return who uses this browser, for the record: the person at whose terminal the code was shown."""
        browser: Browser = request.scope["browser"]
        page = f"{self._access.prefix[:6]}/{browser.number}/{monotonic():.6f}"
        terminal = self._who.get("terminal", "")
        shown = ", ".join(part for part in (terminal, f"page, browser {browser.number}") if part)
        return {**self._who, "terminal": shown, "page": page}

    def sessions(self, request: Request) -> Response:
        """List sessions, or show the one that is asked for."""
        if wanted := request.query_params.get("id", ""):
            return self._session(request, wanted)
        before = number_of(request, "before")
        with self._open() as reader:
            found = reader.recent_sessions(limit=_SESSIONS + 1, before=before)
        data = {"sessions": [views.session_of(one) for one in found[:_SESSIONS]],
                "next": found[_SESSIONS - 1].last_record if len(found) > _SESSIONS else None}  # fmt: skip
        return self.page(request, "sessions.html", data)

    def session(self, request: Request) -> Response:
        """Show one session as a waterfall, its latest part first."""
        return self._session(request, id_of(request))

    def _session(self, request: Request, wanted: str) -> Response:
        before = number_of(request, "before")
        with self._open() as reader:
            overview = reader.session(wanted)
            if overview is None:
                raise Missing(f"there is no session {wanted}")
            selection = views.selection_from({"session": wanted}, None, before)
            found = reader.search(selection, limit=_OF_SESSION, seconds=1.0)
            data = views.session_view(overview, found, before)
        return self.page(request, "session.html", data)

    def event(self, request: Request) -> Response:
        """Show everything about one event."""
        number = record_of(request)
        with self._open() as reader:
            entry = reader.entry(number)
            if entry is None:
                raise Missing(f"there is no event {number}")
            data = views.event_view(reader, entry, self._project)
        return self.page(request, "event.html", data)

    def case(self, request: Request) -> Response:
        """Show an event as a case for ``interpose test``."""
        number = record_of(request)
        with self._open() as reader:
            entry = reader.entry(number)
        if not isinstance(entry, StoredFiring):
            raise Missing(f"there is no event {number}")
        try:
            case, problem = self._project.case(entry), ""
        except InterposeError as error:
            case, problem = "", str(error)
        return self.page(request, "case.html", {"id": entry.id, "case": case, "problem": problem})

    def hooks(self, request: Request) -> Response:
        """Show the hooks and policies of this project, and what each did."""
        span = request.query_params.get("since", "7d")
        span = span if span in _SPANS else "7d"
        with self._open() as reader:
            stats = self._hook_stats(reader, span)
            fired = reader.last_fired()
            changes = reader.changes(limit=10)
        data = views.hooks_view(self._project.hooks(), stats)
        for row in (*data["hooks"], *data["gone"]):
            row["last_fired"] = fired.get((row["event"], row["label"]))
        data |= {"since": span, "changes": [one.to_dict() for one in changes]}
        return self.page(request, "hooks.html", data, spans=list(_SPANS))

    def _hook_stats(self, reader: StoreReader, span: str) -> Any:
        """Return what hooks did; it is counted again after some seconds."""
        at, found = self._stats.get(span, (0.0, None))
        if found is None or monotonic() - at > _STATS_SECONDS:
            seconds = _SPANS[span]
            found = reader.hook_stats(None if seconds is None else time() - seconds, sample=_SAMPLE)
            self._stats[span] = (monotonic(), found)
        return found

    def prepare(self) -> None:
        """Count what the first pages show."""
        with self._open() as reader:
            self.live.totals(reader)
            self._hook_stats(reader, "7d")

    def switch(self, request: Request) -> Response:
        """Switch a hook, and write to the record who has switched it."""
        form: dict[str, str] = request.scope["form"]
        try:
            self._project.switch(form.get("name", ""), form.get("to", ""), self._whose(request))
        except InterposeError as error:
            return self.page(request, "problem.html", {"problem": str(error)}, status=409)
        return self._back("/hooks")

    def search(self, request: Request) -> Response:
        """Search the record."""
        query = {name: request.query_params.get(name, "") for name in _FILTERS}
        span = query["since"]
        since = time() - seconds if (seconds := _SPANS.get(span)) is not None else None
        problem = ""
        with self._open() as reader:
            try:
                selection = views.selection_from(query, since, number_of(request, "before"))
                found = reader.search(selection, limit=_ROWS, seconds=_SEARCH_SECONDS)
            except UsageError as error:
                selection, problem = views.selection_from({}, None, 1), str(error)
                found = reader.search(selection, limit=1, seconds=0.0)
            at = reader.entry(found.searched) if found.searched else None
        data = {"rows": [views.row_of(one) for one in found.entries], "next": found.searched, "late": found.late,
                "reached": at.time if at is not None else None, "problem": problem,
                "nodes": reader.has_nodes}  # fmt: skip
        return self.page(request, "search.html", data, filters=query, spans=list(_SPANS))

    def compare(self, request: Request) -> Response:
        """Ask what to compare."""
        with self._open() as reader:
            sessions = reader.recent_sessions(limit=20)
        listed = self._project.hooks()
        data = {"sessions": [views.session_of(one) for one in sessions], "files": listed["files"],
                "latest": self.comparisons.latest()}  # fmt: skip
        return self.page(request, "compare.html", data, problem="")

    def begin_compare(self, request: Request) -> Response:
        """Start a comparison."""
        form: dict[str, str] = request.scope["form"]
        about = {name: form.get(name, "").strip() for name in ("since", "session", "against")}
        try:
            if about["session"]:
                about["since"] = ""
            command = self._project.replay_command(**about)
        except InterposeError as error:
            return self.page(request, "problem.html", {"problem": str(error)}, status=409)
        begun = self.comparisons.begin(command, about)
        if not begun:
            return self.page(
                request, "problem.html", {"problem": "two comparisons run already; wait for one"}, status=409
            )
        return self._back(f"/compare/{begun}")

    def comparison(self, request: Request) -> Response:
        """Show a comparison."""
        found = self.comparisons.find(id_of(request))
        if found is None:
            raise Missing("there is no such comparison; they are kept while the pages run")
        return self.page(request, "comparison.html", {"comparison": found})

    async def stream(self, request: Request) -> Response:
        """Tell an open page what is new."""
        return StreamingResponse(self.live.stream(number_of(request, "after")), media_type="text/event-stream")


_FILTERS = ("q", "tool", "agent", "decision", "hook", "session", "event", "node", "since")


def _problems(pages: Pages) -> dict[Any, Any]:
    """Return what is shown for each kind of error."""

    def missing(request: Request, error: Exception) -> Response:
        shown = str(error) if isinstance(error, Missing) else "there is no such page"
        return pages.page(request, "problem.html", {"problem": shown}, status=404)

    def unreadable(request: Request, error: Exception) -> Response:
        return pages.page(request, "problem.html", {"problem": str(error)}, status=503)

    return {Missing: missing, 404: missing, NotAStore: unreadable, StoreUnreadable: unreadable}
