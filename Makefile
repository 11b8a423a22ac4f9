# Every target sets up what it needs: a machine needs make and Python 3.11 or newer, nothing else.
#   PYTHON=/path/to/python   the interpreter that .venv is made with
#   UV=/path/to/uv           the uv to use; empty (UV=) to install with pip
#   OVERRIDES=file           for porting, peers, messages, bench and results: versions in the place of those that other frameworks require

ifndef PYTHON
PYTHON := $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$name; break; }; done)
endif
UV ?= auto
# a crashed worker fails its test, and another takes its place
PYTEST_ARGS ?= -n auto --max-worker-restart 20
SECURITY_TESTS := tests/secrecy tests/pegboard_client/oauth tests/protocol/test_authorization.py \
	$(addprefix tests/host/,authorization config routing secrets) \
	$(addprefix tests/plugins/,operation/audit auth secrets protocols/worker)
# http.aiohttp_internals uses private attributes of aiohttp
HTTP_TESTS := tests/plugins/transports/http $(addprefix tests/protocol/http/test_,$(addsuffix .py,edge life limits streams))
QUICK_TESTS := tests/structure \
	$(addprefix tests/host/,authoring calls catalogue config content context messages middleware routing schemas secrets uris wire)
BIN := .venv/bin
# what make release runs before it commits
CHECKS ?= test installs

.DEFAULT_GOAL := install
.PHONY: help install serve demo quick test interpreters without lowest newest check conformance format site build installs release rehearsal porting peers toolkits messages bench results regressions signatures soak edits callers scale kills lock clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /make \1: /p' Makefile

install:  ## make or update the environment .venv; other packages in it stay
	@[ -n "$(PYTHON)" ] || { echo "make: no Python 3.11 or newer found; name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -m tools.install --uv "$(UV)"

serve: install  ## run the host at http://127.0.0.1:8000/mcp, with hostconfig.toml
	@$(BIN)/pegboard serve --config hostconfig.toml

demo: install  ## show the messages of a client that calls the tools of a server
	@$(BIN)/pegboard demo

quick: install  ## tests of units and of the structure, in less than a minute of CPU time
	$(BIN)/python -m pytest -q $(QUICK_TESTS)

test: check  ## lint, format, types and all tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

interpreters:  ## all tests on each patch release of Python found here, or on one: make interpreters ONLY=oldest
	@"$(PYTHON)" -m tools.interpreters --only "$(ONLY)" --uv "$(UV)" -- $(PYTEST_ARGS)

without:  ## run the tests in a copy without some features: make without PARTS="telemetry auth"
	$(if $(PARTS),,$(error name the parts to remove: make without PARTS="auth lock"))
	"$(PYTHON)" -m tools.without $(PARTS)

lowest:  ## the security and HTTP tests with the lowest versions of the dependencies that pyproject.toml allows
	@PEGBOARD_VENV=.venv-lowest "$(PYTHON)" -m tools.install --uv "$(UV)"
	@"$(PYTHON)" -m tools.lowest
	.venv-lowest/bin/python -m pytest $(PYTEST_ARGS) $(SECURITY_TESTS) $(HTTP_TESTS)

newest:  ## the HTTP tests with the newest version of aiohttp that pyproject.toml allows
	@PEGBOARD_VENV=.venv-newest "$(PYTHON)" -m tools.install --uv "$(UV)"
	@.venv-newest/bin/python -m pip install --quiet --upgrade --no-build-isolation aiohttp --editable .
	.venv-newest/bin/python -m pytest $(PYTEST_ARGS) $(HTTP_TESTS)

check: install  ## lint, format and strict types; compare requirements-dev.txt with the lock
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m tools.requirements --check

conformance: install  ## run the official conformance suite on pegboard serve; needs npm; ON=memory, redis, proxy or workers
	$(BIN)/python -m tests.conformance.run $(if $(ON),--on $(ON))

format: install  ## format the code, and correct what lint can correct
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

site: install  ## the documentation as a site, in .cache/site/index.html, with Markdown copies and llms.txt
	@$(BIN)/sphinx-build -q -E -W --keep-going -j auto -c tools/site -d .cache/site-pages . .cache/site
	@$(BIN)/sphinx-build -q -a -W --keep-going -b markdown -c tools/site -d .cache/site-pages . .cache/site
	@echo "open .cache/site/index.html"

build: install  ## wheels and sdists of all distributions, in dist/; twine checks them
	@rm -rf dist
	@for folder in . $(dir $(wildcard toolkits/*/pyproject.toml)); do \
		(cd "$$folder" && "$(CURDIR)/$(BIN)/python" -m hatchling build -d "$(CURDIR)/dist") || exit 1; done
	@$(BIN)/twine check --strict dist/*

installs: build  ## install from a local index with pip and uv on each Python found, or on one: make installs ONLY=3.13
	@$(BIN)/python -m tools.installs --only "$(ONLY)" --uv "$(UV)"

release: install  ## set the version, test, build, commit and tag: make release VERSION=0.2.0; CONTRIBUTING.md
	@$(BIN)/python -m tools.release "$(VERSION)" $(CHECKS)

rehearsal: install  ## make release in a clone, with a build in the place of the tests, and install it from a local index
	@$(BIN)/python -m tools.rehearsal

porting: install  ## compare servers of other frameworks with copies that import pegboard; downloads them
	$(BIN)/python -m tools.foreign_servers $(if $(OVERRIDES),--overrides $(OVERRIDES))

peers: install  ## mount published servers, and compare their answers with those to a direct client; downloads them
	$(BIN)/python -m tools.peers $(if $(OVERRIDES),--overrides $(OVERRIDES))

toolkits: install  ## compare published toolkits of Arcade in pegboard and in their own framework; downloads them
	$(BIN)/python -m tools.arcade_toolkits

messages: install  ## compare answers to wrong calls with other frameworks, in docs/error-messages.md; downloads them
	$(BIN)/python -m tools.error_messages $(if $(OVERRIDES),--overrides $(OVERRIDES))

bench: install  ## measure beside other frameworks and a bare floor; benchmarks/README.md says how to read it
	$(BIN)/python -m benchmarks $(if $(OVERRIDES),--overrides $(OVERRIDES))

results: install  ## measure again for docs/results.md, and draw its pictures; continues a run that was interrupted
	$(BIN)/python -m benchmarks --resume --rounds 3 --seconds 0.8 --output benchmarks/.cache/page.json \
		--only start,memory,call,http-call,auth,mounted-call,http-list,http-memory,http-size,data \
		--contenders pegboard,pegboard+files,pegboard+uvloop,pegboard+public,mcp,mcp+fast,mcp1,fastmcp,arcade-mcp,floor,floor+tasks,floor+uvloop \
		$(if $(OVERRIDES),--overrides $(OVERRIDES))
	$(BIN)/python -m benchmarks.page benchmarks/.cache/page.json

regressions: install  ## compare key paths with the last release, or with make regressions BASE=REVISION; fails above 5 %
	$(BIN)/python -m benchmarks.regressions $(if $(BASE),--base $(BASE))

signatures:  ## compare the table of signatures with FastMCP: make signatures FASTMCP=/path/to/python, which has fastmcp
	PYTHONPATH=.:host:plugins $(FASTMCP) -m tests.host.schemas.signatures.beside_fastmcp

soak: install  ## load the server for an hour, and check that it takes no more memory
	$(BIN)/python -m benchmarks.soak

edits: install  ## edit a toolkit 50 times while 20 clients call it; fails if a call fails or memory grows
	$(BIN)/python -m benchmarks.edits_under_load

callers: install  ## two callers at once at a mounted server that requires a login, in 500 random rounds; needs npm
	TEST_ROUNDS=500 $(BIN)/python -m pytest -q -n 0 tests/plugins/servers/upstreams/test_callers_apart.py

scale: install  ## disturb four processes on one Redis behind a proxy for ten minutes; fails at a lost session or a wrong answer
	TEST_SECONDS=$(or $(DURATION),600) $(BIN)/python -m pytest -q -n 0 -o log_cli=true -o log_cli_level=INFO tests/plugins/operation/redis/test_scale.py

kills: install  ## kill servers of tasks 50 times with each store, or make kills KILLS=1000 STORE=sqlite; checks ends and effects
	@$(BIN)/python -m tests.plugins.protocols.tasks.kills --kills $(or $(KILLS),50) $(if $(STORE),--store $(STORE))

lock:  ## renew uv.lock and requirements-dev.txt after a change of dependencies
	@"$(PYTHON)" -m tools.requirements

clean:  ## remove what the other targets made
	rm -rf .venv .venv-* .cache dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
