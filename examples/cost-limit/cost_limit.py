"""Stop a session that has cost enough: in money, or in tokens where nobody knows the price.

Every answer of the model adds one line to the session's file, in one write, so that processes never get in each
other's way; what was spent is the sum of the lines.
"""

import hashlib
import os
from fnmatch import fnmatchcase

from interpose import deny

MOST_USD = 5.00
MOST_TOKENS = 5_000_000

PRICES = {"*opus*": (5.0, 25.0), "*sonnet*": (3.0, 15.0), "*haiku*": (1.0, 5.0)}
"""US dollars for a million tokens, in and out, by the model's name. Yours may differ."""


def spend(event):
    """Add up what an answer has cost: as the host says, else by its tokens, else by the length of its text."""
    usage = event.get("usage") or {}
    tokens_in = usage.get("input_tokens", len(event.prompt) // 4)
    tokens_out = usage.get("output_tokens", len(event.output) // 4)
    price_in, price_out = next(
        (price for name, price in PRICES.items() if fnmatchcase((event.get("model") or "").lower(), name)), (0.0, 0.0)
    )
    usd = event.get("cost_usd", (tokens_in * price_in + tokens_out * price_out) / 1_000_000)
    with _opened(event) as file:
        file.write(f"{float(usd):.6f} {int(tokens_in + tokens_out)}\n")


def check(event):
    """Deny once a limit is reached."""
    with _opened(event) as file:
        file.seek(0)
        spent = [line.split() for line in file]
    usd = sum(float(usd) for usd, _ in spent)
    tokens = sum(int(tokens) for _, tokens in spent)
    if usd >= MOST_USD or tokens >= MOST_TOKENS:
        return deny(f"This session has cost {usd:.2f} $ and {tokens} tokens; the limits are {MOST_USD:.2f} $ and "
                    f"{MOST_TOKENS}. Begin a new one, or raise them in {os.path.basename(__file__)}.")  # fmt: skip


def begin(event):
    """Forget what a session of this name has spent before."""
    with _opened(event) as file:
        file.truncate(0)


def _opened(event):
    """Open the file of a session, for reading and adding; a folder that cannot be written to is a failure."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    folder = os.path.join(state, "interpose", "cost-limit")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    name = hashlib.sha256(event.session_id.encode()).hexdigest()[:32]
    return open(os.path.join(folder, name), "a+", encoding="ascii")
