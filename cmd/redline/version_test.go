package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	var out, errs strings.Builder
	if code := execute(t.Context(), []string{"version", "--json"}, &out, &errs); code != exitOK {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	var b build
	if err := json.Unmarshal([]byte(out.String()), &b); err != nil {
		t.Fatalf("%v in %s", err, &out)
	}
	if b.Version == "" || b.Go != runtime.Version() || b.OS != runtime.GOOS || b.Arch != runtime.GOARCH {
		t.Errorf("%+v", b)
	}
	out.Reset()
	if code := execute(t.Context(), []string{"version"}, &out, &errs); code != exitOK ||
		!strings.HasPrefix(out.String(), "redline "+b.Version+" (go") {
		t.Errorf("exit %d: %s", code, &out)
	}
}

func TestBuildOf(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     build
	}{
		{"v1.2.3", nil, build{Version: "v1.2.3"}},
		{"v1.2.3+dirty", revision, build{Version: "v1.2.3+dirty", Revision: "0123456789abcdef", Modified: true}},
		{"(devel)", revision, build{Version: "devel-0123456789ab", Revision: "0123456789abcdef", Modified: true}},
		{"(devel)", nil, build{Version: "devel"}},
		{"", nil, build{Version: "devel"}},
	} {
		var b build
		b.of(&debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings})
		if b != c.want {
			t.Errorf("%s: %+v, want %+v", c.main, b, c.want)
		}
	}
}
