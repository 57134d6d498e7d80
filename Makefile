# The few targets of the house. Each sets up by itself what it needs.
GO ?= go

.PHONY: help build demo test check fuzz bench bench-verify bench-knee bench-load bench-observe bench-endurance bench-align bench-diagnose bench-faults screenshots lint dist dist-check tidy clean setup

# The targets, each with the first line of what stands above it here.
help:
	@awk '/^# /{ if (!text) text = substr($$0, 3); next } /^[a-z-]+:/{ split($$0, t, ":"); if (text) printf "%-16s %s\n", t[1], text; text = "" } !/^#/{ text = "" }' Makefile

# redline, as bin/redline.
build:
	$(GO) build -trimpath -o bin/redline ./cmd/redline

# Finds what stops a real order gateway, fixes it step by step, measures each gain.
demo: setup build
	bin/redline demo

# Every test, as CI runs them: race detector on, real PostgreSQL, real browser.
test: setup
	./scripts/test.sh

# Format, vet, and the tests that only compute: two minutes.
check: lint
	$(GO) test -short . ./access ./anatomy/... ./diagnose ./diagnose/passes/... ./assess ./redact ./notation/... ./scenario/... ./stat/... ./record/...

# Each fuzz target for some time, one after the other: FUZZ="-trials 60" is an hour.
fuzz: build
	$(GO) build -o bin/bench-faults ./bench/faults
	bin/bench-faults -only fuzz -o bin/fuzz.json $(FUZZ)

# The Go benchmarks of what runs for each request, window or event.
bench:
	$(GO) test -run '^$$' -bench . -benchtime 1s ./anatomy ./load/... ./record/... ./diagnose/... ./probe/...

# The load generator against its peers.
# BENCH="-only http1 -rounds 3"; -h lists more. What is not installed is skipped; REDLINE_SETUP=bench scripts/setup.sh
# installs what Debian has.
bench-load: build
	$(GO) build -o bin/bench-load ./bench/load
	bin/bench-load $(BENCH)

# What each source costs the lab's gateway, alone and all together.
# BENCH="-only probe,events -rounds 6", -h lists more. It needs PostgreSQL, and
# root for all of the sources.
bench-observe:
	$(GO) build -o bin/bench-observe ./bench/observe
	bin/bench-observe $(BENCH)

# How often `redline ab` is right about the lab's gateway, some five hours.
# BENCH="-sessions 2 -o FILE", BENCH="-add" goes on, -h lists more. It needs
# PostgreSQL, and a machine with nothing else to do.
bench-verify:
	$(GO) build -o bin/bench-verify ./bench/verify
	bin/bench-verify $(BENCH)

# How often the knee is right: services of known capacity, each again and again.
# BENCH="-only pool -repetitions 2", BENCH="-add" goes on, -h lists more.
bench-knee: build
	$(GO) build -o bin/bench-knee ./bench/knee
	bin/bench-knee $(BENCH)

# How exactly load, runtime, trace, kernel and database date one event.
# ALIGN="-trials 100", -h lists more. It
# needs root, for the kernel's part, and PostgreSQL.
bench-align:
	$(GO) build -o bin/bench-align ./bench/align
	bin/bench-align $(ALIGN)

# Memory and bundle size of ten minutes with every source on.
# ENDURANCE="-length 1m -rate 2000", -h lists more. It needs PostgreSQL.
bench-endurance: build
	$(GO) build -o bin/bench-endurance ./bench/endurance
	bin/bench-endurance $(ENDURANCE)

# Breaks redline's promises on purpose and counts how often they hold, some hours.
# FAULTS="-only kills -trials 10", -h lists more.
bench-faults: build
	$(GO) build -o bin/bench-faults ./bench/faults
	bin/bench-faults $(FAULTS)

# How often the diagnosis is right: runs every service of the corpus.
# About 15 s each. BENCH="-only REGEXP -keep DIR"; -h lists more.
bench-diagnose: setup build
	$(GO) build -o bin/bench-diagnose ./bench/diagnose
	cd corpus && ../bin/bench-diagnose -o ../docs/diagnosis.json $(BENCH)

# The pictures of pages in docs/pictures, of real runs; a minute. Look at them before they are committed.
screenshots: build
	REDLINE_SETUP=test ./scripts/setup.sh
	./scripts/screenshots.sh

# Format, go.mod, vet, staticcheck and known vulnerabilities, in every module.
lint:
	./scripts/lint.sh

# The command for every platform, with checksums and an SBOM each: bin/dist.
# DIST="linux/amd64" builds fewer.
dist:
	./scripts/dist.sh

# The same twice, the second time with nothing cached: the bytes must agree; and a release installed by its path.
# Eight builds; DIST="linux/amd64" checks one platform.
dist-check:
	./scripts/dist.sh check
	REDLINE_RELEASE=1 $(GO) test -count=1 -run TestRelease ./scripts

# go.mod and go.sum of every module, as it is without go.work.
tidy:
	for module in . lab corpus kit scripts/tools; do (cd $$module && GOWORK=off $(GO) mod tidy) || exit 1; done

# What building and running leaves in the checkout.
clean:
	rm -rf bin runs bench/load/results bench/observe/results

# What needs a system package is installed here when root, or named.
setup:
	./scripts/setup.sh
