#!/usr/bin/env bash
# Formatting and vet, in every module.
set -euo pipefail
cd "$(dirname "$0")/.."
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
  echo "not gofmt'ed:" $unformatted >&2
  exit 1
fi
for module in . lab corpus; do
  (cd "$module" && go vet ./...)
done
