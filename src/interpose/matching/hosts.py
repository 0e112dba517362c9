"""The host that a URL leads to, whichever program reads the URL, in one spelling."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from unicodedata import category, normalize
from urllib.parse import unquote, unquote_to_bytes

from ..runtime.regex import regex
from .globs import glob_to_regex
from .grades import Grade
from .names import Predicate, linear

__all__ = ["HostPattern", "hosts_of", "plain_urls"]

_LONGEST_HOST = 1_000
_NO_HOST = frozenset(" \t\n\r\0#/:<>?@[\\]^|%")
_NO_NAME = regex(r"""["'`<>{}|;,^*&!$()=+~ ]""")
_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_WEB = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_NUMBER = regex(r"0[xX][0-9a-fA-F]*|[0-9]+")
_PLAIN_URL = regex(r"(?:https?://)?[A-Za-z0-9.-]+(?::[0-9]+)?(?:[/?#][!-\[\]-~]*)?")


class HostPattern:
    """The pattern in ``domain:…``: a host, or with wildcards several."""

    __slots__ = ("_hosts", "_matches")

    def __init__(self, text: str) -> None:
        text = text.strip()
        self._matches: Predicate | None = None
        host = re.sub(r"^[A-Za-z]+://", "", text).removesuffix("/")
        if re.search(r"[/\\?#@]|(?:^|[^:]):[0-9]+$", host if host.count(":") < 2 else host.partition("]")[2]):
            raise ValueError(f"domain:{text} has more than a host: ports, users and paths are not compared")
        if "*" in text:
            self._hosts = frozenset[str]()
            labels = normalize("NFKC", text).lower().strip(".").split(".")
            glob = ".".join(label if "*" in label else _as_browsers_do(label) for label in labels)
            self._matches = linear(glob_to_regex(glob, across="."))
        else:
            is_address = text.count(":") > 1 and not text.startswith("[") and "/" not in text
            hosts = _hosts(f"[{text}]" if is_address else text)
            self._hosts = frozenset(host for host in hosts if host is not None)
            if not self._hosts or None in hosts:
                raise ValueError(f"domain:{text} names no host")

    def grade(self, url: str) -> Grade | None:
        """Return how sure it is that a URL leads to the host or to a subdomain of it."""
        hosts = _hosts(url)
        known = [host for host in hosts if host is not None]
        met = [host for host in known if self._means(host)]
        if met:
            return "certain" if len(met) == len(hosts) else "possible"
        return "opaque" if len(known) < len(hosts) or not known else None

    def covers(self, url: str) -> bool:
        """Return whether a URL of a plain spelling leads to exactly the host."""
        if not _PLAIN_URL.fullmatch(url):
            return False
        hosts = _hosts(url)
        if self._matches is not None:
            return bool(hosts) and all(host is not None and self._matches(host) for host in hosts)
        return len(self._hosts) == 1 and hosts == self._hosts  # a rule that can be read in two ways allows nothing

    def _means(self, host: str) -> bool:
        if self._matches is not None:
            return self._matches(host)
        # An address has no subdomains: a name that ends as one does cannot be read.
        return host in self._hosts or any(host.endswith(f".{one}") for one in self._hosts)


def hosts_of(url: str) -> frozenset[str | None]:
    """Return the hosts that programs may read in a URL; None among them stands for one that cannot be read."""
    return frozenset(_hosts(url))


def plain_urls(url: str) -> list[str]:
    """Return the URL with its scheme and host in one spelling, without a user and the usual port.

    Its path is as written, and as servers read it: without ``..``, percent-encoding and the part behind ``#``.
    """
    found = []
    for authority, scheme, rest in _readings(url):
        port = authority.rpartition(":")[2] if re.search(r":[0-9]+$", authority) else ""
        shown = f":{port}" if port and port != _WEB.get(scheme) else ""
        hosts = [host for host in _hosts_of_authority(authority) if scheme and host]
        found += [f"{scheme}://{host}{shown}{one}" for host in hosts for one in (rest, _plain_path(rest))]
    return list(dict.fromkeys(found))


def _plain_path(rest: str) -> str:
    path, mark, query = rest.partition("#")[0].partition("?")
    parts: list[str] = []
    for part in unquote(path).replace("\\", "/").split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    closed = path.endswith("/") and parts
    return "/" + "/".join(parts) + ("/" if closed else "") + (f"?{query}" if mark and query else "")


def _hosts(url: str) -> set[str | None]:
    """Return the hosts that programs may read in a URL; None among them stands for one that cannot be read."""
    return {host for authority, _, _ in _readings(url) for host in _hosts_of_authority(authority)}


def _readings(url: str) -> list[tuple[str, str, str]]:
    """Return the authority, the scheme and the rest of a URL, as browsers and as other programs read it."""
    text = url.strip("".join(map(chr, range(33)))).strip()
    text = re.sub(r"[\t\r\n]", "", text)
    texts = dict.fromkeys((text, text.replace("\\", "/")))
    return list(dict.fromkeys(reading for one in texts for reading in _authorities(one)))


def _authorities(text: str, depth: int = 0) -> list[tuple[str, str, str]]:
    found = _SCHEME.fullmatch(text)
    if found is None:
        return [_cut(text.lstrip("/"), "")]
    scheme, rest = found[1].lower(), found[2]
    whole = [_cut(rest.lstrip("/"), scheme)]
    if scheme in _WEB or (rest.startswith("//") and "." not in scheme):
        return whole
    # A host and its port look like a scheme; and some schemes have a whole URL behind them.
    if rest.startswith("//"):
        return [_cut(text, ""), *whole]
    inner = _authorities(rest, depth + 1) if depth < 3 and ":" in rest else []
    return [_cut(text, ""), *inner]


def _cut(text: str, scheme: str) -> tuple[str, str, str]:
    found = re.search(r"[/?#]", text)
    end = found.start() if found else len(text)
    return text[:end], scheme, text[end:]


def _hosts_of_authority(authority: str) -> set[str | None]:
    host = authority.rpartition("@")[2]
    if len(host) > _LONGEST_HOST:
        return {None}
    if host.startswith("["):
        inside, closed, _ = host[1:].partition("]")
        return _address_of_version_6(inside) if closed else {None}
    name = host.partition(":")[0]
    # Some programs end the name at a mark that no name has, others do not.
    end = _NO_NAME.search(name)
    return _names(name) if end is None else _names(name) | _names(name[: end.start()]) | {None}


def _address_of_version_6(text: str) -> set[str | None]:
    try:
        address = IPv6Address(text.partition("%")[0])
    except ValueError:
        return {None}
    found: set[str | None] = {str(address)}
    number = int(address)
    if address.ipv4_mapped is not None:
        found = {str(address.ipv4_mapped)}
    elif number >> 32 in (0, 0x64FF9B << 64) and number > 1:  # an address of version 4 in one of version 6
        found = {str(IPv4Address(number & 0xFFFFFFFF)), str(address)}
    elif address.sixtofour is not None:
        found.add(str(address.sixtofour))
    return found


def _names(host: str) -> set[str | None]:
    """Return the spellings that the name system has for a host."""
    try:
        host = unquote_to_bytes(host).decode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        return {None}
    host = normalize("NFKC", "".join(mark for mark in host if category(mark) != "Cf" and mark != "\u034f"))
    host = host.replace("\u3002", ".").lower().strip()
    if re.search(r"[/?#\\@]", host):  # of a decoded mark; some programs end the name there
        first, last = re.split(r"[/?#\\]", host)[0], host.rpartition("@")[2]
        inner = {first.rpartition("@")[2], re.split(r"[/?#\\]", last)[0]}
        return {None}.union(*map(_names, inner))
    labels = host.rstrip(".").split(".")
    if not all(labels) or any(mark in _NO_HOST or ord(mark) < 33 for mark in host):
        return {None}
    if _NUMBER.fullmatch(labels[-1]):
        return _numbers(labels)
    found = {".".join(map(encode, labels)) for encode in (_as_registered, _as_browsers_do)}
    return set(found) if all(found) else {None}


def _as_registered(label: str) -> str:
    """Return a label in ASCII, as the rules of 2003 map it; one that is encoded for no reason is decoded."""
    try:
        if label.startswith("xn--"):
            decoded = label[4:].encode().decode("punycode")
            return decoded if decoded.isascii() else label
        return label if label.isascii() else label.encode("idna").decode()
    except (UnicodeError, ValueError):
        return label if label.isascii() else _as_browsers_do(label)


def _as_browsers_do(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode()


def _numbers(labels: list[str]) -> set[str | None]:
    """Return an address of version 4 that is written in one to four numbers, decimal, octal or hexadecimal."""
    found: set[str | None] = set()
    for octal in (8, 10):  # a leading zero means octal, but not to all
        try:
            found.add(_address([_number(label, octal) for label in labels]))
        except ValueError:
            found.add(None)
    return found if found == {None} else found - {None}


def _number(label: str, octal: int) -> int:
    if not _NUMBER.fullmatch(label) or len(label) > 40:
        raise ValueError(label)
    if label[:2].lower() == "0x":
        return int(label[2:] or "0", 16)
    return int(label, octal if label.startswith("0") and len(label) > 1 else 10)


def _address(numbers: list[int]) -> str:
    *front, last = numbers
    if len(numbers) > 4 or any(number > 255 for number in front):
        raise ValueError(numbers)
    return str(IPv4Address(sum(number << (24 - 8 * at) for at, number in enumerate(front)) + _last(last, len(front))))


def _last(number: int, before: int) -> int:
    if number >= 1 << (8 * (4 - before)):
        raise ValueError(number)
    return number
