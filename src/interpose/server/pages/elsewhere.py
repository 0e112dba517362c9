"""Pages with the questions of other machines. What knows them is handed in: the pages know no fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...audit.questions import StoredQuestion, read_id
from ...errors import UsageError
from ...records import Record
from .asked import answer_in
from .views import question_view

__all__ = ["ElsewherePages", "QuestionElsewhere", "QuestionsElsewhere"]

_REFRESH = "5"
"""Seconds after which a browser loads the list again."""


class QuestionElsewhere(Record):
    """A question of another machine, and what became of it."""

    node: str
    question: StoredQuestion
    state: str
    left: float
    intact: bool
    by: str = ""
    reason: str = ""
    ignored: str = ""
    """Why the machine has ignored the last answer."""

    def view(self, *, whole: bool = False) -> dict[str, Any]:
        """Return it as JSON; without ``whole`` a long input is cut."""
        found = question_view(self.question, whole=whole)
        return {
            **found, "node": self.node, "state": self.state, "intact": self.intact, "person": self.by,
            "left": max(0.0, self.left) if self.state == "waiting" else 0.0, "said": self.reason,
            "ignored": self.ignored, "href": f"/elsewhere/{self.node}/{self.question.id}",
        }  # fmt: skip


class QuestionsElsewhere(Protocol):
    """What the command line lends to the pages: the questions of other machines."""

    def listed(self) -> tuple[list[QuestionElsewhere], str]:
        """Return the questions as they were known last, the oldest first, and what is wrong with the list."""

    def find(self, node: str, id: str) -> QuestionElsewhere | None:
        """Return one question; raise UsageError if it cannot be looked for."""

    def answer(
        self, found: QuestionElsewhere, *, approved: bool, who: Mapping[str, str], remembered: str, reason: str,
        tool_input: Any,
    ) -> tuple[str, str]:  # fmt: skip
        """Answer a question as it was found; return what became of the answer, and who or what stands against it.

        The first is ``confirmed``, ``other``, ``ignored`` or ``silent``. Raises UsageError if it cannot be answered.
        """


class ElsewherePages:
    """The addresses below ``/elsewhere``."""

    def __init__(
        self,
        elsewhere: QuestionsElsewhere,
        page: Callable[..., Response],
        back: Callable[[str], Response],
        whose: Callable[[Request], dict[str, str]],
    ) -> None:
        self._elsewhere, self._page, self._back, self._whose = elsewhere, page, back, whose
        self.pages: dict[str, Callable[[Request], Response]] = {
            "/elsewhere": self.questions, "/elsewhere/{node}/{id}": self.question,
        }  # fmt: skip
        self.forms: dict[str, Callable[[Request], Response]] = {"/elsewhere/{node}/{id}": self.answer}

    def waiting(self) -> dict[str, Any]:
        """Return what the page of questions shows of other machines."""
        found, problem = self._elsewhere.listed()
        return {"questions": [one.view() for one in found if one.state == "waiting"], "problem": problem}

    def questions(self, request: Request) -> Response:
        """List the questions of other machines."""
        found, problem = self._elsewhere.listed()
        data = {"questions": [one.view() for one in found if one.state == "waiting"],
                "before": [one.view() for one in found if one.state != "waiting"][::-1][:40],
                "problem": problem}  # fmt: skip
        reply = self._page(request, "elsewhere.html", data)
        reply.headers["refresh"] = _REFRESH
        return reply

    def question(self, request: Request) -> Response:
        """Show one question of another machine, whole."""
        return self._question(request, "", said=request.query_params.get("said", ""))

    def _question(self, request: Request, problem: str, status: int = 200, said: str = "") -> Response:
        try:
            found = self._find(request)
        except UsageError as error:
            return self._page(request, "problem.html", {"problem": str(error)}, status=503)
        if found is None:
            return self._page(request, "problem.html", {"problem": "there is no such question"}, status=404)
        data = {"question": found.view(whole=True)}
        return self._page(request, "elsewhere_question.html", data, status=status, problem=problem, said=said)

    def _find(self, request: Request) -> QuestionElsewhere | None:
        wanted = read_id(str(request.path_params["id"]))
        return self._elsewhere.find(str(request.path_params["node"]), wanted) if wanted else None

    def answer(self, request: Request) -> Response:
        """Answer a question of another machine, and say what that machine has made of it."""
        form: dict[str, str] = request.scope["form"]
        try:
            found = self._find(request)
            if found is None:
                return self._question(request, "")
            given = answer_in(form, found.question.digest)
            how, other = self._elsewhere.answer(found, who=self._whose(request), **given)
        except UsageError as error:
            return self._question(request, str(error), 409)
        if request.headers.get("accept", "").startswith("application/json"):
            return JSONResponse({"how": how, "other": other})
        return self._back(f"/elsewhere/{found.node}/{found.question.id}?said={how}")
