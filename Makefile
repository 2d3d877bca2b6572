# `make` alone lists the habits of this repository.

.PHONY: help build test fuzz compose check format picture bench chaos soak docs install uninstall clean

PREFIX ?= /usr/local
# A package builder's root: files go below it, and no path in them names it.
DESTDIR ?=

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

build: ## build gannet for release, as Scripts/gannet does
	@Scripts/gannet --version

test: ## install missing tools, build, run all tests
	@Scripts/test

fuzz: ## throw made-up input at the state and at all readers of strangers' bytes; see CONTRIBUTING.md
ifeq ($(filter-out model,$(TARGET)),)
	@GANNET_TEST_PATIENCE=604800 GANNET_FUZZ_SEED=$(SEED) GANNET_FUZZ_SEEDS=$(or $(SEEDS),$(if $(SEED),1,2000)) GANNET_FUZZ_STEPS=$(STEPS) Scripts/test --filter ModelTests
endif
ifneq ($(TARGET),model)
	@RUNS=$(RUNS) SEED=$(SEED) SANITIZE=$(SANITIZE) Scripts/fuzz $(TARGET) $(INPUT)
endif

compose: ## build the image and try a fleet of containers with the commands of Docs/OPERATIONS.md
	@Scripts/compose

check: ## what the compiler does not see, such as format and plain words; thread and address sanitizers
	@Scripts/check

format: ## format all sources in place
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks Fuzz Examples

picture: ## make the pictures of README again, from a real run in a terminal and a real browser
	@Scripts/picture
	@Scripts/check window-pictures Docs

bench: ## measure the Redis client beside redis-benchmark
	@Scripts/bench redis

chaos: ## break Redis, workers, networks, clocks and disks on purpose, and compare a ledger; ROW=, SEED=, JOBS=, MINUTES=
	@Scripts/chaos $(if $(ROW),--row $(ROW)) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) $(if $(MINUTES),--minutes $(MINUTES))

soak: ## an hour of load and faults (MINUTES=60, SEED=): does memory or a descriptor grow? A picture of it goes into .build/soak
	@MINUTES=$(MINUTES) SEED=$(SEED) Scripts/soak

docs: ## make the library's pages in .build/docs and build all examples of the documentation
	@Scripts/docs
	@Scripts/examples

# A build of its own: an installed program has Swift's runtime inside and needs no toolchain. No test tool and no network is used.
PROGRAM ?= .build/install/release/gannet
# Nothing where libvips or libseccomp is missing.
THUMBNAIL ?= $(if $(filter .build/install/release/gannet,$(PROGRAM)),$(shell pkg-config --exists vips libseccomp 2>/dev/null && echo .build/install/release/gannet-thumbnail))
install: ## install the programs, man page, completions and licences: make install DESTDIR= PREFIX=/usr/local
ifeq ($(PROGRAM),.build/install/release/gannet)
	GANNET_PRODUCTS_ONLY=yes swift build --scratch-path .build/install -c release --product gannet --static-swift-stdlib -Xlinker --strip-all
ifneq ($(THUMBNAIL),)
	GANNET_PRODUCTS_ONLY=yes GANNET_THUMBNAIL=yes swift build --scratch-path .build/install -c release --product gannet-thumbnail --static-swift-stdlib -Xlinker --strip-all
endif
endif
	@Scripts/install "$(PROGRAM)" "$(DESTDIR)" "$(PREFIX)" $(THUMBNAIL)

uninstall: ## remove what install has put there, with the same DESTDIR= and PREFIX=
	@Scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

clean: ## remove everything that was built
	@rm -rf .build
