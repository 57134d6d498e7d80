package service

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/record/statement"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/postgres"
)

// TestEveryStatementIsJoined: for the lab's gateway, which asks through GORM,
// database/sql and pgx, the hooks count every SELECT that the server counts, as often as
// it does.
func TestEveryStatementIsJoined(t *testing.T) {
	db, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Stop(context.WithoutCancel(t.Context())) }()
	conn, err := pgx.Connect(t.Context(), db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, text := range orderSchema {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	lab, address := filepath.Join("..", "lab", "gateway"), freeAddress(t)
	binary := filepath.Join(t.TempDir(), "gateway")
	if built, err := BuildInstrumented(t.Context(), lab, binary); err != nil || len(built.Left) > 0 {
		t.Fatal(built.Left, err)
	}
	out, err := exec.Command(binary, "tokens", "--n", "1").Output()
	if err != nil {
		t.Fatal(err)
	}
	token := strings.Split(strings.Split(string(out), "\n")[1], ",")[1]
	o := options(t, address, scenario.Target{
		Build: lab, Args: []string{"--addr", address}, Ready: "http://" + address + "/healthz",
		Env: map[string]string{"GATEWAY_DSN": db.DSN, "GATEWAY_BATCHED": "0", "GATEWAY_POOL": "64", "GATEWAY_CACHE": "0"},
	})
	o.Binary = binary
	svc, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	requests := func(n int) {
		for range n {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/order?uid=1", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", answer.Status, body)
			}
		}
	}
	requests(2) // connections are open and statements prepared
	server, hooks := counted(t, conn), hooked(t, svc)
	requests(5)
	for text, n := range counted(t, conn) {
		n -= server[text]
		if got := hooked(t, svc)[text] - hooks[text]; got != n {
			t.Errorf("the server counts %d calls, the hooks %d: %s", n, got, text)
		}
		server[text] = n
	}
	if most := server[statement.Normal(`SELECT * FROM "order_items" WHERE "order_items"."id" = $1 LIMIT $2`)]; most != 10 {
		t.Errorf("%d calls of the statement that is repeated, not 10: %v", most, server)
	}
}

// orderSchema is the gateway's, with one order of two items and two events.
var orderSchema = []string{
	"CREATE TABLE gateway_seed (version int, users int, orders int, banks int)", "INSERT INTO gateway_seed VALUES (1, 1, 1, 1)",
	"CREATE TABLE banks (prefix bigint PRIMARY KEY, brand text NOT NULL, issuer text NOT NULL, country text NOT NULL)",
	"INSERT INTO banks VALUES (411111, 'v', 'i', 'DE')",
	"CREATE TABLE accounts (id bigint PRIMARY KEY)",
	"CREATE TABLE merchants (id bigint PRIMARY KEY, name text NOT NULL)",
	"CREATE TABLE orders (id bigint PRIMARY KEY, user_id bigint, merchant_id bigint, amount_cents bigint, fee_cents bigint, created_at timestamptz, updated_at timestamptz, reversed_at timestamptz, status text, currency text, channel text, card_number text, client_ip text, idempotency_key text)",
	"CREATE TABLE order_items (id bigint PRIMARY KEY, order_id bigint, sku text, name text, quantity bigint, unit_price_cents bigint)",
	"CREATE TABLE order_events (id bigint PRIMARY KEY, order_id bigint, at timestamptz, kind text, actor text, note text)",
	"INSERT INTO merchants VALUES (1, 'm')",
	"INSERT INTO orders VALUES (1, 1, 1, 100, 1, now(), now(), NULL, 'paid', 'EUR', 'web', '4111', '127.0.0.1', NULL)",
	"INSERT INTO order_items VALUES (1, 1, 'a', 'a', 1, 50), (2, 1, 'b', 'b', 1, 50)",
	"INSERT INTO order_events VALUES (1, 1, now(), 'placed', 'a', ''), (2, 1, now(), 'paid', 'a', '')",
	"CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
}

// counted returns how often the server ran each SELECT of the service, by normal form.
func counted(t *testing.T, conn *pgx.Conn) map[string]int {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT query, calls FROM pg_stat_statements WHERE query LIKE 'SELECT%' AND "+
		"query NOT LIKE '%pg_stat%'")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for rows.Next() {
		var text string
		var n int
		if err := rows.Scan(&text, &n); err != nil {
			t.Fatal(err)
		}
		calls[statement.Normal(text)] += n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

var operation = regexp.MustCompile(`(?m)^op \d+ [12] (\d+) .*? ("(?:[^"\\]|\\.)*")$`)

// hooked returns what the hooks counted, by normal form too.
func hooked(t *testing.T, svc *Target) map[string]int {
	t.Helper()
	calls := map[string]int{}
	for _, m := range operation.FindAllStringSubmatch(ask(t, svc, control.Request{Op: control.Operations}), -1) {
		n, err := strconv.Atoi(m[1])
		text, quoted := strconv.Unquote(m[2])
		if err != nil || quoted != nil {
			t.Fatal(m[0], err, quoted)
		}
		calls[statement.Normal(text)] += n
	}
	return calls
}
