"""`python -m benchmarks`: every table, see `everything.py`."""

import sys

from benchmarks.everything import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
