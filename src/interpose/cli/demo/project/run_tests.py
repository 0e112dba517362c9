"""A hook as a command: with exit status 2 the agent may not stop, and is told what stands on standard error."""

import subprocess
import sys

tests = subprocess.run(
    [sys.executable, "-B", "-m", "unittest", "-q", "test_app"], capture_output=True, text=True, check=False
)
if tests.returncode:
    failure = next((line for line in tests.stderr.splitlines() if "Error:" in line), "they do not run")
    print(f"The tests fail: {failure}", file=sys.stderr)
    sys.exit(2)
