"""The same examples at every run: what a test finds once it finds always."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "interpose",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=100,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("interpose")
