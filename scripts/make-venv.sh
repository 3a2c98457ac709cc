#!/usr/bin/env bash
# Makes .venv with the Python packages that tests/fixtures/generate*.py need.
#
# The torch wheel on PyPI is built for CUDA and asks for gigabytes of NVIDIA packages. Only its
# CPU half is used here, so on x86-64 Linux with a C compiler two small NVIDIA packages are
# installed and one library of empty functions stands in for the others: `import torch`
# succeeds, torch.cuda.is_available() is false, and about 600 MB are downloaded in all.
# Elsewhere, or with --whole, torch is installed with all it asks for.
#
# usage: scripts/make-venv.sh [--whole]      Needs Python 3.11 or later (PYTHON=... names one).
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
requirements=tests/fixtures/requirements.txt
works='import krippendorff, numpy, safetensors.torch, scipy, sklearn, statsmodels, torch, transformers; print("torch", torch.__version__)'

# What torch needs besides NVIDIA's packages and triton.
torch_needs=(filelock fsspec jinja2 networkx 'setuptools>=77.0.3' 'sympy>=1.13.3' 'typing-extensions>=4.10.0')
# Those it really calls when it is imported, in the versions it asks for.
nvidia=(nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85)
# Those that only have to be there.
absent=(libcublas.so.13 libcublasLt.so.13 libcudnn.so.9 libcufft.so.12 libcufile.so.0 libcurand.so.10
        libcusparse.so.12 libcusparseLt.so.0 libnccl.so.2 libnvrtc.so.13 libnvshmem_host.so.3)

fail() { echo "error: $*" >&2; exit 1; }

# Every function torch wants from the absent libraries, under the version it wants it by, as
# one library that has all their names. A call to any of them stops the program.
stand_in() {
    local site work names
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
    names='^(cublas|cudnn|cufft|cuFile|curand|cusparse|nccl|nvrtc|nvshmem)'
    work=$(mktemp -d)
    nm -D --undefined-only "$site"/torch/lib/lib{c10_cuda,torch_cpu,torch_cuda,torch_nvshmem,torch_python}.so |
        awk -v names="$names" '$2 ~ names { print $2 }' | sort -u >"$work/wanted"
    awk -F@ '{ print "void " $1 "(void) { __builtin_trap(); }" }' "$work/wanted" >"$work/absent.c"
    awk -F@ 'NF > 1 { of[$NF] = of[$NF] " " $1 ";" } END { for (v in of) print v " {" of[v] " };" }' \
        "$work/wanted" >"$work/versions"
    local lib=$site/nvidia/cu13/lib
    cc -shared -fPIC -w -Wl,--version-script="$work/versions" -o "$lib/libabsent.so" "$work/absent.c"
    local name
    for name in "${absent[@]}"; do ln -sf libabsent.so "$lib/$name"; done
    rm -r "$work"
}

whole=no
case "${1-}" in
    '') ;;
    --whole) whole=yes ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
if [ -x $venv/bin/python ] && $venv/bin/python -c "$works" >/dev/null 2>&1; then
    echo "$venv: already there"
    exit
fi
if [ "$(uname -sm)" != "Linux x86_64" ] || ! command -v cc >/dev/null || ! command -v nm >/dev/null; then
    whole=yes
fi

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$python is older than 3.11; set PYTHON"
# One without pip was left half-made. What else is in it stays, for example what scripts/get-readers.sh put there.
$venv/bin/python -m pip --version >/dev/null 2>&1 || { rm -rf $venv; "$python" -m venv $venv; }
pip() { $venv/bin/python -m pip --disable-pip-version-check "$@" || fail "pip $1 failed; is PyPI reachable?"; }
if $venv/bin/python -c 'import torch' 2>/dev/null; then
    echo "installing what is missing beside torch"
    grep -v '^torch==' $requirements | pip install --quiet -r /dev/stdin
elif [ $whole = yes ]; then
    echo "installing everything torch asks for"
    pip install --quiet -r $requirements
else
    echo "installing torch for the CPU"
    pip install --quiet "${torch_needs[@]}"
    # pip warns of the packages left out: that is meant.
    pip install --quiet --no-deps "$(grep '^torch==' $requirements)" "${nvidia[@]}"
    grep -v '^torch==' $requirements | pip install --quiet -r /dev/stdin
    stand_in
fi
$venv/bin/python -c "$works"
