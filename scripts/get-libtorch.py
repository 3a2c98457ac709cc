#!/usr/bin/env python3
"""Assemble a CPU libtorch 2.13.0 from PyPI wheels, for x86-64 Linux.

The `torch` wheel on PyPI is built for CUDA. Its CPU part works without CUDA if two
small NVIDIA libraries that it is linked to are beside it, and if the wheel's own
`libtorch.so` (which needs all of CUDA) is replaced by an empty library that links to
the CPU part only. The script downloads about 530 MB and keeps 490 MB.

Needs the standard library, pip and a C compiler (`cc`).
usage: get-libtorch.py [OUT_DIR]      (default: .libtorch)
"""
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile

import wheels

TORCH = "torch==2.13.0"
PLATFORMS = ["--python-version", "3.12", *(f"--platform=manylinux_2_{minor}_x86_64" for minor in range(17, 29))]
WHEELS = {  # the files to extract from each
    TORCH: ["torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp.so.1", "torch/include/"],
    "nvidia-cuda-runtime==13.0.96": ["nvidia/cu13/lib/libcudart.so.13"],
    "nvidia-cuda-cupti==13.0.85": ["nvidia/cu13/lib/libcupti.so.13"],
}
SHA256 = {
    TORCH: "796633c4cdf0fe2cdced72d8f88f22e73dbcfce83132763162f6d4bff13b820b",
    "nvidia-cuda-runtime==13.0.96": "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
    "nvidia-cuda-cupti==13.0.85": "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
}
ELSEWHERE = (
    "this recipe is for x86-64 Linux. Elsewhere, or for a GPU, install PyTorch itself and use it:\n"
    "    pip install torch==2.13.0\n"
    "    export LIBTORCH_USE_PYTORCH=1"
)


def extract(wheel, wanted, out):
    """Copies the wanted files (or, for names ending in '/', folders) of a wheel below `out`."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for prefix in wanted:
            found = [n for n in names
                     if (n.startswith(prefix) if prefix.endswith("/") else n == prefix) and not n.endswith("/")]
            if not found:
                sys.exit(f"error: {wheel.name} does not contain {prefix}")
            for name in found:
                inside = name.removeprefix("torch/") if prefix.endswith("/") else "lib/" + name.rsplit("/", 1)[1]
                target = out / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, open(target, "wb") as sink:
                    shutil.copyfileobj(source, sink, 1 << 20)


def link_libtorch(lib):
    """Makes `libtorch.so`, a library without code that links to the CPU part beside it."""
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-x", "none", "-o", str(lib / "libtorch.so"),
         "-Wl,--no-as-needed", str(lib / "libtorch_cpu.so"), str(lib / "libc10.so"),
         "-Wl,-rpath,$ORIGIN", "-Wl,-soname,libtorch.so", "-Wl,--allow-shlib-undefined"],
        check=True)


def main(out):
    if (out / "lib" / "libtorch.so").exists():
        print(f"{out}: already present")
        return
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        sys.exit(f"error: {ELSEWHERE}")
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=part.parent) as folder:
        for requirement, wanted in WHEELS.items():
            print(f"fetching {requirement}", flush=True)
            extract(wheels.download(requirement, SHA256[requirement], folder, *PLATFORMS), wanted, part)
    link_libtorch(part / "lib")
    (part / "build-version").write_text(TORCH.split("==")[1] + "\n")
    shutil.rmtree(out, ignore_errors=True)
    part.rename(out)
    size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    print(f"{out}: {size / 2**20:.0f} MiB")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else ".libtorch").resolve())
