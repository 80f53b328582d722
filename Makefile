# make demo   set everything up in .venv and run the main job
# make test   set everything up and run every test that is not marked slow
# make slow   the slow tests as well
# make tools  the programs of the system that some tests run: installed where we may, else said
# make lint   ruff and the type checker
# make bench  measure, ratios in one run
# make lock   write requirements-dev.lock anew, with uv; UPGRADE=--upgrade takes the newest of everything
# make schema write the JSON Schema of the policy file that the package ships

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCK := requirements-dev.lock
UV ?= uv
UPGRADE ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test slow tools lint bench lock schema clean

demo: $(STAMP)
	$(BIN)/discreet demo

test: lint tools
	$(BIN)/python -m pytest -n auto -m "not slow"

slow: $(STAMP) tools
	DISCREET_SLOW=1 $(BIN)/python -m pytest -n auto

tools:
	@missing=; \
	command -v strace >/dev/null || missing="$$missing strace"; \
	command -v cc >/dev/null || missing="$$missing gcc libc6-dev"; \
	command -v ssh-keygen >/dev/null || missing="$$missing openssh-client"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $$missing; \
	then echo "installed:$$missing"; \
	else echo "some tests will be skipped; this installs what they run: apt-get install$$missing"; fi

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
	$(BIN)/python bench/edges.py
	$(BIN)/python bench/accuracy.py
	$(BIN)/python bench/defences.py
	$(BIN)/python bench/compare.py
	$(BIN)/python bench/models.py
	$(BIN)/python bench/attacks.py

schema: $(STAMP)
	$(BIN)/python -c 'import discreet.schema.json_schema as made; made.ship()'

lock:
	@command -v $(UV) >/dev/null || { echo "make lock takes uv; install it with pipx or pip, or say UV=/path/to/uv make lock"; exit 1; }
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--custom-compile-command 'make lock' --extra dev --group build $(UPGRADE) --output-file $(LOCK) pyproject.toml

$(STAMP): pyproject.toml $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "discreet needs Python 3.11 or later; say PYTHON=/path/to/python3.11 make ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
