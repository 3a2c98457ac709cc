"""An encoder's folder made of files that must have known hashes."""
import contextlib
import hashlib
import pathlib
import shutil
import sys


def fail(message):
    sys.exit(f"error: {message}")


@contextlib.contextmanager
def needed_by(target):
    """Imports of Python packages that `make target` installs."""
    try:
        yield
    except ImportError as error:
        fail(f"{error}; `make {target}` installs the Python packages that are needed into .venv, and runs this with them")


def from_command_line(default, usage):
    """The folder that the only argument names."""
    if len(sys.argv) > 2 or any(a.startswith("-") for a in sys.argv[1:]):
        sys.exit(usage)
    return pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else default).absolute()


def present(out, names):
    """Whether `out` has all these files. Fails if it has anything else."""
    if all((out / name).is_file() for name in names):
        print(f"{out}: already present")
        return True
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        fail(f"{out}: exists, and is not a complete encoder folder; remove it or name another folder")
    return False


@contextlib.contextmanager
def filled(out):
    """A folder to fill beside `out`, which becomes `out` at the end. After a failure nothing is left of it."""
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        if out.exists():
            out.rmdir()
        part.rename(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write(out, files, readme):
    """Fills `out` with files, given as bytes by name, and a README."""
    with filled(out) as part:
        for name, content in files.items():
            (part / name).write_bytes(content)
        (part / "README.md").write_text(readme)
    print(f"{out}: {sum(map(len, files.values())):,} bytes")


def make(out, sha256, fetch, readme):
    """Fills `out` with the files that `fetch` returns by name, if their hashes are those of `sha256`, and a README."""
    if present(out, sha256):
        return
    files = fetch()
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        if digest != sha256[name]:
            fail(f"{name} has SHA-256 {digest}, not {sha256[name]}")
    write(out, files, readme)
