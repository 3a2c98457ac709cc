"""Reads story files, and writes them: all of a file or nothing."""
import collections
import json
import os
import pathlib
import sys

from encoder_folder import fail


def require_new(out, file):
    """Ends the program if `out`, to be written, exists. `file` is the story file to read."""
    if not os.path.lexists(out):
        return
    if os.path.realpath(out) == os.path.realpath(file):
        print(f"error: {out}: is the story file to read, which would be lost; name another output", file=sys.stderr)
        sys.exit(2)
    fail(f"{out}: exists; remove it first, or name another output")


def read(file, split):
    """The stories of a split. Ends the program where an object has a key twice: `json` would keep the last one in silence."""

    def distinct(pairs):
        known = dict(pairs)
        if len(known) < len(pairs):
            ((key, _),) = collections.Counter(key for key, _ in pairs).most_common(1)
            fail(f"{file}: an object has the key {key!r} more than once; remove or rename one (`tiered data check {file}` says where)")
        return known

    # `tiered` reads a byte order mark too.
    splits = json.loads(pathlib.Path(file).read_text(encoding="utf-8-sig"), object_pairs_hook=distinct)
    if isinstance(splits, dict) and split not in splits:
        fail(f"{file}: has no split {split!r}; its splits are {list(splits)[:8]}; name one of them")
    return splits[split]


def write(out, splits):
    path = pathlib.Path(out)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(splits, ensure_ascii=False), encoding="utf-8")
        part.rename(path)
    except OSError as problem:
        fail(f"{out}: can't be written: {problem.strerror}")
