#!/usr/bin/env bash
# Formatting, go.mod, vet and staticcheck in every module, the workflow files, and known vulnerabilities of what is
# linked in. The tools' versions stand in scripts/tools/go.mod, a module of their own: what they require is none of
# redline's business.
set -euo pipefail
cd "$(dirname "$0")/.."
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
  echo "not gofmt'ed:" $unformatted >&2
  exit 1
fi

# Without go.work, as whoever fetches a module sees it. Checksums of modules that only tests of dependencies need are
# fetched once.
for module in . lab corpus scripts/tools; do
  (cd "$module" && GOWORK=off go mod tidy -diff) || { echo "lint: $module/go.mod is not tidy: make tidy" >&2; exit 1; }
done
for module in . lab corpus; do
  (cd "$module" && go vet ./...)
done
(cd scripts/tools && GOWORK=off go vet ./...)

# Where the registry cannot be reached the tools cannot be built: that is no fault of the code.
bin=$PWD/bin/tools
if ! (cd scripts/tools && GOWORK=off go mod download 2>&1); then
  echo "lint: without staticcheck, actionlint and govulncheck: their modules cannot be fetched (above)" >&2
  exit 0
fi
(cd scripts/tools && GOWORK=off GOBIN=$bin go install tool)
for module in . lab corpus; do
  (cd "$module" && "$bin/staticcheck" ./...)
done
"$bin/actionlint" .github/workflows/*.yml

# 3 says that something was found; anything else, that nothing could be decided: mostly the database that is out of reach.
code=0
found=$("$bin/govulncheck" ./cmd/... ./probe/... 2>&1) || code=$?
case $code in
  0) ;;
  3)
    echo "$found" >&2
    exit 1
    ;;
  *) echo "lint: vulnerabilities are not checked: $(tail -1 <<<"$found")" >&2 ;;
esac
