"""How many examples a property is tried with where the number of the profile does not fit it."""

import os
from typing import Any

from hypothesis import settings

THOROUGH = 300


def tries(quick: int, **more: Any) -> settings:
    """Try a property this often in ``make test``, and as often as every other one in ``make test-more``."""
    thorough = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
    return settings(max_examples=THOROUGH if thorough else quick, **more)
