"""Object to publishing packages, images and releases, and to merging for others."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .effects import say
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "publish": "packages",
    "publish-image": "images",
    "change-owners": "owners",
    "publish-release": "releases",
    "merge": "merges",
    "make-public": "visibility",
    "unpublish": "unpublish",
}
_INSTEAD = {"publish": "a dry run shows what would be published"}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        yield Objection(
            options[_PARAMETERS[effect.kind]], say(effect, _INSTEAD.get(effect.kind, "")), effect.grade
        )  # fmt: skip


POLICY = Policy(
    name="publishing",
    prevents="Publishing packages, images and releases, taking them back, merging for others, making things public.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("packages", "ask", "publishing a package, or changing its tags"),
        action("owners", "ask", "changing who may publish or install a package"),
        action("images", "ask", "pushing an image to a registry"),
        action("releases", "ask", "creating or changing a release"),
        action("merges", "ask", "merging or closing pull requests and issues"),
        action("visibility", "ask", "making a repository or a gist public"),
        action("unpublish", "deny", "unpublishing, yanking or deprecating what others use"),
    ),
    recommended={"releases": "allow", "images": "allow", "owners": "allow"},
)
