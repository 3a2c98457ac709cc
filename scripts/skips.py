"""Lists the tests that were skipped, with their reasons.

usage: skips.py FILE      FILE has a line "TEST: REASON" for each, from tests/it/support.rs; no file: nothing was skipped.

Where the environment variable CI is set, it fails if a reason is not in tests/allowed-skips.txt.
"""

import os
import sys
from pathlib import Path

ALLOWED = Path(__file__).parent.parent / "tests/allowed-skips.txt"


def main() -> int:
    file = Path(sys.argv[1])
    skips = sorted(set(file.read_text().splitlines())) if file.exists() else []
    print(f"skipped tests, or parts of tests: {len(skips)}")
    for skip in skips:
        print(f"  {skip}")
    allowed = ALLOWED.read_text().splitlines()
    wrong = [skip for skip in skips if skip.split(": ", 1)[1] not in allowed]
    if wrong and os.environ.get("CI"):
        print(f"error: {len(wrong)} of them may not be skipped in CI (tests/allowed-skips.txt lists the reasons that may)")
        return 1
    return 0


sys.exit(main())
