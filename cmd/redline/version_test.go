package main

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
)

func TestVersion(t *testing.T) {
	var out, errs strings.Builder
	if code := execute(t.Context(), []string{"version", "--json"}, &out, &errs); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	var b cli.Build
	if err := json.Unmarshal([]byte(out.String()), &b); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	if b.Version == "" || b.Go != runtime.Version() || b.OS != runtime.GOOS || b.Arch != runtime.GOARCH {
		t.Errorf("%+v", b)
	}
	out.Reset()
	if code := execute(t.Context(), []string{"version"}, &out, &errs); code != cli.ExitOK ||
		!strings.HasPrefix(out.String(), "redline "+b.Version+" (go") {
		t.Errorf("exit %d: %s", code, &out)
	}
}
