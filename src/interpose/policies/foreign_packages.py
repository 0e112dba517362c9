"""Object to packages from other places than the public registries, and to installs that change the system."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import BadHook
from ..matching.hosts import HostPattern
from .call import Call
from .effects import Effect, say
from .parameters import Parameter, action, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY", "host_patterns"]

_SORTS = {"index": "index", "git": "git", "url": "urls", "repository": "repositories", "unsigned": "unsigned"}
_PUBLIC = (
    "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com", "npm.jsr.io", "rubygems.org",
    "index.crates.io", "crates.io", "proxy.golang.org", "repo.maven.apache.org", "api.nuget.org", "download.pytorch.org",
    "conda.anaconda.org", "pypi.nvidia.com",
)  # fmt: skip


def host_patterns(name: str, default: tuple[str, ...], purpose: str) -> Parameter:
    """Return a parameter that is a list of hosts; ``*.example.com`` stands for its subdomains."""
    texts = names(name, default, purpose, "a list of hosts; *.example.com stands for subdomains")

    def read(value: object) -> tuple[HostPattern, ...]:
        try:
            return tuple(HostPattern(host) for host in texts.read(value))
        except ValueError as error:
            raise BadHook(str(error).replace("domain:", ""), hint=texts.expects) from None

    return Parameter(name, read, default, purpose, texts.expects)


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("foreign-package", "global-install", "install-scripts", "run-package", "pull-image"):
        chosen = options[_parameter(effect)]
        if effect.kind == "foreign-package" and _is_listed(effect, options):
            continue
        if chosen != "allow":
            yield Objection(chosen, say(effect, _INSTEAD.get(effect.kind, "")), effect.grade)


_INSTEAD = {"install-scripts": "--ignore-scripts installs without them"}


def _parameter(effect: Effect) -> str:
    if effect.kind == "foreign-package":
        return _SORTS.get("".join(effect.values[:1]), "urls")
    if effect.kind == "global-install":
        return "system" if "system" in effect.values else "global"
    return {"install-scripts": "installScripts", "run-package": "run", "pull-image": "images"}[effect.kind]


def _is_listed(effect: Effect, options: Options) -> bool:
    """Return whether an index is one of those that are allowed, over https."""
    url = effect.target
    is_plain = not url.startswith("http:")
    return is_plain and "index" in effect.values and any(one.covers(url) for one in options["indexes"])


POLICY = Policy(
    name="foreign-packages",
    prevents="Packages from other indexes, git, URLs and unsigned repositories; installs that change the system's Python.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        host_patterns("indexes", _PUBLIC, "hosts of indexes and registries that are allowed"),
        action("index", "ask", "a package from another index or registry"),
        action("git", "ask", "a package from a repository"),
        action("urls", "ask", "a package from a URL, or from a file that the line downloads"),
        action("repositories", "ask", "adding a tap, PPA, chart repository or package repository"),
        action("unsigned", "ask", "installing without a check of signatures"),
        action("system", "ask", "installing into the system's Python, as root or past its protection"),
        action("global", "allow", "installing a package for all projects, such as npm install -g"),
        action("run", "allow", "running a package at once, such as npx and uvx"),
        action("images", "allow", "pulling an image"),
        action("installScripts", "allow", "installs that run the packages' scripts"),
    ),
    recommended={"index": "allow", "git": "allow", "urls": "allow", "repositories": "allow"},
)
