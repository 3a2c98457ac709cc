#!/usr/bin/env bash
# Shows that the wheel of dist/ works where there is no checkout: in a fresh virtual environment and an empty folder, both temporary,
# it installs the wheel as a user would, and runs the demo's commands on a few pairs. Then it checks types, runs python/tests, and
# with them the notebook in examples/.
#
# pip downloads PyTorch with all of CUDA (2.7 GB; 10 GB of disk while this runs). With --small it downloads PyTorch alone (0.6 GB), and
# an empty library takes the place of PyTorch's CUDA half, as in scripts/get-libtorch.py; that needs a C compiler.
# The tests need binutils.
#
# usage: scripts/test-wheel.sh [--small] [WHEEL]
# PYTHON names the Python (3.11 or later), ENCODER the folder of the encoder, TMPDIR where there is space.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)

fail() { echo "error: $*" >&2; exit 1; }
step() { printf '\n== %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@"; }

small=no
if [ "${1-}" = --small ]; then small=yes; shift; fi
case "${1-}" in
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -n -1; exit 2 ;;
    '') wheel=$(ls -t "$repository"/dist/tiered-*.whl 2>/dev/null | head -1) || true; [ -n "$wheel" ] || fail "no wheel in dist/; make it with: make wheel" ;;
    *) wheel=$(realpath "$1"); [ -f "$wheel" ] || fail "no file $1" ;;
esac
encoder=$(realpath -m "${ENCODER:-$repository/checkpoints/encoders/e5-small}")
[ -f "$encoder/model.safetensors" ] || fail "no encoder in $encoder; get it with: scripts/get-encoder.py"
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$python is older than 3.11; set PYTHON"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
needed=$([ $small = yes ] && echo 6 || echo 10)
free=$(($(df -Pk "$work" | awk 'NR == 2 { print $4 }') / 1024 / 1024))
[ "$free" -ge "$needed" ] || fail "$work has $free GB of free disk; $needed are needed. Set TMPDIR to a folder with more"
# Nothing of the shell may help: libtorch must come from the virtual environment.
unset LD_LIBRARY_PATH LIBTORCH LIBTORCH_USE_PYTORCH PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
bin=$work/venv/bin

# PyTorch's CPU half, with the two NVIDIA libraries that it is linked to.
install_small() {
    show "$bin/pip" install --quiet --no-deps torch==2.13.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
    show "$bin/pip" install --quiet --no-deps "$wheel"
    local lib
    lib=$("$bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')/torch/lib
    rm "$lib/libtorch.so"
    PYTHONPATH=$repository/scripts "$bin/python" -c "
import pathlib, runpy
runpy.run_path('$repository/scripts/get-libtorch.py')['link_libtorch'](pathlib.Path('$lib'))"
}

expect() { # an exit code, and the command that must end with it
    local code=0
    show "${@:2}" || code=$?
    [ $code = "$1" ] || fail "exit code $code, not $1"
    echo "exit code $code, as it should be"
}

step "a fresh virtual environment, and the wheel ($(basename "$wheel"), $(($(stat -c %s "$wheel") / 1000)) kB)"
show "$python" -m venv "$work/venv"
if [ $small = yes ]; then install_small; else show "$bin/pip" install --quiet "$wheel"; fi
echo "installed: $(du -sh "$work/venv" | cut -f1)"

step "the program, from a folder without a checkout"
mkdir "$work/elsewhere"
cd "$work/elsewhere"
show "$bin/tiered" --version
show "$bin/python" -m tiered doctor
expect 66 "$bin/tiered" predict no-such-run

step "the demo's commands, on a few pairs"
show "$bin/tiered" init project
cd project
show "$bin/tiered" train --config configs/demo.toml --output runs/demo --limit 8 --set train.epochs=1 --set "encoder.path=$encoder" --quiet
show "$bin/tiered" eval runs/demo --data data/sample/it.json --quiet
show "$bin/tiered" predict runs/demo --data data/sample/it.json --pair 13-C0 --quiet

step "types, tests and the notebook"
[ $small = no ] || echo "pip warns of what --small left out of PyTorch: that is meant"
show "$bin/pip" install --quiet -r "$repository/python/tests/requirements.txt"
cp -r "$repository"/{python,examples,scripts} "$work/elsewhere/" # so that nothing is written into the checkout
cd "$work/elsewhere/python"
show "$bin/mypy" src
show "$bin/mypy" tests
TIERED_TEST_RUN=$work/elsewhere/project/runs/demo show "$bin/python" -m pytest -p no:cacheprovider

printf '\nthe wheel works: %s\n' "$wheel"
