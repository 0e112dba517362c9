"""Object to sources that pretend to be others, or whose content can be changed on the way."""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.regex import regex
from .call import Call
from .effects import Effect, say
from .effects.tables.popular_packages import POPULAR
from .effects.tables.well_known_hosts import SHORTENERS
from .lookalikes import is_one_off, what_is_wrong
from .parameters import action, names
from .places import hosts_of_effect, place_of_host, url_of
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_SINKS = ("run-downloaded", "run-extracted", "apply-downloaded", "foreign-package", "clone", "change-remote")
_PASSWORD = regex(r"(?:http://|ftp://)?[^\s/:@]+:[^\s/:@]+@")
_PROGRAMS = (
    ".sh", ".bash", ".zsh", ".py", ".pl", ".rb", ".js", ".mjs", ".ps1", ".bat", ".cmd", ".exe", ".msi", ".deb", ".rpm",
    ".pkg", ".dmg", ".apk", ".whl", ".jar", ".appimage", ".run", ".bin", ".so", ".dll", ".dylib",
)  # fmt: skip
_FETCHES = ("request", "send", "pull-image")


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    used = frozenset(host for effect in call.of(*_SINKS) for host in hosts_of_effect(effect))
    for effect in call.of(*_SINKS, *_FETCHES):
        if wrong := what_is_wrong(url_of(effect), tuple(options["knownHosts"])):
            yield Objection(options["lookalikes"], f"{say(effect)}, {wrong}", effect.grade)
        yield from _plain(effect, options)
    for effect in call.of("tls-off"):
        hosts = hosts_of_effect(effect) if effect.target else frozenset()
        if hosts and all(place_of_host(host) != "public" for host in hosts):
            continue
        if not effect.target and not any(True for _ in call.of(*_SINKS, *_FETCHES, "install-package")):
            yield Objection(options["settings"], say(effect, "leave the check on"), effect.grade)
            continue
        is_used = not effect.target or bool(hosts & used)
        if is_used or _is_program(effect.target):
            said = say(effect, "leave the check on, or add the certificate")
            yield Objection(options["certificates" if is_used else "fetches"], said, effect.grade)
    for effect in call.of("redirect-source"):
        yield Objection(options["lookalikes"], say(effect), effect.grade)
    yield from _typos(call, options)


def _plain(effect: Effect, options: Options) -> Iterator[Objection]:
    """Yield objections to plain http, and to shorteners where the result is used."""
    url = url_of(effect)
    hosts = hosts_of_effect(effect)
    is_sink = effect.kind in _SINKS
    if hosts & SHORTENERS:
        chosen = options["shorteners" if is_sink else "fetches"]
        yield Objection(chosen, f"{say(effect)}, which hides where it leads", effect.grade)
    is_used = is_sink or _is_program(url) or bool(_PASSWORD.match(url))
    if is_used and _is_plain(effect, url) and any(place_of_host(host) == "public" for host in hosts):
        chosen = options["plainHttp" if is_sink else "fetches"]
        yield Objection(chosen, f"{say(effect)} without encryption (use https)", effect.grade)


def _is_plain(effect: Effect, url: str) -> bool:
    if url.startswith("git://github.com/"):
        return False  # GitHub has not answered there since 2022
    if url.startswith(("http://", "ftp://", "git://")):
        return True
    # curl and wget read a host without a scheme as http.
    is_fetched = effect.kind == "run-downloaded" or effect.program in ("curl", "wget")
    return "://" not in url and is_fetched and "." in url.partition("/")[0]


def _is_program(url: str) -> bool:
    """Return whether a URL seems to lead to something that is meant to be run or installed."""
    name = url.partition("?")[0].rstrip("/").rpartition("/")[2].lower()
    return name.endswith(_PROGRAMS) or name.partition(".")[0] in ("install", "installer", "setup", "bootstrap", "get")


def _typos(call: Call, options: Options) -> Iterator[Objection]:
    if options["typos"] == "allow":
        return
    for effect in call.of("install-package"):
        popular = POPULAR.get(effect.values[0] if effect.values else "", frozenset())
        near = [] if effect.target in popular else [one for one in popular if is_one_off(effect.target, one)]
        if near and len(effect.target) > 3:
            yield Objection(options["typos"], f"{say(effect)}, which is nearly {near[0]}", effect.grade)


POLICY = Policy(
    name="unsafe-sources",
    prevents="Hosts that look like others; plain http, short links, unchecked certificates where the result is used.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("lookalikes", "ask", "hosts that only look like a well-known one, hide behind a user in the URL, or "
               "stand in for another by a setting of git"),
        action("plainHttp", "ask", "http, ftp or git:// where the result is run, installed or cloned"),
        action("certificates", "ask", "no check of certificates where the result is run, installed or cloned"),
        action("settings", "ask", "no check of certificates in later commands: npm config set strict-ssl false"),
        action("shorteners", "ask", "shortened addresses where the result is run, installed or cloned"),
        action("fetches", "ask", "the same for scripts, and with passwords, where nothing is run"),
        action("typos", "ask", "packages whose name is that of a popular one with a slip"),
        names("knownHosts", (), "further hosts that others may imitate", "a list of domains such as example.com"),
    ),
    recommended={"typos": "allow", "fetches": "allow", "settings": "allow"},
)  # fmt: skip
