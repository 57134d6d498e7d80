package ladder

import (
	"strings"
	"testing"
)

func TestAccount(t *testing.T) {
	for _, c := range []struct {
		name    string
		account Account
		fault   string
	}{
		{"balanced", Account{Made: 100, Rows: 100}, ""},
		{"one that nobody knows of is there", Account{Made: 100, Open: 1, Rows: 101}, ""},
		{"one that nobody knows of is not", Account{Made: 100, Open: 1, Rows: 100}, ""},
		{"lost", Account{Made: 100, Rows: 98}, "2 orders are lost: clients know of 100"},
		{"lost although others are open", Account{Made: 100, Open: 3, Rows: 99}, "1 order is lost"},
		{"doubled", Account{Made: 100, Rows: 101}, "1 order is doubled"},
		{"more than are open", Account{Made: 100, Open: 1, Rows: 103}, "2 orders are doubled"},
		{"money", Account{Made: 1, Rows: 1, Cents: -2500}, "-2500 cents"},
	} {
		if got := c.account.Fault(); !strings.Contains(got, c.fault) || (got == "") != (c.fault == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
	if sum := (Account{1, 2, 3, 4}).Plus(Account{10, 20, 30, 40}); sum != (Account{11, 22, 33, 44}) {
		t.Errorf("sum %+v", sum)
	}
}

func TestSame(t *testing.T) {
	read := func(body string) Answer { return Answer{"GET /order", 200, []byte(body), false} }
	written := func(body string) Answer { return Answer{"POST /orders", 201, []byte(body), true} }
	const order = `{"data":{"id":7,"amount_cents":2500,"items":[{"id":1,"sku":"A"}],"created_at":"2026-01-01T00:00:00Z"}}`
	for _, c := range []struct {
		name           string
		naive, variant Answer
		same           bool
	}{
		{"the same bytes", read(order), read(order), true},
		{"the same JSON", read(`{"a":1,"b":[2]}`), read("{\"b\": [2], \"a\":1}\n"), true},
		{"no JSON, the same bytes", read("ok"), read("ok"), true},
		{"no JSON", read("ok"), read("OK"), false},
		{"another value", read(order), read(strings.Replace(order, "2500", "2501", 1)), false},
		{"beyond float64", read(`{"a":9007199254740993}`), read(`{"a":9007199254740992}`), false},
		{"a read with another number", read(order), read(strings.Replace(order, `"id":7`, `"id":8`, 1)), false},
		{"a new order with another number", written(order),
			written(strings.NewReplacer(`"id":7`, `"id":8`, "2026-01", "2026-02").Replace(order)), true},
		{"a new order with another amount", written(order), written(strings.Replace(order, "2500", "0", 1)), false},
		{"a new order without a number", written(order), written(strings.Replace(order, `"id":7,`, "", 1)), false},
		{"another status", read(order), Answer{"GET /order", 500, []byte(order), false}, false},
		{"another request", read(order), written(order), false},
	} {
		if err := Same([]Answer{c.naive}, []Answer{c.variant}); (err == nil) != c.same {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if Same([]Answer{read(order)}, nil) == nil {
		t.Error("an answer that is missing is the same")
	}
}
