#!/usr/bin/env bash
# Runs every test of every module with the race detector, and type-checks the
# portable parts for macOS and every service of the corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
REDLINE_SETUP=test ./scripts/setup.sh

page=
if command -v npm >/dev/null; then
  (cd web/page && { [ -d node_modules ] || npm ci --silent --no-audit --no-fund; }) &
  page=$!
else
  echo "no npm: the page's tests are skipped" >&2
fi
race=-race
command -v gcc >/dev/null || { race=; echo "no gcc: without the race detector" >&2; }
# By default a race-checked program sleeps a second before it exits: here those are all packages, and what they start.
export GORACE=atexit_sleep_ms=50
# Without the checkout's path in what is compiled, another clone of the same files finds it in the cache. Most of it is
# compiled here, and the compiler takes a fifth less CPU time if it collects its garbage less often.
RACE=$race GOGC=400 ./scripts/lint.sh vet
GOGC=400 go build -trimpath -o bin/redline ./cmd/redline
[ -z "$page" ] || wait "$page"

# go test, with what was skipped and how long packages took kept for the end. The exit code is go test's or testlog's,
# whichever failed (pipefail). With REDLINE_CI a skip fails unless
# its reason is listed: what CI skips, nobody has tried.
go build -trimpath -o bin/testlog ./scripts/testlog
# Tests make and remove some hundred thousand small files, which costs ext4 a quarter of their CPU time: in memory it
# costs next to nothing. The folder's name stays the same, because go test runs a package again when $TMPDIR changes;
# a second run at the same time has another one.
scratch=
if [ -d /dev/shm ] && [ "$(df --output=avail -k /dev/shm | tail -1)" -gt $((8 << 20)) ] &&
  [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -gt $((12 << 20)) ]; then
  scratch=/dev/shm/redline-test-$UID
  mkdir -p "$scratch"
  if [ -O "$scratch" ] && [ ! -L "$scratch" ] && exec {held}<"$scratch" && flock -n "$held"; then
    rm -rf "${scratch:?}"/*
  else
    scratch=$(mktemp -d /dev/shm/redline-test.XXXXXX)
  fi
  chmod 1777 "$scratch" # as /tmp: some tests run as another user
  # In some containers nothing can be run from there.
  if cp "$(type -P true)" "$scratch/runs" && "$scratch/runs"; then
    rm "$scratch/runs"
    export TMPDIR=$scratch
  else
    rm -rf "$scratch"
    scratch=
  fi
fi
kept=$(mktemp)
testlog=$PWD/bin/testlog
failed=0 behind=()
# What fails does not keep the rest from being tried: one run shows all there is to mend.
# lint.sh has vetted all of it, tests as well. By default go test ends a package after ten minutes, which the longest may
# take when a busy machine gives them half of a CPU.
tested() { $nice go test -trimpath -json -vet=off -timeout 40m "$@" | "$testlog" -kept "$kept" || failed=1; }
nice=
# beside runs tested beside what follows, in a process group of its own, which an interrupted run ends.
beside() {
  set -m
  (tested "$@"; exit "$failed") &
  behind+=($!)
  set +m
}
summarised() {
  local code=$? strict= group
  for group in "${behind[@]}"; do kill -- "-$group" 2>/dev/null || true; done
  [ -z "${REDLINE_CI:-}" ] || strict=-strict
  "$testlog" -kept "$kept" -summary scripts/skips.txt $strict || [ "$code" != 0 ] || code=1
  rm -rf "$kept" ${scratch:+"$scratch"}
  exit "$code"
}
trap summarised EXIT
# The race detector makes computing five times slower, and sees nothing in a package
# that starts no goroutine and shares no memory: of these it is for those that do.
computing=(. ./benchmark ./diagnose/... ./assess ./forecast/... ./tune/... ./knee ./knee/render ./history ./lint ./record/... ./report/... ./web/flame ./web/rundata ./web/door ./scenario/... ./stat/... ./verify ./verify/baseline ./verify/render ./verify/session ./compare ./bench/verify ./scripts/typecheck)
sequential=()
while read -r package dir files; do
  if [ -n "$files" ] && (cd "$dir" && grep -qE '^[[:space:]]*go [a-zA-Z(]|"sync(/atomic)?"|errgroup"' ${files//,/ }); then
    continue
  fi
  sequential+=("$package")
done < <(go list -f '{{.ImportPath}} {{.Dir}} {{join .GoFiles ","}}' "${computing[@]}")
# The command's own tests wait for most of their time, four at once: beside all others, because they are the longest. No
# test may need a quiet machine.
beside $race -parallel 4 ./cmd/redline
# What computes yields to what waits for a service, a browser or a database, and takes the CPU that those leave; the
# longest first. Simulated sessions are arithmetic, for which the detector takes ten times as long; what starts
# goroutines there has tests of its own.
nice="nice -n 10 env GOGC=400" # they keep little: collecting less often saves a quarter of their time
mapfile -t sequential < <(printf '%s\n' "${sequential[@]}" | awk '/\/(assess|suite|forecast)$/ { print; next } { rest = rest $0 "\n" } END { printf "%s", rest }')
beside -p "$(nproc)" "${sequential[@]}"
beside -run '^TestSimulated' ./tune/measure ./verify/session
nice=
tested ./web
# Those that wait longest come first, one more at a time than there are cores, and the other modules go along, so that no
# core waits for the last package of each. Of the corpus only what has tests: lint.sh has type-checked every service, and
# `make bench-diagnose` builds and runs them.
waiting=(./service ./web/live ./lab/traced ./run ./service/postgres ./web/shelf ./observe/postgres ./scripts ./bench/faults/kills)
mapfile -t others < <(go list ./... ./lab/... ./kit/... ./corpus/backend/... |
  grep -vxF "$(go list ./cmd/redline ./web "${waiting[@]}" "${sequential[@]}")")
tested $race -p $(($(nproc) + 1)) -skip '^TestSimulated' "${waiting[@]}" "${others[@]}"
for group in "${behind[@]}"; do wait "$group" || failed=1; done
behind=()
exit "$failed"
