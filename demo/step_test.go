package demo

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/service/gateway"
)

// listed are remedies such as the gateway lists them.
var listed = []gateway.Remedy{
	{Name: "index", Env: "INDEX", On: "1", Cures: []string{"db-slow-query"}},
	{Name: "pool", Env: "POOL", On: "64", Cures: []string{"db-pool-churn", "db-pool-wait"}},
	{Name: "prepared", Env: "PREPARED", On: "1", Cures: []string{"db-unprepared"}},
	{Name: "cache", Env: "CACHE", On: "1", Cures: []string{"cpu-saturated"}, Last: true},
}

func TestNextStep(t *testing.T) {
	churn, slow, full := findings.Finding{Cause: "db-pool-churn"}, findings.Finding{Cause: "db-slow-query"},
		findings.Finding{Cause: "cpu-saturated"}
	for _, c := range []struct {
		name, ladder string
		findings     []findings.Finding
		taken        []ladder.Step
		step, called string
	}{
		{"order: the first finding", ladder.Order, []findings.Finding{churn, slow}, []ladder.Step{first(ladder.Order)}, "pool", "db-pool-churn"},
		{"order: what was taken is not taken again", ladder.Order, []findings.Finding{churn, slow},
			[]ladder.Step{first(ladder.Order), {Name: "pool", Remedies: []string{"pool"}}}, "index", "db-slow-query"},
		{"order: no finding, no step", ladder.Order, nil, []ladder.Step{first(ladder.Order)}, "", ""},
		{"stack: its own order, and the finding that agrees", ladder.Stack, []findings.Finding{full, churn}, []ladder.Step{first(ladder.Stack)}, "pool", "db-pool-churn"},
		{"stack: no finding calls for it", ladder.Stack, []findings.Finding{full}, []ladder.Step{first(ladder.Stack)}, "pool", ""},
		{"stack: the second", ladder.Stack, nil, []ladder.Step{first(ladder.Stack), stack[0]}, "prepared", ""},
		{"stack: the end", ladder.Stack, []findings.Finding{full}, append([]ladder.Step{first(ladder.Stack)}, stack...), "", ""},
	} {
		got, ok := next(c.ladder, c.findings, listed, c.taken)
		if got.Name != c.step || got.Finding != c.called || ok != (c.step != "") {
			t.Errorf("%s: %+v, %t", c.name, got, ok)
		}
	}
}

// TestRest: what no finding called for is one step, once.
func TestRest(t *testing.T) {
	step, ok := rest(listed, []ladder.Step{first(ladder.Order), {Remedies: []string{"pool", "index"}}})
	if !ok || strings.Join(step.Remedies, " ") != "prepared cache" || step.Finding != "" {
		t.Errorf("%+v, %t", step, ok)
	}
	if step, ok := rest(listed, []ladder.Step{{Remedies: []string{"pool", "index"}}, step}); ok {
		t.Errorf("with all taken there is %+v", step)
	}
}

// TestSwitches: a rung has those of all rungs below, and none that the gateway lacks.
func TestSwitches(t *testing.T) {
	env, err := switches(listed, []ladder.Step{first(ladder.Stack), {Name: "both", Remedies: []string{"pool", "cache"}}})
	if err != nil || len(env) != 3 || env["INDEX"] != "1" || env["POOL"] != "64" || env["CACHE"] != "1" {
		t.Errorf("%v, %v", env, err)
	}
	if env, err := switches(listed, []ladder.Step{{Name: "x", Remedies: []string{"turbo"}}}); err == nil {
		t.Errorf("a switch that is not there gives %v", env)
	}
	if env, err := switches(listed, []ladder.Step{first(ladder.Order)}); err != nil || len(env) != 0 {
		t.Errorf("the service as found has switches on: %v, %v", env, err)
	}
}

func TestPgbenchRate(t *testing.T) {
	const out = "latency average = 0.6 ms\ninitial connection time = 12.3 ms\ntps = 26431.178954 (without initial connection time)\n"
	if rate, err := pgbenchRate([]byte(out)); err != nil || rate != 26431.178954 {
		t.Errorf("%v, %v", rate, err)
	}
	if rate, err := pgbenchRate([]byte("fatal: no database")); err == nil {
		t.Errorf("without a rate: %v", rate)
	}
}

func TestCopiesOfADatabase(t *testing.T) {
	d, err := copyOf("postgres://me:secret@127.0.0.1:5/gateway?sslmode=disable")
	if err != nil || d.copies[0] != "postgres://me:secret@127.0.0.1:5/gateway_rung_a?sslmode=disable" || d.copies[1] == d.copies[0] {
		t.Errorf("%+v, %v", d, err)
	}
	for _, dsn := range []string{"host=127.0.0.1 dbname=x", "postgres://127.0.0.1/", "://"} {
		if _, err := copyOf(dsn); err == nil {
			t.Errorf("%s has copies", dsn)
		}
	}
}
