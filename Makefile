# make run and make test are all a newcomer needs; the rest is for those who work on the program. See CONTRIBUTING.md.

LISTEN ?= 127.0.0.1:8080
DATA   ?= ./belfry-data
DEMO   ?= ./belfry-demo

# A checkout that git refuses to look into, as in a container that runs as another user, must build all the same.
# Without the folder's path in them, builds of one commit are the same everywhere, and go's cache serves every clone.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -buildvcs=$(VCS))
export CGO_ENABLED := 1

TOOL := go tool -modfile=tools/go.mod

# Suites that start real processes are parts of their own. The benchmark is a module of its own, in tools/bench.
# The package that takes longest comes first; without the race detector it takes about as long as all others.
SUITES   := belfry/cmd/belfry belfry/docs belfry/crash
LONGEST  := belfry/store/duck
PACKAGES  = $(LONGEST) $(filter-out $(SUITES) $(LONGEST),$(shell go list ./...))

# Test binaries are linked for one run, so without what only a debugger reads.
QUICK    := -short -vet=off -count=1 -ldflags=-w -timeout 30m

# In make test the race detector watches the packages in which goroutines share memory, and their tests run once, with it; in
# make soak it watches everything. Tests that make one goroutine compute for long find no race, so they run without it.
RACED    := belfry/journal belfry/store belfry/meta belfry/meta/sqlite belfry/engine belfry/intake belfry/api belfry/api/body belfry/api/limit belfry/api/live \
	belfry/collect belfry/collect/mib belfry/collect/ping belfry/collect/script belfry/collect/snmp
UNRACED   = $(filter-out $(LONGEST) $(RACED),$(PACKAGES))
ALONE    := PolicyLimit|TestMoments|MoverCrash|RemovedItemsTakeNoMemory|Packed|TestScript|CutNDJSON|CutJSON|Histories|HoldsLittle|ColumnsAppear|TrapKeys|BrokenAnswers|RemovalSurvives|RowsTogether|ForgetAnswers|HeldRows|TreeReplay|LargeRows|PeriodOfMany|Fuzz|TestRestore$$|TestActMany|WithoutARecord|ManyKeys|AsStrconv|LimitedRandomly|TestApart|TestFirst$$|ItemsOfOthers|EveryCut|EveryFlip|WindowEdge|ManyBadObjects|MostlyWrong|TreeIndexes|SendTheRest|CreationAlone|PartlyStored|RemoveInTurns|ConfigurationLists|TestCustomersInterrupt$$

# Package tests keep their files in memory where that is possible: what a disk does is for the crash and disk parts.
MEMORY   := $(shell [ -d /dev/shm ] && [ -w /dev/shm ] && echo TMPDIR=/dev/shm GOTMPDIR=$${TMPDIR:-/tmp})

# How much the parts of make soak do: as much as 90 minutes allow. Larger numbers make longer runs, as in make soak KILLS=1000.
KILLS     ?= 50
FUZZTIME  ?= 10s
PLANS     ?= 50000
HISTORIES ?= 50000
SOAKED    ?= .soak/passed

# The interface is rebuilt when one of its sources is newer.
UI := $(shell find web/ui -path web/ui/node_modules -prune -o -path web/ui/e2e -prune -o -path web/ui/unit -prune -o -type f -print)

.PHONY: build ui dist run demo quick test soak check setup setup-soak lint gen packages race program crash disk faults ui-unit browser \
	browser-soak disk-soak race-soak program-soak bench-soak crash-soak fuzz-soak plans-soak histories-soak peers fuzz bench screenshots clean
.NOTPARALLEL:

build: ## bin/belfry
	go build -o bin/belfry ./cmd/belfry

ui: web/dist/index.html ## the web interface, into web/dist; make build takes it into the binary

# Without Node there are no pages; everything else works.
NPM := command -v npm >/dev/null || { echo "The pages need npm, of Node 20.19 or later of 20, or 22.12 and later. To do without them: make build && bin/belfry serve --data $(DATA) --listen $(LISTEN)" >&2; exit 1; }

web/dist/index.html: $(UI) web/ui/node_modules/.installed
	@$(NPM)
	cd web/ui && npm run --silent build

# Not npm ci: the lock has the packages of one platform, and that would miss those of the others.
web/ui/node_modules/.installed: web/ui/package-lock.json
	@$(NPM)
	cd web/ui && npm install --no-save && touch node_modules/.installed

dist: ui ## an archive to hand out: the program with its licences, manual pages and documents; in dist
	go build -ldflags='-s -w' -o dist/belfry ./cmd/belfry
	scripts/dist dist/belfry dist
	rm dist/belfry

run: ui build ## build, and serve on LISTEN from DATA
	exec bin/belfry serve --data $(DATA) --listen $(LISTEN)

demo: ui build ## the same with sample data, from DEMO
	exec bin/belfry serve --demo --data $(DEMO) --listen $(LISTEN)

quick: ## package tests, without what is slow
	$(MEMORY) go test -short -vet=off -ldflags=-w -p 2 -timeout 5m $(PACKAGES)

test: ## the quick tier: what CI runs, under eight minutes on two cores
	@MAKE="$(MAKE)" scripts/parts setup ui lint browser+race packages+faults program+ui-unit

soak: ## the long tier, about 90 minutes; run again, it continues where it was interrupted
	@MAKE="$(MAKE)" scripts/parts -resume $(SOAKED) setup-soak race-soak program-soak browser-soak crash-soak+disk-soak fuzz-soak plans-soak+histories-soak peers bench-soak

check: test ## what CI runs

setup: ## what make test needs and this machine lacks
	@scripts/setup
	@$(MAKE) --no-print-directory web/ui/node_modules/.installed

setup-soak: setup ## what make soak needs beyond that
	@scripts/setup soak

lint: ## the short list
	@scripts/lint $(TOOL)

gen: ## reference pages and expected output again; the diff is for a reviewer to read
	@scripts/gen

packages: ## package tests without the race detector
	@$(MEMORY) go test $(QUICK) -skip 'FullDisk$$' $(LONGEST) & longest=$$!; \
	$(MEMORY) go test $(QUICK) -p 1 -skip 'FullDisk$$' $(UNRACED); others=$$?; \
	$(MEMORY) go test $(QUICK) -p 2 -run '$(ALONE)' $(RACED); alone=$$?; \
	wait $$longest && exit $$((others + alone))

race: ## package tests with the race detector
	$(MEMORY) GORACE=atexit_sleep_ms=10 go test -race $(QUICK) -p 2 -skip '$(ALONE)' $(RACED)

program: ## the whole program: scripts against the real binary, and the walk of the README
	go test $(QUICK) -p 2 ./cmd/belfry ./docs

crash: ## a few kills
	go test $(QUICK) ./crash -skip Disk

disk: ## a file system that is really full
	@scripts/disk -short 'FullDisk$$'

faults: ## crash and disk, both at once: each waits a lot
	@$(MAKE) --no-print-directory crash & crash=$$!; $(MAKE) --no-print-directory disk; disk=$$?; wait $$crash && exit $$disk

disk-soak: ## everything that is tried on small file systems
	@scripts/disk

ui-unit: ## the interface's parts that need no browser
	cd web/ui && npm run --silent unit

browser: ui build ## the interface in a real browser, against the real program
	cd web/ui && npm run --silent e2e

browser-soak: ui build ## every page and flow, in all sizes and colours
	cd web/ui && npm run --silent e2e:soak

screenshots: ui build ## pictures of every page, in docs/screenshots; git keeps eight of them
	cd web/ui && SCREENSHOTS=1 npx playwright test looks

# One goroutine verifies a database some hundred thousand times in FLIPS, which takes hours with the race detector.
FLIPS    := FlippedByte

race-soak: ## every package test at full length, with the race detector
	go test -race -vet=off -p 2 -timeout 30m -skip '$(FLIPS)' $(PACKAGES)
	go test -vet=off -timeout 30m -run '$(FLIPS)' belfry/meta/sqlite

# The race detector takes several times the memory, so the tests of what the program needs in a small container run without it.
program-soak: ## the whole program with the race detector, floods included
	go test -race -vet=off -p 1 -timeout 30m -skip SmallContainer ./cmd/belfry ./docs
	go test -vet=off -count=1 -timeout 30m -run SmallContainer ./cmd/belfry

crash-soak: ## KILLS kills
	go test -v -vet=off -count=1 -timeout 3h ./crash -skip Disk -args -kills $(KILLS)

fuzz-soak: ## every fuzz target for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

plans-soak: ## PLANS random plans on DuckDB and Eval
	go test -count=1 -timeout 1h -v -run '^TestRandomPlans$$' ./store/storetest -args -plans $(PLANS)

histories-soak: ## HISTORIES random histories on the status engine and its model
	go test -count=1 -timeout 1h -v -run '^TestHistories$$' ./engine -args -histories $(HISTORIES)

peers: setup-soak ## against programs that others wrote: rsyslog, snmptrap, logger, shells, groff
	go test -tags peers -vet=off -count=1 -timeout 20m -run Peer ./cmd/belfry ./collect ./docs

bench-soak: bin/bench ## the tests of the benchmark, and the benchmark in short; docs/benchmarks.md stays as it is
	cd tools/bench && go vet ./... && go test -vet=off -timeout 10m ./... && go tool -modfile=../go.mod staticcheck ./...
	mkdir -p .soak
	bin/bench -quick -out .soak/benchmarks.jsonl
	bin/bench -page .soak/benchmarks.jsonl -out .soak/benchmarks.md

fuzz: ## every fuzz target for a minute, then a million random plans and histories; continues where an earlier run ended
	$(MAKE) fuzz-soak FUZZTIME=1m
	@scripts/plans 1000000
	@scripts/histories 1000000

# go build itself knows when there is nothing to do.
.PHONY: bin/bench
bin/bench: ## the benchmark program; bin/bench -help tells what it can do
	go build -C tools/bench -o ../../bin/bench .

bench: bin/bench ## the whole benchmark; writes docs/benchmarks.jsonl, and docs/benchmarks.md from it
	bin/bench -out bin/benchmarks.jsonl
	cp bin/benchmarks.jsonl docs/benchmarks.jsonl
	bin/bench -page docs/benchmarks.jsonl -out docs/benchmarks.md

clean: ## what make build, make ui and make dist left
	rm -rf bin dist web/ui/node_modules
	find web/dist -mindepth 1 ! -name .keep -delete
