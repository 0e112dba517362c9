"""Validation of a tool's input against the JSON Schema of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["schema_error"]

_MAX_LENGTH = 500


def schema_error(given: Any, schema: Mapping[str, Any]) -> str:
    """Return what is wrong with an input as one line; an empty text if it is valid."""
    # Slow to load, and needed only once a hook has changed an input.
    from jsonschema.exceptions import SchemaError, best_match
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(dict(schema))
        # An empty registry: a schema must not make us fetch anything.
        wrong = best_match(kind(schema, registry=Registry()).iter_errors(given))
    except SchemaError as error:
        return f"its schema is not valid: {_short(error.message)}"
    except Unresolvable as error:
        return f"its schema has a reference that cannot be resolved: {_short(str(error))}"
    except Exception as error:  # a schema that is too deep, a pattern that is not valid
        return f"its schema cannot be used: {type(error).__name__}: {_short(str(error))}"
    if wrong is None:
        return ""
    place = ".".join(str(part) for part in wrong.absolute_path)
    return _short(f"{place}: {wrong.message}" if place else wrong.message)


def _short(text: str) -> str:
    """Return the beginning of a long text: a message may quote the whole input."""
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"
