"""A page whose console is watched: nothing may go wrong in it."""

from typing import Any

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{7*7}}\u202egnp.exe\x1b[31mred\x00\u200b"


class Watched:
    """A page in a context of its own; ``wrong`` has what its console and its dialogs said."""

    def __init__(self, chrome: Any, **options: Any) -> None:
        self.context = chrome.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on(
            "console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()
