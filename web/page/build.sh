#!/bin/sh
# Builds web/page/dist, which is committed: redline itself needs no node.
# Usage: build.sh [folder]   (the folder is for tests that compare)
set -eu
cd "$(dirname "$0")"
if [ ! -d node_modules/esbuild ]; then
	npm ci --ignore-scripts --no-audit --no-fund
fi
npx --no-install tsc --noEmit
node build.mjs "$@"
