"""Large tables of small cases: all rows of a table are one test.

pytest takes longer to collect, run and report a test than such a row takes. A row that fails is named in the failure,
and the rows after it are tried all the same.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any


def rows(names: str | Sequence[str], table: Iterable[Any], ids: object = None) -> Callable[[Any], Any]:
    """Call a test with every row of a table. Written as ``pytest.mark.parametrize`` is, whose place it takes.

    Rows share the test's fixtures, so it is for tests that change none of them. ``ids`` is not needed: a failure shows
    the row itself.
    """
    split = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = [dict(zip(split, row if len(split) > 1 else (row,), strict=True)) for row in table]
    assert listed, f"a table of {', '.join(split)} without rows"

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @wraps(test)
        def every_row(*args: Any, **fixtures: Any) -> None:
            failed = [error for row in listed if (error := _failure(test, args, {**fixtures, **row}, row))]
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(listed)} rows", failed)

        left = [parameter for name, parameter in signature.parameters.items() if name not in split]
        every_row.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined] # pytest reads it
        return every_row

    return mark


def _failure(
    test: Callable[..., None], args: tuple[Any, ...], values: dict[str, Any], row: dict[str, Any]
) -> Exception | None:
    try:
        test(*args, **values)
    except Exception as error:
        error.add_note("row: " + ", ".join(f"{name}={value!r}" for name, value in row.items()))
        return error
    return None
