#!/bin/sh
# Builds web/page/dist, which is committed: redline itself needs no node.
# Usage: build.sh [folder]   (the folder is for tests that compare)
set -eu
cd "$(dirname "$0")"
if [ ! -d node_modules/esbuild ]; then
	npm ci --ignore-scripts --no-audit --no-fund
fi
# tsc keeps what it knows of sources that have not changed.
node_modules/.bin/tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/tsc.tsbuildinfo
node build.mjs "$@"
