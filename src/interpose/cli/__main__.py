"""``python -m interpose.cli`` is the command ``interpose``."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
