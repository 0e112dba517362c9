"""Redaction: finds secrets in texts and JSON values, and replaces them. The record, traces and policies share it.

``names`` and ``values`` say which names mean secrets and which texts look like one; ``tokens`` has the shapes of keys
and tokens, ``forms`` the texts in which a secret follows its name; ``decoding`` shows a text as it is without escapes;
``finder`` finds secrets in a text; ``redactor`` replaces them.
"""

from .environment import secrets_of
from .redactor import Redactor, has_redacted, is_redacted

__all__ = ["Redactor", "has_redacted", "is_redacted", "secrets_of"]
