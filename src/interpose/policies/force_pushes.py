"""Stop rewriting and deleting what others may already have."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .effects import say
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "rewrite-remote": "force",
    "rewrite-remote-checked": "withLease",
    "delete-remote-ref": "deleteBranch",
    "delete-tag": "deleteTag",
    "rewrite-history": "rewriteHistory",
    "amend": "amend",
}
_INSTEAD = {
    "rewrite-remote": "--force-with-lease keeps what others have pushed",
    "rewrite-history": "git revert undoes a commit with another",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        said = effect if effect.target else effect._replace(target="the branch")
        if effect.kind == "rewrite-history":
            said = effect
        yield Objection(options[_PARAMETERS[effect.kind]], say(said, _INSTEAD.get(effect.kind, "")), effect.grade)


POLICY = Policy(
    name="force-pushes",
    prevents="Rewriting or deleting what others may already have: force pushes, deleted branches and tags, "
    "rewritten history.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("force", "ask", "overwriting branches and tags on the remote"),
        action("withLease", "allow", "overwriting them with --force-with-lease"),
        action("deleteBranch", "ask", "deleting branches and tags on the remote"),
        action("deleteTag", "ask", "deleting tags here"),
        action("rewriteHistory", "ask", "filter-branch, filter-repo and the like"),
        action("amend", "ask", "git commit --amend"),
    ),
    recommended={"deleteTag": "allow", "amend": "allow"},
)
