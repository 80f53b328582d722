# make demo   set everything up in .venv and run the main job
# make test   set everything up and run every test that is not marked slow
# make slow   the slow tests as well
# make lint   ruff and the type checker
# make bench  measure, ratios in one run
# make schema write the JSON Schema of the policy file that the package ships

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test slow lint bench schema clean

demo: $(STAMP)
	$(BIN)/discreet demo

test: lint
	$(BIN)/python -m pytest -n auto -m "not slow"

slow: $(STAMP)
	DISCREET_SLOW=1 $(BIN)/python -m pytest -n auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python bench/start.py
	$(BIN)/python bench/planning.py
	$(BIN)/python bench/publish.py
	$(BIN)/python bench/query.py
	$(BIN)/python bench/init.py
	$(BIN)/python bench/alphabeta.py
	$(BIN)/python bench/diffgen.py

schema: $(STAMP)
	$(BIN)/python -c 'import discreet.schema.json_schema as made; made.ship()'

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "discreet needs Python 3.11 or later; say PYTHON=/path/to/python3.11 make ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(STAMP)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
