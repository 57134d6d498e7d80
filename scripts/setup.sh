#!/usr/bin/env bash
# Installs what the demo and the tests need besides Go and make, when root on
# Debian or Ubuntu; otherwise says exactly what to install. PostgreSQL is not
# required: without it redline fetches pinned binaries.
set -euo pipefail

missing=()
command -v git >/dev/null || missing+=(git)
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null || missing+=(postgresql)
if [ "${REDLINE_SETUP:-demo}" = test ]; then
  command -v gcc >/dev/null || missing+=(gcc libc6-dev) # the race detector needs cgo
  command -v chromium >/dev/null || missing+=(chromium)
  command -v npm >/dev/null || missing+=(npm)
  command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
  command -v redis-server >/dev/null || missing+=(redis-server)
fi
if [ "${REDLINE_SETUP:-demo}" = bench ]; then # the load generators to compare with, and their server
  command -v gcc >/dev/null || missing+=(gcc libc6-dev)
  command -v wrk >/dev/null || missing+=(wrk)
  command -v h2load >/dev/null || missing+=(nghttp2-client)
  command -v ab >/dev/null || missing+=(apache2-utils)
  command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing+=(nginx-light)
fi
# hypopg belongs to one version of PostgreSQL, and not every repository has it: its
# tests say when they are skipped.
hypothetical() {
  local major
  major=$(ls /usr/lib/postgresql 2>/dev/null | sort -V | tail -1)
  [ "${REDLINE_SETUP:-demo}" = test ] && [ -n "$major" ] && [ ! -e "/usr/share/postgresql/$major/extension/hypopg.control" ] || return 0
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
  apt-get install -y -qq --no-install-recommends "postgresql-$major-hypopg" >/dev/null 2>&1 || echo "setup: no package postgresql-$major-hypopg" >&2
}

if [ ${#missing[@]} -eq 0 ]; then
  hypothetical
  exit 0
fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing: ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  hypothetical
else
  echo "setup: not root, so not installed: ${missing[*]}" >&2
  echo "setup: on Debian or Ubuntu: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
fi
