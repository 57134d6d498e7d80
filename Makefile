# The few targets of the house. Each sets up by itself what it needs.
GO ?= go

.PHONY: build demo test bench bench-load lint setup

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

lint:
	./scripts/lint.sh

# What needs a system package is installed here when root, or named.
setup:
	./scripts/setup.sh
