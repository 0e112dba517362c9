"""What is known about programs: which of their words are commands, files or subcommands, and how options are spelled.

One place for everything that reads command lines. A program that is in none of these tables is *unknown*: each of its
arguments may be a command that it runs.

Options are written as for ``getopt``: single letters, a colon after those with a value; after a blank the long names,
with ``=`` after those with a value. Options that mean the same are joined by a comma in ``SPELLINGS``.
"""

from .kinds import (
    BUILTINS,
    EVALUATING_BUILTINS,
    GIT_TEXT_SUBCOMMANDS,
    INERT,
    INTERPRETERS,
    KNOWN,
    PRODUCERS,
    SHELLS,
    SUBCOMMAND_WORDS,
    is_known_program,
)
from .options import (
    GLOBAL_OPTIONS,
    SPELLINGS,
    Options,
    options_of,
    spellings_of,
)
from .running import (
    BUILD_TOOLS,
    COMMAND_OPTIONS,
    COMMANDS_IN_VALUES,
    FILES_READ_BY_NAME,
    MODULES_THAT_RUN_CODE,
    READS_COMMANDS,
    READS_DATA,
    REST_OPTIONS,
    RUN_OPTIONS,
    SETTINGS_PRINTERS,
    TEXT_OPTIONS,
    WRITERS,
    is_sourced_safely,
)
from .variables import (
    COMMAND_VARIABLES,
    DIRECTORY_VARIABLES,
    FILE_VARIABLES,
    OPTION_VARIABLES,
)
from .wrappers import (
    DOCKER_FLAGS,
    SHELL_WITHOUT_COMMAND,
    TEXT_WRAPPERS,
    WRAPPERS,
    Wrapper,
)

__all__ = [
    "BUILD_TOOLS",
    "BUILTINS",
    "COMMANDS_IN_VALUES",
    "COMMAND_OPTIONS",
    "COMMAND_VARIABLES",
    "DIRECTORY_VARIABLES",
    "DOCKER_FLAGS",
    "EVALUATING_BUILTINS",
    "FILES_READ_BY_NAME",
    "FILE_VARIABLES",
    "GIT_TEXT_SUBCOMMANDS",
    "GLOBAL_OPTIONS",
    "INERT",
    "INTERPRETERS",
    "KNOWN",
    "MODULES_THAT_RUN_CODE",
    "OPTION_VARIABLES",
    "PRODUCERS",
    "READS_COMMANDS",
    "READS_DATA",
    "REST_OPTIONS",
    "RUN_OPTIONS",
    "SETTINGS_PRINTERS",
    "SHELLS",
    "SHELL_WITHOUT_COMMAND",
    "SPELLINGS",
    "SUBCOMMAND_WORDS",
    "TEXT_OPTIONS",
    "TEXT_WRAPPERS",
    "WRAPPERS",
    "WRITERS",
    "Options",
    "Wrapper",
    "is_known_program",
    "is_sourced_safely",
    "options_of",
    "spellings_of",
]
