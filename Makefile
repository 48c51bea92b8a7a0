# `make <campaign>` sets everything up and runs the campaign; `make test` sets everything up and runs all tests.
# What set-up means stands in scripts/setup.sh. Afterwards plain `snakemake` works from .venv/bin.
CAMPAIGNS := $(filter-out imported,$(patsubst config/campaigns/%.yaml,%,$(wildcard config/campaigns/*.yaml)))
PATH := $(CURDIR)/.venv/bin:$(PATH)
export PATH

help:
	@echo "make <campaign>    set up, then: snakemake --cores 1 --config campaign=<campaign>"
	@echo "                   campaigns: $(CAMPAIGNS)"
	@echo "make test          set up, then: lint, types, all tests"
	@echo "make lab           build the guest's parts alone; tries again what could not be built"
	@echo "make lab-update    lock what the Debian mirror has today; measured runs of the old lab stay valid for it"

$(CAMPAIGNS):
	@scripts/setup.sh run
	@grep -q '^host: local' config/campaigns/$@.yaml || python -m scripts.build_lab
	snakemake --cores 1 --config campaign=$@ $(CONFIG)

lab:
	@scripts/setup.sh run
	python -m scripts.build_lab --retry

lab-update:
	@scripts/setup.sh run
	python -m scripts.build_lab --update

test:
	@scripts/setup.sh dev
	@python -m scripts.build_lab
	ruff check .
	ruff format --check .
	snakefmt --check .
	mypy
	pytest

.PHONY: help lab lab-update test $(CAMPAIGNS)
