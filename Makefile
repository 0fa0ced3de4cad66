# Everything sets itself up: a virtual environment with locked, hashed dependencies.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
OUT    ?= demo-export
ARGS   ?=
FUZZ_SECONDS ?= 120
TARGETS ?=
ADVISORIES ?=
# The tests wait about as much as they compute: five keep two cores busy, more only disturb each other.
WORKERS ?= 5
# In their own order, as xdist would keep the long modules of few tests for the end.
# A test that hangs fails, after three times what the longest of them takes.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder --timeout 420
SET_UP := .ci/environment.py

.PHONY: help ask demo docs pictures schema test test-slow test-browser quick record catalogues sentences bands fuzz audit sbom test-datasets check static format lint types architecture deployment lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# At each call, as an environment can be half made, or of another Python than is asked for.
$(VENV)/made: ask
	@command -v $(PYTHON) >/dev/null || \
	  { echo "There is no $(PYTHON) here. Rostrum needs Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) $(SET_UP) make $(VENV) $(if $(filter file,$(origin PYTHON)),,named)

ask:

$(VENV)/runtime: $(VENV)/made requirements.lock pyproject.toml
	@$(BIN)/python $(SET_UP) install requirements.lock
	@$(BIN)/python $(SET_UP) link
	@touch $@

$(VENV)/dev: $(VENV)/runtime requirements-dev.lock
	@$(BIN)/python $(SET_UP) install requirements-dev.lock
	@# Workers that begin at once would each compile it; some packages hold files of no Python of today.
	@$(BIN)/python -m compileall -qq -j 0 bot engine adapters migrations bench $(VENV)/lib >/dev/null || true
	@touch $@

demo: $(VENV)/runtime ## a whole debate in the terminal: make demo [OUT=folder] [ARGS="--votes A=3,B=2"]
	@$(BIN)/rostrum demo --out "$(OUT)" $(ARGS)

docs: $(VENV)/runtime ## write docs/reference and the tables of docs/dataset.md from the code
	@$(BIN)/python -m tests.pages.reference

pictures: $(VENV)/browser ## renew every picture of docs/ from debates of rehearsal models, in two minutes
	@$(BIN)/python -m tests.browser.chromium
	@$(BIN)/python -m tests.pages.pictures

schema: $(VENV)/runtime ## write migrations/schema.sql, which makes new SQLite files
	@$(BIN)/python -m adapters.database.migrate

test: $(VENV)/dev ## the tests but the slow ones, on WORKERS processes: each property once
	@echo "Running the tests on $(WORKERS) workers: about 6 minutes on two cores."
	@$(PYTEST) -m "not slow" $(ARGS)

test-slow: $(VENV)/dev ## the slow ones: every scenario on PostgreSQL, kills at every step, simulations; then fuzz
	@$(PYTEST) -m slow $(ARGS)
	@$(MAKE) --no-print-directory fuzz

test-browser: $(VENV)/browser ## the pages in a real Chromium, by every rule of axe-core
	@$(BIN)/python -m tests.browser.chromium
	@$(BIN)/python -m pytest -n 2 --dist loadscope $(ARGS) tests/browser/check_*.py

$(VENV)/browser: $(VENV)/dev requirements-browser.lock
	@$(BIN)/python $(SET_UP) install requirements-browser.lock
	@touch $@

quick: $(VENV)/dev ## the tests of single modules and ports
	@$(PYTEST) $(ARGS) tests/unit tests/contract

record: $(VENV)/dev ## renew the recorded outputs in tests/recorded
	@$(BIN)/python -m pytest --record tests/scenario/test_recorded_outputs.py tests/unit/test_recorded_texts.py

catalogues: $(VENV)/dev ## bring new texts into each language's catalogue, to be translated, and take old ones out
	@$(BIN)/python -m tests.catalogues

sentences: $(VENV)/dev ## print every sentence that people can read, in each language, into build/sentences
	@$(BIN)/python -m tests.sentences

bands: $(VENV)/dev ## a million random debates within their calibration bands
	@SEQUENCES=1000000 $(BIN)/python -m pytest -q tests/unit/test_audited_bands.py

fuzz: $(VENV)/dev ## every parser of what comes in, on changed inputs, for FUZZ_SECONDS in all: make fuzz [TARGETS="model-ballot …"]
	@$(BIN)/python -m tests.fuzz $(FUZZ_SECONDS) $(TARGETS)

audit: $(VENV)/dev ## the lock files: pinned, hashed, in agreement, licensed; and make audit ADVISORIES=all.zip (OSV)
	@$(BIN)/python -m tests.supply $(ADVISORIES)

sbom: $(VENV)/dev ## what the image installs, as CycloneDX, in build/sbom
	@$(BIN)/python -m tests.supply.sbom

test-datasets: .venv-datasets/made ## check that exports load in the tools that they are meant for (a large install)
	@.venv-datasets/bin/python -m pytest --noconftest -W ignore $(ARGS) tests/datasets/check_loading.py tests/datasets/check_layouts.py tests/datasets/check_croissant.py

.venv-datasets/made: pyproject.toml requirements-datasets.lock
	@echo "Setting up .venv-datasets (once)"
	@$(PYTHON) -m venv .venv-datasets
	@# --no-deps leaves out torch, which TRL does not need here.
	@.venv-datasets/bin/python -m pip install --quiet --disable-pip-version-check \
	  --no-deps --require-hashes --requirement requirements-datasets.lock
	@.venv-datasets/bin/python -m pip install --quiet --disable-pip-version-check \
	  --no-deps --no-build-isolation --config-settings editable_mode=compat --editable .
	@touch $@

check: static test ## the gate before a commit: format, lint, types, architecture, deployment files, tests

static: format lint types architecture deployment

format: $(VENV)/dev
	@$(BIN)/ruff format --check .

lint: $(VENV)/dev
	@$(BIN)/ruff check .
	@$(BIN)/deptry .

types: $(VENV)/dev
	@$(BIN)/mypy

architecture: $(VENV)/dev
	@$(BIN)/lint-imports

deployment: $(VENV)/dev ## the files of deploy/ and .github/, by the tools of their trade
	@$(BIN)/python -m pytest -rs tests/deployment/check_files.py

lock: $(VENV)/dev ## renew the lock files from pyproject.toml
	@$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
	  --python-version 3.11 pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
	  --python-version 3.11 pyproject.toml --all-extras --group build --group dev -c requirements.lock -o requirements-dev.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
	  --python-version 3.11 --group browser -c requirements-dev.lock -o requirements-browser.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
	  --python-version 3.11 pyproject.toml --extra hub --extra scale --extra otel --extra parquet --group build -c requirements-dev.lock -o requirements-image.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --quiet \
	  --python-version 3.11 pyproject.toml --group build --group datasets -c requirements.lock -o requirements-datasets.lock

clean: ## remove everything that the targets above made
	rm -rf $(VENV) .venv-datasets build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache demo-export
