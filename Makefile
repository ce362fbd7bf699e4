# make run and make test are all a newcomer needs; the rest is for those who work on the program. See CONTRIBUTING.md.

LISTEN ?= 127.0.0.1:8080
DATA   ?= ./belfry-data
DEMO   ?= ./belfry-demo

# A checkout that git refuses to look into, as in a container that runs as another user, must build all the same.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=$(VCS))
export CGO_ENABLED := 1

TOOL := go tool -modfile=tools/go.mod

# Suites that start real processes are parts of their own; everything else is a package test.
SUITES   := belfry/cmd/belfry belfry/docs belfry/crash
PACKAGES  = $(filter-out $(SUITES),$(shell go list ./...))

# What the parts of make test spend; the long runs, make crash and make fuzz, set more.
KILLS     ?= 50
FUZZTIME  ?= 4s
PLANS     ?= 1000000
HISTORIES ?= 100000

# The interface is built anew when one of its sources is newer.
UI := $(shell find web/ui -path web/ui/node_modules -prune -o -path web/ui/e2e -prune -o -type f -print)

.PHONY: build ui run demo quick test check setup lint gen gen-check packages scripts crash disk browser fuzz bench clean \
	part-crash part-fuzz part-histories
.NOTPARALLEL:

build: ## bin/belfry
	go build -o bin/belfry ./cmd/belfry

ui: web/dist/index.html ## the web interface, into web/dist; make build takes it into the binary

web/dist/index.html: $(UI) web/ui/node_modules/.installed
	cd web/ui && npm run --silent build

# Not npm ci: the lock has the packages of one platform, and that would miss those of the others.
web/ui/node_modules/.installed: web/ui/package-lock.json
	cd web/ui && npm install --no-save && touch node_modules/.installed

run: ui build ## build, and serve on LISTEN from DATA
	exec bin/belfry serve --data $(DATA) --listen $(LISTEN)

demo: ui build ## the same with sample data, from DEMO
	exec bin/belfry serve --demo --data $(DEMO) --listen $(LISTEN)

quick: ## package tests without the race detector and without what is slow
	go test -short -p 2 -timeout 5m $(PACKAGES)

test: ## everything
	@MAKE="$(MAKE)" scripts/parts setup lint gen-check packages scripts browser part-crash disk part-fuzz part-histories

check: test ## what CI runs

setup: ## what the tests need and this machine lacks
	@scripts/setup
	@$(MAKE) --no-print-directory web/ui/node_modules/.installed

lint: ## the short list
	@scripts/lint $(TOOL)

gen: ## reference pages and expected output anew; the diff is for a reviewer to read
	@scripts/gen

gen-check: ## fails when make gen would change something
	@scripts/gen --check

packages: ## package tests with the race detector
	go test -race -p 2 -timeout 20m $(PACKAGES)

scripts: ## the whole program: scripts against the real binary, and the walk of the README
	go test -race -p 2 -timeout 20m ./cmd/belfry ./docs

browser: ui build ## the interface in a real browser, against the real program
	cd web/ui && npx playwright test

part-crash:
	go test -v -count=1 -timeout 3h ./crash -skip Disk -args -kills $(KILLS)

crash: ## the crash suite with 1,000 kills
	$(MAKE) part-crash KILLS=1000

disk: ## a file system that is really full
	@scripts/disk

part-fuzz:
	@scripts/fuzz $(FUZZTIME)

part-histories:
	go test -count=1 -timeout 1h -v -run '^TestHistories$$' ./ingest -args -histories $(HISTORIES)

fuzz: ## every fuzz target for a minute, then a million random plans and histories; goes on where an earlier run ended
	$(MAKE) part-fuzz FUZZTIME=1m
	@scripts/plans $(PLANS)
	@scripts/histories 1000000

bench: ## the benchmark tables; writes docs/benchmarks.md
	go run ./bench

clean: ## what make build and make ui left
	rm -rf bin web/ui/node_modules
	find web/dist -mindepth 1 ! -name .keep -delete
