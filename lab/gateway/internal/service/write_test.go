package service_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/middleware"
	"github.com/redline-go/redline/lab/gateway/remedy"
)

// create is an order of n adapters at 19.99.
func create(user int64, key string, n int) call {
	body := fmt.Sprintf(`{"merchant_id":7,"channel":"app","currency":"EUR","card_number":"4000000112345678",
		"items":[{"sku":"SKU-1","name":"Adapter","quantity":%d,"unit_price_cents":1999}]}`, n)
	c := call{method: "POST", path: "/api/v1/orders", user: user, body: body}
	if key != "" {
		c.header = [2]string{"Idempotency-Key", key}
	}
	return c
}

func reverse(user, id int64) call {
	return call{method: "POST", path: fmt.Sprintf("/api/v1/orders/%d/reverse", id), user: user}
}

func TestCreate(t *testing.T) {
	const user = 100
	both(t, func(t *testing.T, g *gateway) {
		before := g.balance(user)
		r := g.want(201, 0, create(user, "", 2))
		if r.Data.AmountCents != 3998 || r.Data.Status != "captured" || len(r.Data.Items) != 1 || len(r.Data.Events) != 2 {
			t.Errorf("made %+v", r.Data)
		}
		if after := g.balance(user); after != before-3998 {
			t.Errorf("balance went from %d to %d", before, after)
		}
		if latest := g.want(200, 0, get(user, "order")); latest.Data.ID != r.Data.ID {
			t.Errorf("latest order is %d, want %d", latest.Data.ID, r.Data.ID)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	const user = 101
	change := func(old, new string) call {
		c := create(user, "", 1)
		c.body = strings.Replace(c.body, old, new, 1)
		return c
	}
	cases := map[string]struct {
		status, code int
		call         call
	}{
		"no token":         {401, 40101, func() call { c := create(user, "", 1); c.user = 0; return c }()},
		"not JSON":         {400, 40002, change("{", "[")},
		"unknown key":      {400, 40002, change("channel", "chanel")},
		"two values":       {400, 40002, call{method: "POST", path: "/api/v1/orders", user: user, body: create(user, "", 1).body + "{}"}},
		"a fraction":       {400, 40002, change("1999", "19.99")},
		"too large":        {413, 41301, change("Adapter", strings.Repeat("x", middleware.BodyLimit))},
		"negative":         {400, 40005, change("1999", "-1999")},
		"overflow":         {400, 40005, change("1999", "9223372036854775807")},
		"no items":         {400, 40005, change(`[{"sku":"SKU-1","name":"Adapter","quantity":1,"unit_price_cents":1999}]`, "[]")},
		"currency":         {400, 40005, change("EUR", "euro")},
		"other currency":   {422, 42201, change("EUR", "DKK")},
		"bad key":          {400, 40004, create(user, "no good key", 1)},
		"no such merchant": {422, 42202, change(`"merchant_id":7`, `"merchant_id":70000`)},
		"too expensive":    {422, 42201, change(`"quantity":1,"unit_price_cents":1999`, `"quantity":1000,"unit_price_cents":99999999`)},
	}
	both(t, func(t *testing.T, g *gateway) {
		before := g.balance(user)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) { g.in(t).want(c.status, c.code, c.call) })
		}
		if after := g.balance(user); after != before {
			t.Errorf("balance went from %d to %d", before, after)
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	both(t, func(t *testing.T, g *gateway) {
		const user = 102
		key := "key-of-" + strings.ReplaceAll(t.Name(), "/", "-")
		before := g.balance(user)
		ids := make([]int64, 8)
		statuses := make([]int, len(ids))
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				a := g.do(create(user, key, 1))
				statuses[i] = a.status
				fmt.Sscanf(a.body[strings.Index(a.body, `"fee_cents":`):], `"fee_cents":52,"id":%d`, &ids[i])
			})
		}
		wg.Wait()
		made := 0
		for i := range ids {
			if ids[i] != ids[0] || ids[i] == 0 {
				t.Errorf("orders %v, want one", ids)
			}
			if statuses[i] == 201 {
				made++
			}
		}
		if made != 1 || g.balance(user) != before-1999 {
			t.Errorf("statuses %v, balance moved by %d; want one order", statuses, g.balance(user)-before)
		}
		g.want(409, 40902, create(user, key, 2))
		// A key is its user's: another may use the same text.
		g.want(201, 0, create(user+1, key, 1))
	})
}

func TestReverse(t *testing.T) {
	both(t, func(t *testing.T, g *gateway) {
		const user = 104
		id := g.want(201, 0, create(user, "", 1)).Data.ID
		before := g.balance(user)
		bodies := make([]string, 8)
		var wg sync.WaitGroup
		for i := range bodies {
			wg.Go(func() { bodies[i] = g.do(reverse(user, id)).body })
		}
		wg.Wait()
		for _, body := range bodies {
			if body != bodies[0] || !strings.Contains(body, `"status":"reversed"`) {
				t.Errorf("reversals differ: %s and %s", body, bodies[0])
			}
		}
		if after := g.balance(user); after != before+1999 {
			t.Errorf("balance went from %d to %d, want the amount back once", before, after)
		}
		r := g.want(200, 0, get(user, "order"))
		if r.Data.Status != "reversed" || len(r.Data.Events) != 3 || r.Data.Events[2].Kind != "reversed" {
			t.Errorf("latest order after the reversal: %+v", r.Data)
		}
	})
}

func TestReverseRefuses(t *testing.T) {
	users := int64(testSize.Users)
	pending := 9*users + 120 // an order of user 120, divisible by 20
	both(t, func(t *testing.T, g *gateway) {
		g.want(404, 40401, reverse(120, 1<<40))
		g.want(404, 40401, reverse(120, 121)) // user 121's
		g.want(409, 40901, reverse(120, pending))
		failed := int64(9 * users)
		for failed++; failed%33 != 0 || failed%20 == 0; failed++ {
		}
		g.want(409, 40901, reverse(failed-9*users, failed))
	})
}

// TestReadsSeeWrites reads hard while one user's orders change: a read that
// begins after a write was answered must show it, cache or not.
func TestReadsSeeWrites(t *testing.T) {
	both(t, func(t *testing.T, g *gateway) {
		const user = 130
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						g.do(get(user, "order"))
					}
				}
			})
		}
		for range 15 {
			id := g.want(201, 0, create(user, "", 1)).Data.ID
			if r := g.want(200, 0, get(user, "order")); r.Data.ID != id {
				t.Errorf("read order %d after %d was made", r.Data.ID, id)
			}
			g.want(200, 0, reverse(user, id))
			if r := g.want(200, 0, get(user, "order")); r.Data.ID != id || r.Data.Status != "reversed" {
				t.Errorf("read %d %s after %d was reversed", r.Data.ID, r.Data.Status, id)
			}
		}
		close(stop)
		wg.Wait()
	})
}

func TestRateLimit(t *testing.T) {
	for name, env := range map[string]map[string]string{"naive": remedy.Naive(), "sound": remedy.Sound()} {
		g := open(t, env, limitTo(3))
		const sent = 60
		var passed atomic.Int64
		var all sync.WaitGroup
		begun := time.Now()
		for range sent {
			all.Go(func() {
				if a := g.do(get(140, "order")); a.status != 429 {
					passed.Add(1)
				}
			})
		}
		all.Wait()
		// Each window of a second lets three through; the first and the last are cut. So
		// many at once are more than that, unless they take a quarter of a minute.
		windows := int64(time.Since(begun)/time.Second) + 2
		if n := passed.Load(); n == 0 || n > 3*windows {
			t.Errorf("%s: %d of %d requests passed in %d windows at 3 per second", name, n, sent, windows)
		}
	}
}
