"""Stop a session that has reached a limit: in US dollars, or in tokens if the price is unknown.

Every answer of the model adds one line to the session's file, in one write, so that several processes can write at the
same time. The cost of the session is the sum of the lines.
"""

import hashlib
import os
from fnmatch import fnmatchcase

from interpose import deny

MOST_USD = 5.00
MOST_TOKENS = 5_000_000

PRICES = {"*opus*": (5.0, 25.0), "*sonnet*": (3.0, 15.0), "*haiku*": (1.0, 5.0)}
"""US dollars for a million tokens, input and output, by the model's name. Your prices may differ."""


def spend(event):
    """Add the cost of an answer: as the host passes it, else from its tokens, else from the length of its text."""
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
    """Deny if a limit is reached."""
    with _opened(event) as file:
        file.seek(0)
        spent = [line.split() for line in file]
    usd = sum(float(usd) for usd, _ in spent)
    tokens = sum(int(tokens) for _, tokens in spent)
    if usd >= MOST_USD or tokens >= MOST_TOKENS:
        return deny(f"This session has cost {usd:.2f} $ and {tokens} tokens; the limits are {MOST_USD:.2f} $ and "
                    f"{MOST_TOKENS}. Begin a new one, or raise them in {os.path.basename(__file__)}.")  # fmt: skip


def begin(event):
    """Empty the file of a session, so that it starts at zero."""
    with _opened(event) as file:
        file.truncate(0)


def _opened(event):
    """Open the file of a session for reading and appending. Raises if the folder is not writable."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    folder = os.path.join(state, "interpose", "cost-limit")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    name = hashlib.sha256(event.session_id.encode()).hexdigest()[:32]
    return open(os.path.join(folder, name), "a+", encoding="ascii")
