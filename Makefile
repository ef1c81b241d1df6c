# The whole project in single verbs. A fresh clone needs Python 3.11+ with venv, and make.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: model test-model meaning help env serve servers test test-clients test-dist test-vscode vsix dist site test-site check quick lint types bench bench-languages bench-peers golden soak evidence fuzz lock docs clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

env: $(STAMP) ## make .venv with the sightline command and everything the project needs

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: install python3.11 (Debian: apt-get install python3)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv is missing: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

serve: env ## serve this repository over HTTP and print what to paste into a client
	$(BIN)/sightline serve .

check: env ## lint, types, layers, generated files
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports
	$(BIN)/python -m tools.registry_data --check
	$(BIN)/python -m tools.repo_map --check
	$(BIN)/python -m tools.languages_page --check
	$(BIN)/python -m tools.reference --check
	$(BIN)/python -m tools.plots --check
	$(BIN)/python -m training.card --check

servers: env ## the language servers that tests and benches use, pinned and verified
	@XDG_DATA_HOME=$(CURDIR)/.cache/share $(BIN)/sightline servers install --all

test: check servers ## everything the tests need, then all of them except those with big clients and editors
	$(BIN)/python -m tools.node protocol
	$(BIN)/pytest -n 3 --dist loadfile -m 'not client and not install and not browser and not vscode and not model'

test-clients: env ## whole turns of real clients, which are big (1.6 GB installed)
	$(BIN)/python -m tools.node protocol claude codex gemini copilot opencode inspector
	$(BIN)/pytest -m client

dist: env ## build the wheel and the sdist into dist/
	$(BIN)/python -m hatchling build

test-dist: env ## install the wheel with uv, uvx, pipx and offline, each in a clean home
	$(BIN)/pytest -m install

site: env ## build the documents as a static site with search into site/
	$(BIN)/python -m tools.site

test-site: env ## look at every page of the site with a real browser, at two widths
	$(BIN)/pytest -m browser tests/docs

test-vscode: env ## the extension in a real VS Code with a headless browser (800 MB)
	$(BIN)/python -m tools.vscode test
	$(BIN)/python -m tools.vscode host
	$(BIN)/pytest tests/vscode

vsix: env ## the VS Code extension as one file to install
	$(BIN)/python -m tools.vscode vsix

quick: env servers ## the tests that take less than a few seconds each
	$(BIN)/pytest -m 'not slow and not client and not install and not browser and not vscode and not model'

bench: env ## speed and memory, as ratios measured side by side
	$(BIN)/python -m bench all

bench-languages: env servers ## every language server on a real code base (an hour)
	$(BIN)/python -m bench cold_starts
	$(BIN)/python -m bench agreement
	$(BIN)/python -m bench languages
	$(BIN)/python -m tests.languages.rounds --write
	$(BIN)/python -m tests.languages.differential --write

bench-peers: env ## Sightline beside other bridges, without a network
	$(BIN)/python -m tools.node protocol cclsp
	$(BIN)/python -m bench peers

golden: env servers ## references on pinned code bases beside independent indexers; writes the answers
	$(BIN)/python -m bench.golden

soak: env servers ## 20 minutes over four languages with edits and kills
	$(BIN)/python -m tests.languages.soak --minutes 20 --calls 30000

evidence: env ## write every page of docs/evidence again (an hour)
	$(BIN)/python -m tests.oracles.conformance
	$(BIN)/python -m tests.oracles.clients
	$(BIN)/python -m tests.oracles.deaths --rounds 20
	$(BIN)/python -m tests.fuzz --messages 1000000 --socket-messages 20000 --seed 1 --page
	$(BIN)/python -m tests.system.freshness --rounds 300 --write
	$(BIN)/python -m bench wire lsp vscode index quality context context_code context_quality
	$(BIN)/python -m tests.index.kills --rounds 100
	$(BIN)/python -m tests.index.grown --sequences 100
	$(BIN)/python -m tests.fuzz_context --cases 100000 --seed 6 --page
	$(BIN)/python -m bench.meaning
	$(BIN)/python -m bench.runtimes
	$(BIN)/python -m tests.clients.first_answer
	$(BIN)/python -m tests.clients.tokens
	$(BIN)/python -m tools.fresh_clone

MODEL ?= .cache/model
MODEL_SITE ?= .cache/model-site
REPOSITORIES ?= $(MODEL)/repositories
model: env $(MODEL_SITE) ## make the search model from the bare repositories in REPOSITORIES (wants a GPU; MODEL_OPTIONS="--scale small --into DIR" does not)
	PYTHONPATH=.:$(MODEL_SITE) $(BIN)/python -m training.whole --repositories $(REPOSITORIES) --work $(MODEL) $(MODEL_OPTIONS)

# A folder that is there already is used as it is.
$(MODEL_SITE):
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target $@.part -r training/requirements.txt
	mv $@.part $@

test-model: env $(MODEL_SITE) ## the whole of `make model`, small, on repositories that the test makes (torch: 200 MB to 5 GB)
	MODEL_SITE=$(abspath $(MODEL_SITE)) $(BIN)/pytest -m model tests/training

meaning: env ## search quality on code bases that the model never saw; writes its page
	$(BIN)/python -m bench.meaning

fuzz: env ## a million generated messages in process and 20,000 over sockets, 100,000 hostile caches
	$(BIN)/python -m tests.fuzz --messages 1000000 --socket-messages 20000
	$(BIN)/python -m tests.fuzz_context --cases 100000

lock: ## resolve the locks again
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header pyproject.toml -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header pyproject.toml --group dev -o requirements/dev.txt

docs: env ## write the generated documents again
	$(BIN)/python -m tools.registry_data
	$(BIN)/python -m tools.repo_map
	$(BIN)/python -m tools.languages_page
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.plots
	$(BIN)/python -m training.card

clean: ## remove what make made
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
