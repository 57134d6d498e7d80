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

# From a clone, which holds what is committed and nothing else; its tags and commit are stamped as the version.
if [ -n "$(git status --porcelain)" ]; then
  echo "dist: what is not committed is not built" >&2
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git clone -q . "$scratch/checkout"
build "$scratch/checkout" "$out"
if [ "${1:-}" = check ]; then
  # Of the first clone: the branch may have moved on since.
  git clone -q "$scratch/checkout" "$scratch/again/checkout"
  # With a cache of its own, so that no byte comes from the first build. DIST_CACHE names one to keep.
  GOCACHE=${DIST_CACHE:-$scratch/cache} build "$scratch/again/checkout" "$scratch/dist"
  diff "$out/SHA256SUMS" "$scratch/dist/SHA256SUMS" || { echo "dist: built twice, other bytes" >&2; exit 1; }
  echo "dist: built twice, the same bytes"
fi
cat "$out/SHA256SUMS"
