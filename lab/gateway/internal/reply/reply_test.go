package reply

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

func sample() *order.Order {
	at := time.Date(2026, 3, 1, 12, 0, 0, 250_000_000, time.UTC)
	return &order.Order{
		AmountCents: 123456, Card: order.Card{Brand: "visa", Country: "IE", Issuer: "Bank of Cork <7> & Sons", Number: "4000000112345678"},
		Channel: "app", ClientIP: "10.0.0.1", CreatedAt: at, Currency: "EUR", FeeCents: 77, ID: 180_001, UserID: 1,
		Merchant: order.Merchant{ID: 9, Name: "Elm \"9\"\u2028"}, OrderNo: "PG000000180001", Status: order.Captured,
		UpdatedAt: at.Add(time.Second),
		Items:     []order.Item{{AmountCents: 2, ID: 5, Name: "Café\x00", Quantity: 1, SKU: "S-1", UnitPriceCents: 2}, {ID: 6}},
		Events:    []order.Event{{Actor: "customer", At: at, ID: 8, Kind: "created", Note: "a\nb"}},
	}
}

func encode(t *testing.T, e Encoder, o *order.Order) string {
	t.Helper()
	var b bytes.Buffer
	if err := e.Order(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEncodersAgree(t *testing.T) {
	reversed := sample()
	now := time.Date(2026, 4, 1, 0, 0, 0, 123_456_000, time.UTC)
	reversed.ReversedAt = &now
	for name, o := range map[string]*order.Order{
		"plain": sample(), "reversed": reversed, "empty": {Items: []order.Item{}, Events: []order.Event{}},
	} {
		naive, fast := encode(t, Encoder{}, o), encode(t, Encoder{Append: true}, o)
		if naive != fast {
			t.Errorf("%s:\nnaive %s\nfast  %s", name, naive, fast)
		}
		if strings.Contains(fast, "4000000112345678") {
			t.Errorf("%s: the card's number is not masked: %s", name, fast)
		}
	}
	account := &order.Balance{BalanceCents: 500, Currency: "EUR", Name: "Customer 1", Phone: "+49120001234", UpdatedAt: now, UserID: 1}
	var naive, fast bytes.Buffer
	if err := (Encoder{}).Balance(&naive, account); err != nil {
		t.Fatal(err)
	}
	if err := (Encoder{Append: true}).Balance(&fast, account); err != nil {
		t.Fatal(err)
	}
	if naive.String() != fast.String() || !strings.Contains(fast.String(), `"+491****1234"`) {
		t.Errorf("balance:\nnaive %s\nfast  %s", &naive, &fast)
	}
}

func TestFailure(t *testing.T) {
	var b bytes.Buffer
	Encoder{}.Failure(&b, 40401, "no <such> order")
	if want := `{"code":40401,"data":null,"message":"no \u003csuch\u003e order"}`; b.String() != want {
		t.Errorf("body is %s", &b)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "plain", `"\`, "<&>\u2028\u2029", "\xff\xc0é", "\x00\x1f\x7f\b\f\n\r\t", "日本\U0001F600"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<12 {
			t.Skip("longer than any field")
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, s); string(got) != string(want) {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	})
}
