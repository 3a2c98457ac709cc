#!/usr/bin/env bash
# Puts what reads our files elsewhere into .venv, for the tests of pages, event files and model cards: a driver of
# browsers (playwright), axe-core, TensorBoard, and the Hugging Face hub's own reader of model cards. Makes .venv if there is none.
#
# The browser itself is Chromium: CHROMIUM names one, else that of the system is taken (Debian: apt-get install chromium),
# else that of `.venv/bin/playwright install chromium`.
#
# usage: scripts/get-readers.sh      Needs Python 3.11 or later (PYTHON=... names one).
set -euo pipefail
cd "$(dirname "$0")/.."

# One without pip was left half-made.
.venv/bin/python -m pip --version >/dev/null 2>&1 || { rm -rf .venv; "${PYTHON:-python3}" -m venv .venv; }
.venv/bin/python -m pip install --disable-pip-version-check --quiet playwright==1.65.2 axe-playwright-python==0.1.8 tensorboard==2.21.0 huggingface_hub==2.4.0
.venv/bin/python -c 'import axe_playwright_python, huggingface_hub, playwright, tensorboard; print("readers: there")'
command -v "${CHROMIUM:-chromium}" || echo "no chromium: name one with CHROMIUM=, or .venv/bin/playwright install chromium"
