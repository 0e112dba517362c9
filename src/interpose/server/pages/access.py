"""Who may see the pages, and who may change something with them.

A person types a code into the page that is shown only in the terminal where the pages were started. The code counts
once, and opens a session of this browser, which a cookie holds. Browsers send a cookie to every port of a name, and
keep what a server on a port has left there: cached scripts, service workers. Agents run servers. So the pages have a
name of their own below ``localhost`` and are below a path, both drawn anew at each start, and the cookie is for that
path alone. A change needs the session, the exact ``Host`` and ``Origin``, and a token that only our pages have.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from time import monotonic

from ...records import Record

__all__ = ["Access", "Browser"]

_LETTERS = "23456789abcdefghjkmnpqrstvwxyz"
_CODE = 8
_WRONG = 5
"""How many wrong codes may be typed before another code is shown."""
_CODE_SECONDS = 600.0
_UNASKED = 3
"""How many codes are shown because of wrong ones within that time: a program that guesses fills no terminal."""
_SESSION_SECONDS = 12 * 3600.0
_MOST = 20


class Browser(Record):
    """A browser in which a person has typed the code."""

    number: int
    csrf: str
    until: float
    secret: str


class Access:
    """The code, and the browsers that have typed one. ``show`` prints a new code in the person's terminal, ``warn`` a
    line.
    """

    def __init__(
        self, show: Callable[[str], object], *, warn: Callable[[str], object] = lambda _: None, read_only: bool = False
    ) -> None:
        self.read_only = read_only
        self.prefix = "".join(secrets.choice(_LETTERS) for _ in range(16))
        """The first part of every path."""
        self.name = f"{''.join(secrets.choice(_LETTERS) for _ in range(8))}.localhost"
        """The host name in the address: no server was ever seen there, so nothing in the browser is of another one."""
        self.cookie = f"interpose_{self.prefix[:6]}"
        self._show, self._warn = show, warn
        self._unasked: list[float] = []
        self._code, self._code_until, self._wrong = "", 0.0, 0
        self._browsers: dict[str, Browser] = {}
        self._count = 0
        self._lock = threading.Lock()

    def new_code(self) -> None:
        """Draw a code, and show it; an earlier one counts no longer."""
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE))
        with self._lock:
            self._code, self._code_until, self._wrong = code, monotonic() + _CODE_SECONDS, 0
        self._show(f"{code[:4]}-{code[4:]}")

    def sign_in(self, typed: str) -> Browser | None:
        """Return a new session if the code is right; the code counts once."""
        given = typed.strip().lower().replace("-", "").replace(" ", "").encode("utf-8", "replace")
        with self._lock:
            usable = bool(self._code) and monotonic() < self._code_until
            if usable and hmac.compare_digest(given, self._code.encode()):
                self._code = ""
                self._count += 1
                browser = Browser(
                    number=self._count, csrf=secrets.token_urlsafe(24), secret=secrets.token_urlsafe(32),
                    until=monotonic() + _SESSION_SECONDS,
                )  # fmt: skip
                while len(self._browsers) >= _MOST:
                    del self._browsers[next(iter(self._browsers))]
                self._browsers[_digest(browser.secret)] = browser
                return browser
            self._wrong += 1
            if usable and self._wrong < _WRONG:
                return None
            was, self._code = self._code, ""
            self._unasked = [at for at in self._unasked if monotonic() - at < _CODE_SECONDS]
            may_show = len(self._unasked) < _UNASKED
            if may_show:
                self._unasked.append(monotonic())
        if may_show:
            self.new_code()
        elif was:
            self._warn("wrong codes keep coming, perhaps from a program: no code counts now; Enter shows another")
        return None

    def sign_out(self, browser: Browser) -> None:
        """End a session."""
        with self._lock:
            self._browsers.pop(_digest(browser.secret), None)

    def browser(self, cookies: str) -> Browser | None:
        """Return the session that a ``Cookie`` header holds; another server may have set cookies of the same name."""
        for part in cookies.split(";"):
            try:
                found = SimpleCookie(part.strip()).get(self.cookie)
            except CookieError:
                continue
            browser = self._browsers.get(_digest(found.value)) if found is not None else None
            if browser is not None and monotonic() < browser.until:
                return browser
        return None


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
