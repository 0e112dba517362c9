"""Ask before data of local containers is lost."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .effects import say
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "container-data-loss": "volumes",
    "container-cleanup": "prune",
    "container-all": "all",
    "container-cluster": "clusters",
    "container-change": "remove",
    "container-image": "images",
}
_INSTEAD = {
    "container-data-loss": "without the volumes the data stays",
    "container-cleanup": "without -a, only what is unused and unnamed goes",
    "container-all": "name the containers or images",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        yield Objection(options[_PARAMETERS[effect.kind]], say(effect, _INSTEAD.get(effect.kind, "")), effect.grade)


POLICY = Policy(
    name="containers",
    prevents="Losing data of local containers: volumes, all containers or images at once, local clusters.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("volumes", "ask", "deleting volumes: docker volume rm, compose down -v, system prune --volumes"),
        action("prune", "ask", "deleting everything that is unused: prune -a"),
        action("all", "ask", "stopping or removing what a list of all names: docker rm -f $(docker ps -aq)"),
        action("clusters", "ask", "deleting local clusters and virtual machines: kind, minikube, k3d, vagrant"),
        action("images", "ask", "removing images by force: docker rmi -f"),
        action("remove", "allow", "stopping and removing single containers and images, plain prunes"),
    ),
    recommended={"clusters": "allow", "all": "allow", "prune": "allow", "images": "allow"},
)
