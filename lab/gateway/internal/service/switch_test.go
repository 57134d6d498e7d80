package service_test

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/lab/gateway/internal/service"
	"github.com/redline-go/redline/lab/gateway/remedy"
)

func limitTo(perSecond int) func(*service.Options) {
	return func(o *service.Options) { o.RateLimit = perSecond }
}

// TestSwitchesReachTheDatabase checks what a switch changes where another
// program can see it.
func TestSwitchesReachTheDatabase(t *testing.T) {
	indexed := func() bool {
		return query[int](t, "SELECT count(*) FROM pg_indexes WHERE indexname = 'orders_user_created_idx'") == 1
	}
	statements := func(env map[string]string) (calls int) {
		g := open(t, env, nil)
		g.do(get(150, "order")) // prepares what is prepared
		query[any](t, "SELECT pg_stat_statements_reset()")
		g.do(get(150, "order"))
		return query[int](t,
			`SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query ~* 'from "?(orders|order_items|order_events|merchants)"?'`)
	}
	// User 150's latest order has 2 + 3750 % 3 items and 4 events.
	naive := remedy.Naive()
	if n := statements(naive); n != 1+1+1+2+1+4 {
		t.Errorf("the naive gateway sends %d statements for an order, want 10", n)
	}
	if indexed() {
		t.Error("the naive gateway has the index")
	}
	naive["GATEWAY_BATCHED"] = "1"
	if n := statements(naive); n != 3 {
		t.Errorf("the batched gateway sends %d statements for an order, want 3", n)
	}
	if n := statements(remedy.Sound()); n != 0 {
		t.Errorf("the cached gateway sends %d statements for an order it has, want 0", n)
	}
	if !indexed() {
		t.Error("the sound gateway has no index")
	}
}

// TestWritesInOneStatement: an order with two items and two events costs an insert for each
// row, and one per table where they are batched.
func TestWritesInOneStatement(t *testing.T) {
	two := create(151, "", 1)
	two.body = strings.Replace(two.body, `"items":[`, `"items":[{"sku":"SKU-2","name":"Cups","quantity":1,"unit_price_cents":5},`, 1)
	inserts := func(env map[string]string) (calls int) {
		g := open(t, env, nil)
		g.want(201, 0, two) // prepares what is prepared
		query[any](t, "SELECT pg_stat_statements_reset()")
		g.want(201, 0, two)
		return query[int](t, `SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query ~* 'insert into "?order_(items|events)"?'`)
	}
	naive := remedy.Naive()
	if n := inserts(naive); n != 2+2 {
		t.Errorf("the naive gateway sends %d inserts, want 4", n)
	}
	naive["GATEWAY_WRITE_BATCH"] = "1"
	if n := inserts(naive); n != 2 {
		t.Errorf("with batched writes the gateway sends %d inserts, want 2", n)
	}
}

func TestMetricsPage(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"naive": {remedy.Naive(), `http_requests_total{method="GET",route="/api/v1/order",status="200",user_agent=""} 2`},
		"sound": {remedy.Sound(), `http_requests_total{method="GET",route="/api/v1/order",status="2xx"} 2`},
	} {
		g := open(t, c.env, nil)
		g.do(get(1, "order"))
		g.do(get(1, "order"))
		if a := g.do(call{method: "GET", path: "/metrics"}); a.status != 200 || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d, no %s in\n%s", name, a.status, c.want, a.body)
		}
	}
}
