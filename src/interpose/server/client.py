"""The thin client: ``python -I -S client.py ARGUMENTS`` answers as ``interpose fire ARGUMENTS`` does, sooner.

Python compiles a script at every start, which takes longer than an event. So this one has a few lines, and loads
``thin_client.py`` as an import would: compiled before, if that has not changed.
"""

import sys
from _frozen_importlib_external import SourceFileLoader

if __name__ == "__main__":
    try:
        names = {"__name__": "thin_client", "__file__": __file__.rpartition("/")[0] + "/thin_client.py"}
        code = SourceFileLoader("thin_client", names["__file__"]).get_code("thin_client")
        exec(code, names)  # type: ignore[arg-type]  # noqa: S102 - as import does
        names["run"]()  # type: ignore[operator]
    except BaseException as error:  # a half installed package, such as during an upgrade
        sys.stderr.write(f"interpose fire: {type(error).__name__}: {error} (nothing was decided, so this denies)\n")
        sys.exit(1 if {"Stop", "SubagentStop", "AfterAgent"} & {*sys.argv} else 2)  # there, 2 keeps an agent going
