# The few targets of the house. Each sets up by itself what it needs.
GO ?= go

.PHONY: build demo test bench bench-verify bench-load bench-observe bench-endurance bench-align bench-diagnose bench-faults lint setup

build:
	$(GO) build -o bin/redline ./cmd/redline

demo: setup build
	bin/redline demo

# Everything: unit, golden, fuzz seeds, real PostgreSQL, real browser, the demo
# path shortened. Race detector on.
test: setup
	./scripts/test.sh

bench:
	$(GO) test -run '^$$' -bench . -benchtime 1s ./anatomy ./load/... ./record ./diagnose/... ./probe/...

# The load generator against its peers: BENCH="-only http1 -rounds 3", -h tells
# more. What is not installed is skipped; REDLINE_SETUP=bench scripts/setup.sh
# installs what Debian has.
bench-load: build
	$(GO) build -o bin/bench-load ./load/bench
	bin/bench-load $(BENCH)

# What each source costs the lab's gateway, alone and all together:
# BENCH="-only probe,events -rounds 6", -h tells more. It needs PostgreSQL, and
# root for all of the sources.
bench-observe:
	$(GO) build -o bin/bench-observe ./run/bench
	bin/bench-observe $(BENCH)

# How often `redline ab` is right about the lab's gateway, some two hours:
# BENCH="-sessions 2 -o FILE", BENCH="-add" goes on, -h tells more. It needs
# PostgreSQL, and a machine with nothing else to do.
bench-verify:
	$(GO) build -o bin/bench-verify ./verify/bench
	bin/bench-verify $(BENCH)

# Whether load, runtime, trace, kernel and database put one event into the same
# window, and how exactly they date it: ALIGN="-trials 100", -h tells more. It
# needs root, for the kernel's part, and PostgreSQL.
bench-align:
	$(GO) build -o bin/bench-align ./run/alignment
	bin/bench-align $(ALIGN)

# Memory of redline and size of its bundle after ten minutes with every source
# on: ENDURANCE="-length 1m -rate 2000", -h tells more. It needs PostgreSQL.
bench-endurance: build
	$(GO) build -o bin/bench-endurance ./run/endurance
	bin/bench-endurance $(ENDURANCE)

# Breaks redline's promises on purpose and counts how often they hold, some
# hours in full: FAULTS="-only kills -trials 10", -h tells more.
bench-faults: build
	$(GO) build -o bin/bench-faults ./bench/faults
	bin/bench-faults $(FAULTS)

# How often the diagnosis is right: every service of the corpus is run for real,
# about 15 s each. BENCH="-only REGEXP -keep DIR", -h tells more.
bench-diagnose: setup build
	cd corpus && $(GO) build -o ../bin/bench-diagnose ./bench
	cd corpus && ../bin/bench-diagnose -o ../docs/diagnosis.json -md ../docs/diagnosis.md $(BENCH)

lint:
	./scripts/lint.sh

# What needs a system package is installed here when root, or named.
setup:
	./scripts/setup.sh
