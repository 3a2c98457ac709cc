"""Runs all fault tests and prints a table of their results.

usage: faults.py COMMAND...      COMMAND runs the tests. Its lines `fault | NAME | PASSED/TOTAL` make up the table.
"""

import os
import subprocess
import sys
import time


def main() -> int:
    started = time.time()
    environment = os.environ | {"TIERED_FAULTS": "full"}
    rows = []
    with subprocess.Popen(sys.argv[1:], env=environment, stdout=subprocess.PIPE, text=True) as tests:
        for line in tests.stdout:
            # A test's name stands in front of what it prints.
            _, found, row = line.partition("fault | ")
            if found:
                rows.append([cell.strip() for cell in row.split("|")])
                print(".", end="", flush=True, file=sys.stderr)
            elif "panicked" in line or "memory:" in line or "a run:" in line or line.startswith("test result"):
                print(line.rstrip(), file=sys.stderr)
    width = max((len(name) for name, _ in rows), default=0)
    print(f"\n{'fault':<{width}}  passed")
    for name, passed in rows:
        print(f"{name:<{width}}  {passed}")
    print(f"\n{time.time() - started:.0f} s; {'all passed' if tests.returncode == 0 else 'FAILED'}")
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())
