# What there is to do here. `make` alone lists it.

.PHONY: help build test fuzz compose check format bench clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

build: ## build gannet for release, as Scripts/gannet does
	@Scripts/gannet --version

test: ## install what is missing, build, run all tests
	@Scripts/test

fuzz: ## throw made-up input at the state, against its model, and at all that reads from strangers; see CONTRIBUTING.md
ifeq ($(filter-out model,$(TARGET)),)
	@GANNET_FUZZ_SEED=$(SEED) GANNET_FUZZ_SEEDS=$(or $(SEEDS),2000) GANNET_FUZZ_STEPS=$(STEPS) Scripts/test --filter ModelTests
endif
ifneq ($(TARGET),model)
	@RUNS=$(RUNS) SEED=$(SEED) SANITIZE=$(SANITIZE) Scripts/fuzz $(TARGET) $(INPUT)
endif

compose: ## build the image and try a fleet of containers, as README's "Scale" shows it
	@Scripts/compose

check: ## format, imports, what operators are given, thread and address sanitizers
	@Scripts/check

format: ## format all sources in place
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks

bench: ## measure the Redis client beside redis-benchmark
	@Scripts/bench redis

clean: ## remove everything that was built
	@rm -rf .build
