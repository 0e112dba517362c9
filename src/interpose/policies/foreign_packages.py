"""Object to packages from other places than the public registries, and to installs that change the system."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import BadHook
from ..matching.hosts import HostPattern
from .call import Call
from .effects import Effect, say
from .parameters import Parameter, action, names
from .places import hosts_of_effect, place_of_host
from .policy import Objection, Options, Policy

__all__ = ["POLICY", "host_patterns"]

_SORTS = {"index": "index", "git": "git", "url": "urls", "repository": "repositories", "unsigned": "unsigned"}
_PUBLIC = (
    "pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com", "npm.jsr.io", "rubygems.org",
    "index.crates.io", "crates.io", "proxy.golang.org", "repo.maven.apache.org", "api.nuget.org",
    "download.pytorch.org", "conda.anaconda.org", "pypi.nvidia.com", "charts.helm.sh", "charts.bitnami.com",
    "kubernetes.github.io", "prometheus-community.github.io",
)  # fmt: skip
_REGISTRIES = (
    "docker.io", "ghcr.io", "quay.io", "gcr.io", "*.gcr.io", "*.pkg.dev", "mcr.microsoft.com", "public.ecr.aws",
    "registry.k8s.io", "k8s.gcr.io", "nvcr.io", "registry.gitlab.com", "lscr.io", "docker.elastic.co",
    "registry.access.redhat.com", "*.azurecr.io", "*.amazonaws.com", "*.ocir.io", "registry.hub.docker.com",
)  # fmt: skip
_SETTINGS = (
    "/etc/apt/sources.list", "/etc/apt/trusted.gpg", "/etc/yum.repos.d/", "/etc/pacman.conf", "/etc/apk/repositories",
    "/etc/zypp/repos.d/", "/etc/yum.conf", "/etc/dnf/dnf.conf", "/etc/apt/apt.conf",
)  # fmt: skip
_UNSIGNED = (
    "trusted=yes", "gpgcheck=0", "siglevel=never", "allow-insecure=yes", "allowunauthenticated", "gpgcheck=false",
    "siglevel=optionaltrustall",
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
        if chosen != "allow" and not _is_listed(effect, options):
            yield Objection(chosen, say(effect, _INSTEAD.get(effect.kind, "")), effect.grade)
    for effect in call.of("write-files"):
        if effect.target.startswith(_SETTINGS):
            said = f"{say(effect)}, which says where packages come from"
            yield Objection(options["unsigned" if _is_unsigned(call) else "repositories"], said, effect.grade)


def _is_unsigned(call: Call) -> bool:
    """Return whether a text in the line switches the check of signatures off."""
    words = (word for line in call.lines for command in line.commands for word in command.parts)
    return any(mark in word.lower().replace(" ", "") for word in words for mark in _UNSIGNED)


_INSTEAD = {"install-scripts": "--ignore-scripts installs without them"}


def _parameter(effect: Effect) -> str:
    if effect.kind == "foreign-package":
        return _SORTS.get("".join(effect.values[:1]), "urls")
    if effect.kind == "global-install":
        return "system" if "system" in effect.values else "global"
    return {"install-scripts": "installScripts", "run-package": "run", "pull-image": "images"}[effect.kind]


def _is_listed(effect: Effect, options: Options) -> bool:
    """Return whether a package comes from a host that is listed, over https."""
    if effect.kind == "pull-image":
        hosts = hosts_of_effect(effect)
        patterns = options["registries"]
        return all(place_of_host(host) != "public" or _is_covered(host, patterns) for host in hosts)
    if effect.kind != "foreign-package" or not {"index", "url", "repository"} & set(effect.values):
        return False
    return effect.target.startswith("https://") and all(
        _is_covered(host, options["indexes"]) for host in hosts_of_effect(effect)
    )


def _is_covered(host: str | None, patterns: tuple[HostPattern, ...]) -> bool:
    return host is not None and any(one.covers(f"https://{host}/") for one in patterns)


POLICY = Policy(
    name="foreign-packages",
    prevents="Packages from other indexes, git, URLs and unsigned repositories, and installs into the system's Python.",
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
        host_patterns("registries", _REGISTRIES, "registries of images that are allowed; private ones are"),
        action("images", "ask", "pulling an image from another registry"),
        action("installScripts", "allow", "installs that run the packages' scripts"),
    ),
    recommended={
        "index": "allow",
        "git": "allow",
        "urls": "allow",
        "repositories": "allow",
        "images": "allow",
        "system": "allow",
    },
)
