"""Writes story files: all of a file or nothing."""
import json
import pathlib

from encoder_folder import fail


def write(out, splits):
    path = pathlib.Path(out)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(splits, ensure_ascii=False), encoding="utf-8")
        part.rename(path)
    except OSError as problem:
        fail(f"{out}: can't be written: {problem.strerror}")
