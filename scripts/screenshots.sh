#!/usr/bin/env bash
# Makes the pictures of the pages that README and docs show, docs/pictures/*.png, of real runs of two services of the
# corpus. Look at them before they are committed; docs/guide.md quotes figures of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
work=$(mktemp -d)
serving= registry=
trap 'for p in $serving $registry; do kill "$p" 2>/dev/null || true; done; rm -rf "$work"' EXIT
[ -d web/page/node_modules/playwright-core ] || (cd web/page && npm ci --ignore-scripts --no-audit --no-fund >/dev/null)

# address FILE: the URL that redline prints into it.
address() {
  local url=
  until url=$(grep -o 'http://127[^ ]*' "$1" | head -1) && [ -n "$url" ]; do sleep 0.1; done
  echo "$url"
}
shot() { (cd "$root/web/page" && node shots.mjs "$@"); }

# A service whose requests wait for a lock, because the browser needs most of two CPUs: what waits is found beside it.
# The registry that it asks answers in 4 ms, and in the run that is compared in 2 ms.
cd corpus
go build -o "$work/backend" ./backend
answering() {
  [ -z "$registry" ] || { kill "$registry"; wait "$registry" || true; }
  "$work/backend" -latency "$1" -jitter 1ms >"$work/backend.log" 2>&1 &
  registry=$!
  BACKEND_URL=$(address "$work/backend.log")
  export BACKEND_URL
}
load=(sick/vet-referrals/scenario.yaml -d 40s --plain)
answering 4ms
"$root/bin/redline" run "${load[@]}" -o "$work/watched" --web >/dev/null 2>"$work/live.log" &
measuring=$!
shot "$(address "$work/live.log")" "$root/docs/pictures/live.png" "#findings .finding" 35
wait "$measuring" || true # the browser took its CPU: the report that is shown is of a run that nobody watched
"$root/bin/redline" run "${load[@]}" -o "$work/runs/before" >/dev/null 2>&1
answering 2ms
"$root/bin/redline" run "${load[@]}" -o "$work/runs/registry-2ms" >/dev/null 2>&1

shot "file://$work/runs/before/report.html" "$root/docs/pictures/report.png"
"$root/bin/redline" serve "$work/runs" >"$work/serve.log" 2>/dev/null &
serving=$!
url=$(address "$work/serve.log")
shot "$url" "$root/docs/pictures/shelf.png" .shelf-row 5 420
shot "${url}compare?a=before&b=registry-2ms" "$root/docs/pictures/compare.png"

# The run that docs/guide.md walks through.
"$root/bin/redline" run sick/address-rules/scenario.yaml --plain -o "$work/guide" >/dev/null 2>&1
guide() { shot "file://$work/guide/report.html" "$root/docs/pictures/guide-$1.png" "${@:2}"; }
guide headline .finding 5 1130
guide anatomy .finding 5 625 "#anatomy"
guide over-time .finding 5 740 "#series"
ls -l "$root"/docs/pictures/*.png
