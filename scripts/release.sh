#!/usr/bin/env bash
# Tags a release: scripts/release.sh v1.2.3. Pushes nothing.
#
# Two tags, because two kinds of people fetch from here. VERSION is the module: the command, and the probe's packages,
# whose sources the command embeds. probe/VERSION is for services that import the probe: the same packages as a module
# of their own, without requirements. Through VERSION such a service would need nothing of redline's either, but
# `go mod tidy` would raise what both happen to require to redline's versions, and measuring would change what is
# measured. The go command prefers the longer module path, so `go get .../redline/probe/auto` finds it by itself.
#
# probe/go.mod lies in the tagged commit alone: in the tree it would cut probe/ out of redline's own module.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?which version? scripts/release.sh v1.2.3}
if [[ ! $version =~ ^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$ ]]; then
  echo "release: $version is no semantic version (v1.2.3, v1.2.3-rc.1)" >&2
  exit 2
fi
if [ -n "$(git status --porcelain)" ]; then
  echo "release: the work tree has changes that are not committed" >&2
  exit 1
fi

# A commit beside the branch, made without touching work tree or index.
index=$(mktemp -d)
trap 'rm -rf "$index"' EXIT
export GIT_INDEX_FILE=$index/index
git read-tree HEAD
# The oldest Go whose compiler takes the packages: they use no newer language, and newer library below build tags.
mod=$(printf 'module github.com/redline-go/redline/probe\n\ngo 1.21\n' | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$mod,probe/go.mod"
commit=$(git commit-tree "$(git write-tree)" -p HEAD -m "probe: as a module of its own, $version")

git tag "$version"
git tag "probe/$version" "$commit"
echo "tagged; git push origin $version probe/$version publishes"
