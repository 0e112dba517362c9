"""The same examples at every run: what a test finds once it finds always.

``make test`` tries 25 of each property; `make test-more` asks for the profile with more.
"""

import os

from hypothesis import HealthCheck, settings

for name, examples in (("quick", 25), ("thorough", 300)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=examples,
        print_blob=False,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
