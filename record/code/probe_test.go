package code

import "testing"

func TestProbe(t *testing.T) {
	for f, want := range map[Frame]bool{
		{Function: "github.com/redline-go/redline/probe/control.(*Server).trace"}:   true,
		{Function: "shop/internal/redlineprobe/operations.begin"}:                   true,
		{Function: "type:.eq.shop/internal/redlineprobe/operations.rawKey"}:         true,
		{Function: "database/sql.redlineStart", File: "/cache/zz_redline_hooks.go"}: true,
		{Function: "github.com/redline-go/redline/probes.Run"}:                      false,
		{Function: "shop/internal/redline.Lap", File: "/src/lap.go"}:                false,
		{Function: "database/sql.(*DB).redline_conn", File: "/go/sql.go"}:           false,
	} {
		if Probe(f) != want {
			t.Errorf("%+v: %v", f, !want)
		}
	}
}
