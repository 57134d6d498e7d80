package demo

import (
	"testing"

	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/service/gateway"
)

func TestChooseFollowsTheRankOfFindings(t *testing.T) {
	remedies := []gateway.Remedy{
		{Name: "pool", Cures: []string{"db-pool-churn", "db-pool-wait"}},
		{Name: "index", Cures: []string{"db-slow-query"}, Match: []string{"FROM \"orders\""}},
		{Name: "cache", Cures: []string{"db-slow-query", "cpu-saturated"}, Last: true},
		{Name: "history", Cures: []string{"db-slow-query"}, Match: []string{"events"}},
	}
	slow := func(sql string) findings.Finding {
		return findings.Finding{Cause: "db-slow-query", Where: findings.Where{SQL: sql}}
	}
	churn := findings.Finding{Cause: "db-pool-churn"}
	for name, c := range map[string]struct {
		findings []findings.Finding
		taken    map[string]bool
		want     string
	}{
		"best rank first":             {[]findings.Finding{churn, slow(`select * from "orders"`)}, nil, "pool"},
		"the other way round":         {[]findings.Finding{slow(`select * from "orders"`), churn}, nil, "index"},
		"the place decides":           {[]findings.Finding{slow(`select * from order_events`)}, nil, "history"},
		"taken ones are passed":       {[]findings.Finding{churn, slow(`select * from "orders"`)}, map[string]bool{"pool": true}, "index"},
		"no finding, no remedy":       {nil, nil, ""},
		"a cause nobody here cures":   {[]findings.Finding{{Cause: "gc-assist"}}, nil, ""},
		"a place only the last cures": {[]findings.Finding{slow("select 1")}, nil, "cache"},
		"the last waits for others":   {[]findings.Finding{{Cause: "cpu-saturated"}, churn}, nil, "pool"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := choose(c.findings, remedies, c.taken)
			if got.remedy.Name != c.want || ok != (c.want != "") {
				t.Errorf("chose %q, want %q", got.remedy.Name, c.want)
			}
		})
	}
}
