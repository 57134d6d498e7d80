#!/usr/bin/env bash
# Runs every test of every module with the race detector, and checks that the
# portable parts build for macOS.
set -euo pipefail
cd "$(dirname "$0")/.."
REDLINE_SETUP=test ./scripts/setup.sh

if command -v npm >/dev/null; then
  (cd web/page && { [ -d node_modules ] || npm ci --silent --no-audit --no-fund; })
else
  echo "no npm: the page's tests are skipped" >&2
fi
race=-race
command -v gcc >/dev/null || { race=; echo "no gcc: without the race detector" >&2; }
# By default a race-checked program sleeps a second before it exits: here those are all packages, and what they start.
export GORACE=atexit_sleep_ms=50
# Without the checkout's path in what is compiled, another clone of the same files finds it in the cache.
./scripts/lint.sh vet
GOOS=darwin GOARCH=arm64 go vet -trimpath ./...

go build -trimpath -o bin/redline ./cmd/redline

# go test, with what was skipped and how long packages took kept for the end. The exit code is go test's or testlog's,
# whichever failed (pipefail). With REDLINE_CI a skip fails unless
# its reason is listed: what CI skips, nobody has tried.
go build -trimpath -o bin/testlog ./scripts/testlog
kept=$(mktemp)
testlog=$PWD/bin/testlog
failed=0
# What fails does not keep the rest from being tried: one run shows all there is to mend.
# lint.sh has vetted all of it, tests as well.
tested() { go test -trimpath -json -vet=off -timeout 40m "$@" | "$testlog" -kept "$kept" || failed=1; }
summarised() {
  local code=$? strict=
  [ -z "${REDLINE_CI:-}" ] || strict=-strict
  "$testlog" -kept "$kept" -summary scripts/skips.txt $strict || [ "$code" != 0 ] || code=1
  rm -f "$kept"
  exit "$code"
}
trap summarised EXIT
# Packages that wait for half of their time run one more at a time than there are cores:
# no test may need a quiet machine. What only computes
# comes first, so that what takes part in a load has the rest of the time. Compiling
# comes before, on all cores. go test ends a package after ten minutes, which the
# command's may take when a busy machine gives them half of a CPU.
computing=(. ./benchmark ./diagnose/... ./assess ./forecast/... ./tune/... ./knee ./knee/render ./history ./lint ./record/... ./report/... ./web/... ./scenario/... ./stat/... ./verify ./verify/baseline ./verify/render ./verify/session ./compare ./bench/verify)
# The race detector makes computing five times slower, and sees nothing in a package
# that starts no goroutine and shares no memory: of these it is for those that do.
concurrent=() sequential=()
while read -r package dir files; do
  if [ -n "$files" ] && (cd "$dir" && grep -qE '^[[:space:]]*go [a-zA-Z(]|"sync(/atomic)?"|errgroup"' ${files//,/ }); then
    concurrent+=("$package")
  else
    sequential+=("$package")
  fi
done < <(go list -f '{{.ImportPath}} {{.Dir}} {{join .GoFiles ","}}' "${computing[@]}")
tested "${sequential[@]}"
# Simulated sessions are arithmetic, for which the detector takes ten times as long; what starts goroutines there has
# tests of its own.
tested -run '^TestSimulated' ./tune/measure ./verify/session
tested $race -skip '^TestSimulated' "${concurrent[@]}"
# The other modules go along, so that no core waits for the last package of each. Of the corpus only what has tests:
# lint.sh has type-checked every service, and `make bench-diagnose` builds and runs them.
go list -export -trimpath $race ./... ./lab/... ./kit/... >/dev/null
tested $race -p $(($(nproc) + 1)) $(go list ./... | grep -vxF "$(go list "${computing[@]}")") ./lab/... ./kit/... ./corpus/backend/...
exit "$failed"
