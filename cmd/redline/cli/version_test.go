package cli

import (
	"runtime/debug"
	"testing"
)

func TestBuildOf(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     Build
	}{
		{"v1.2.3", nil, Build{Version: "v1.2.3"}},
		{"v1.2.3+dirty", revision, Build{Version: "v1.2.3+dirty", Revision: "0123456789abcdef", Modified: true}},
		{"(devel)", revision, Build{Version: "devel-0123456789ab", Revision: "0123456789abcdef", Modified: true}},
		{"(devel)", nil, Build{Version: "devel"}},
		{"", nil, Build{Version: "devel"}},
	} {
		var b Build
		b.of(&debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings})
		if b != c.want {
			t.Errorf("%s: %+v, want %+v", c.main, b, c.want)
		}
	}
}
