# `make <campaign>` sets everything up and runs the campaign; `make test` sets everything up and runs all tests.
# What set-up means stands in scripts/setup.sh. Afterwards plain `snakemake` works from .venv/bin.
CAMPAIGNS := $(patsubst config/campaigns/%.yaml,%,$(wildcard config/campaigns/*.yaml))
PATH := $(CURDIR)/.venv/bin:$(PATH)
export PATH

help:
	@echo "make <campaign>    set up, then: snakemake --cores 1 --config campaign=<campaign>"
	@echo "                   campaigns: $(CAMPAIGNS)"
	@echo "make test          set up, then: lint, types, all tests"

$(CAMPAIGNS):
	@scripts/setup.sh run
	snakemake --cores 1 --config campaign=$@ $(CONFIG)

test:
	@scripts/setup.sh dev
	ruff check .
	ruff format --check .
	mypy
	pytest

.PHONY: help test $(CAMPAIGNS)
