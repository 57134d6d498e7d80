package remedy

import (
	"maps"
	"strings"
	"testing"
)

func from(v map[string]string) func(string) (string, bool) {
	return func(env string) (string, bool) { s, ok := v[env]; return s, ok }
}

func TestParse(t *testing.T) {
	empty, err := Parse(from(nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Settings{Workers: 100, UnlockedReads: true}); empty != want {
		t.Errorf("nothing set is %+v, want the naive %+v", empty, want)
	}
	sound, err := Parse(from(Sound()))
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{Index: true, Pool: 64, Prepared: true, Batched: true, BatchedWrites: true, AppendJSON: true,
		AsyncLog: true, RegexpOnce: true,
		TrimmedChain: true, ShardedTable: true, BatchedAudit: true, PooledBuffers: true, GC: GC{400, 512 << 20},
		UnlockedReads: true, Cache: true}
	if sound != want {
		t.Errorf("sound is %+v, want %+v", sound, want)
	}
	for env, bad := range map[string]string{
		"GATEWAY_INDEX": "maybe", "GATEWAY_POOL": "0", "GATEWAY_GC": "400/512", "GATEWAY_WORKERS": "-1",
		"GATEWAY_PACE": "NaN", "GATEWAY_LEDGER_LOCK": "x",
	} {
		if _, err := Parse(from(map[string]string{env: bad})); err == nil || !strings.Contains(err.Error(), env) {
			t.Errorf("%s=%s: error is %v", env, bad, err)
		}
	}
}

func TestTablesAreConsistent(t *testing.T) {
	seen := map[string]bool{}
	unique := func(name string) {
		if name == "" || seen[name] {
			t.Errorf("name %q is empty or taken", name)
		}
		seen[name] = true
	}
	remedied := map[string]bool{}
	for _, r := range Remedies() {
		unique("remedy " + r.Name)
		if !known(r.Env) || r.Title == "" || len(r.Cures) == 0 {
			t.Errorf("remedy %s is incomplete: %+v", r.Name, r)
		}
		if want := Sound()[r.Env]; r.On != want {
			t.Errorf("remedy %s turns %s to %s, but sound is %s", r.Name, r.Env, r.On, want)
		}
		remedied[r.Env] = true
	}
	for _, w := range Switches() {
		unique("switch " + w.Name)
		unique(w.Env)
		if !remedied[w.Env] || w.Doc == "" {
			t.Errorf("switch %s has no remedy or no doc", w.Name)
		}
	}
	cured := func(f Fault, env string) bool {
		for _, r := range Remedies() {
			for _, cause := range r.Cures {
				if r.Env == env && cause == f.Cause {
					return true
				}
			}
		}
		return false
	}
	for _, f := range Faults() {
		unique("fault " + f.Name)
		if _, err := Parse(from(f.Env)); err != nil {
			t.Errorf("fault %s: %v", f.Name, err)
		}
		base := Sound()
		base["GATEWAY_CACHE"] = f.Env["GATEWAY_CACHE"]
		var differ []string
		for env := range maps.Keys(base) {
			if base[env] != f.Env[env] {
				differ = append(differ, env)
			}
		}
		if len(differ) != 1 || !cured(f, differ[0]) || f.Load.Connections < 1 {
			t.Errorf("fault %s differs from healthy in %v; want one switch that cures %s", f.Name, differ, f.Cause)
		}
	}
}
