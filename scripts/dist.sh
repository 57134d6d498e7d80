#!/usr/bin/env bash
# Builds the command for every platform into bin/dist: static binaries, an SBOM (CycloneDX) beside each, checksums.
# DIST="linux/amd64" builds fewer, DIST_OUT names another folder.
#
# The same commit and the same Go give the same bytes, wherever the checkout lies: paths are trimmed, there is no build
# id, C stays out, and what go.work or the caller's GOFLAGS would change is left aside. `scripts/dist.sh check` proves
# it: it builds again from a clone, with nothing cached.
set -euo pipefail
cd "$(dirname "$0")/.."
platforms=${DIST:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
out=${DIST_OUT:-bin/dist}

# go install uses no workspace either: what it selects is what is released.
export GOWORK=off GOFLAGS= CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT=
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

build() { # checkout, folder
  local platform os arch binary
  rm -rf "$2" && mkdir -p "$2"
  (cd "$1/scripts/tools" && go build -o "$2/sbom" ./sbom)
  for platform in $platforms; do
    os=${platform%/*} arch=${platform#*/}
    binary=$2/redline_${os}_$arch
    (cd "$1" && GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=true -ldflags "-s -w -buildid=" -o "$binary" ./cmd/redline)
    "$2/sbom" "$binary" >"$binary.cdx.json"
  done
  rm "$2/sbom"
  (cd "$2" && sha256sum redline_* >SHA256SUMS)
}

mkdir -p "$out"
out=$(cd "$out" && pwd)
build "$PWD" "$out"
if [ "${1:-}" = check ]; then
  if [ -n "$(git status --porcelain)" ]; then
    echo "dist: a clone lacks what is not committed: nothing to compare with" >&2
    exit 1
  fi
  again=$(mktemp -d)
  trap 'rm -rf "$again"' EXIT
  git clone -q . "$again/checkout"
  # Tags decide the version that is stamped; a clone has them. Another cache, so that no byte is taken from the first.
  GOCACHE=$again/cache build "$again/checkout" "$again/dist"
  diff "$out/SHA256SUMS" "$again/dist/SHA256SUMS" || { echo "dist: built twice, other bytes" >&2; exit 1; }
  echo "dist: built twice, the same bytes"
fi
cat "$out/SHA256SUMS"
