"""x"""

from ..rows import Program

PROGRAMS: dict[str, Program] = {}
