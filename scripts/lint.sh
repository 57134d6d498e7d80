#!/usr/bin/env bash
# Formatting, go.mod, vet and staticcheck in every module, the workflow files, and known vulnerabilities of what is
# linked in. The tools' versions stand in scripts/tools/go.mod, a module of their own: what they require is none of
# redline's business.
set -euo pipefail
cd "$(dirname "$0")/.."

# unchecked says what cannot be checked here. CI reaches everything: there it is a hole.
unchecked() {
  echo "lint: $*" >&2
  [ -z "${REDLINE_CI:-}" ] || exit 1
}

unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
  echo "not gofmt'ed:" $unformatted >&2
  exit 1
fi

# Files that only the race detector's builds read are listed with them: two packages in one folder fail here.
for module in . lab corpus kit; do
  (cd "$module" && go list -tags race ./... >/dev/null)
done

# vet reads what is imported in its compiled form. The tests compile it anyway, with the race detector where there is
# one ($RACE), save for macOS and for the corpus, whose services only a bench builds: of these only the types are
# checked, from their sources.
if [ "${1:-}" = vet ]; then
  for module in . lab kit; do
    (cd "$module" && go vet ${RACE:-} -trimpath ./...)
  done
  go build -trimpath -o bin/typecheck ./scripts/typecheck
  typecheck=$PWD/bin/typecheck
  (cd corpus && "$typecheck" ./...) &
  corpus=$!
  GOOS=darwin GOARCH=arm64 "$typecheck" ./...
  wait "$corpus"
  exit 0
fi

# Without go.work, as whoever fetches a module sees it. Tidying asks the registry for modules that only tests of
# dependencies need: where it cannot be reached, the reason is printed.
for module in . lab corpus kit scripts/tools; do
  errors=$(mktemp)
  tidy=yes
  difference=$(cd "$module" && GOWORK=off go mod tidy -diff 2>"$errors") || tidy=
  if [ -n "$difference" ]; then
    printf '%s\nlint: %s/go.mod is not tidy: make tidy\n' "$difference" "$module" >&2
    exit 1
  fi
  [ -n "$tidy" ] || unchecked "$module is not checked for tidiness: $(grep -v '^go: \(downloading\|finding\)' "$errors")"
  rm "$errors"
done
for module in . lab corpus kit; do
  (cd "$module" && go vet -trimpath ./...)
done
(cd scripts/tools && GOWORK=off go vet -trimpath ./...)

# Where the registry cannot be reached the tools cannot be built: that is no fault of the code.
bin=$PWD/bin/tools
if ! (cd scripts/tools && GOWORK=off go mod download 2>&1); then
  unchecked "without staticcheck, actionlint and govulncheck: their modules cannot be fetched (above)"
  exit 0
fi
(cd scripts/tools && GOWORK=off GOBIN=$bin go install tool)
for module in . lab corpus kit; do
  (cd "$module" && "$bin/staticcheck" ./...)
done
"$bin/actionlint" .github/workflows/*.yml

# 3 says that something was found; anything else, that nothing could be decided.
if ! why=$(curl -fsS --max-time 10 -o /dev/null https://vuln.go.dev/index/db.json 2>&1); then
  unchecked "vulnerabilities are not checked: $why"
  exit 0
fi
code=0
found=$("$bin/govulncheck" ./cmd/... ./probe/... 2>&1) || code=$?
case $code in
  0) ;;
  3)
    echo "$found" >&2
    exit 1
    ;;
  *) unchecked "vulnerabilities are not checked: $(tail -1 <<<"$found")" ;;
esac
