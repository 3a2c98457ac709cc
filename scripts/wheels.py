"""Downloads one wheel from PyPI and refuses it if its SHA-256 is another."""
import pathlib
import subprocess
import sys
import tempfile


def download(requirement, sha256, folder, *options):
    """The wheel `name==version` with that hash, without its dependencies. `options` are pip's, such as a platform."""
    target = pathlib.Path(folder) / requirement.split("==")[0]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as pinned:
        pinned.write(f"{requirement} --hash=sha256:{sha256}\n")
        pinned.flush()
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                   "--require-hashes", *options, "-d", str(target), "-r", pinned.name]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"error: pip did not get {requirement} with SHA-256 {sha256}; what pip printed above says why")
    return next(target.glob("*.whl"))
