"""``NamedTuple`` as ``typing`` has it, without a look at the types of the fields.

``typing`` compiles every annotation that is text. That takes as long as a tenth of a whole ``interpose fire``, which
starts a process for every event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

    class _NamedTupleType(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body.pop(field) for field in fields if field in body]
            base = namedtuple(f"_{name}", fields, defaults=defaults)  # noqa: PYI024
            return type(name, (base,), {"__slots__": (), **body})

    class NamedTuple(metaclass=_NamedTupleType):
        """A tuple whose items have names: the annotations of a class."""


__all__ = ["NamedTuple"]
