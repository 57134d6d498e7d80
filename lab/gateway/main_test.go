package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/redline-go/redline/lab/gateway/internal/store"
	"github.com/redline-go/redline/lab/gateway/remedy"
	"github.com/redline-go/redline/scenario/document"
	"github.com/redline-go/redline/service/postgres"
)

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if err := run(t.Context(), args, strings.NewReader(""), &out, &errs); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// TestScenarioTokens keeps the committed feeder what the verb prints.
func TestScenarioTokens(t *testing.T) {
	t.Setenv("GATEWAY_JWT_SECRET", "")
	committed, err := os.ReadFile("scenario/users.csv")
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, "tokens", "--n", "2000"); got != string(committed) {
		t.Error("scenario/users.csv differs from: gateway tokens --n 2000 > lab/gateway/scenario/users.csv")
	}
}

// TestScenariosParse keeps the committed scenarios valid.
func TestScenariosParse(t *testing.T) {
	for _, name := range []string{"order.yaml", "mix.yaml"} {
		plan, err := document.Read("scenario/" + name)
		if err != nil {
			t.Error(err)
			continue
		}
		if rows := plan.Data["user"].Rows; len(rows) != 2000 || len(rows[0]) != 3 {
			t.Errorf("%s: %d rows of users", name, len(rows))
		}
	}
}

func TestTablesAsJSON(t *testing.T) {
	var remedies []remedy.Remedy
	if err := json.Unmarshal([]byte(output(t, "remedies", "--json")), &remedies); err != nil || len(remedies) != len(remedy.Remedies()) {
		t.Errorf("%d remedies: %v", len(remedies), err)
	}
	var faults []remedy.Fault
	if err := json.Unmarshal([]byte(output(t, "faults", "--json")), &faults); err != nil || len(faults) != len(remedy.Faults()) {
		t.Errorf("%d faults: %v", len(faults), err)
	}
	if text := output(t, "remedies"); strings.Count(text, "\n") != len(remedies) {
		t.Errorf("the table of remedies:\n%s", text)
	}
}

func TestUsageErrors(t *testing.T) {
	t.Setenv("GATEWAY_DSN", "")
	for _, args := range [][]string{
		{"dance"}, {"serve"}, {"--no-such-flag"}, {"serve", "--dsn", "postgres://x", "--pool", "none"}, {"seed"},
		{"tokens", "--n", "0"}, {"faults", "now"}, {"--dsn", "postgres://x", "--pprof", "0.0.0.0:6060"},
	} {
		err := run(t.Context(), args, nil, io.Discard, io.Discard)
		if !errors.Is(err, errUsage) {
			t.Errorf("%v: error is %v, want a usage error", args, err)
		}
	}
}

func TestHelpHidesTheDSN(t *testing.T) {
	t.Setenv("GATEWAY_DSN", "postgres://u:sesame@h/d")
	var help strings.Builder
	if err := run(t.Context(), []string{"serve", "--help"}, nil, io.Discard, &help); err == nil {
		t.Error("help is no error to flag")
	}
	if text := help.String(); strings.Contains(text, "sesame") || !strings.Contains(text, "GATEWAY_INDEX") {
		t.Errorf("help shows a password or no switches:\n%s", text)
	}
}

func TestServe(t *testing.T) {
	server, err := postgres.Start(t.Context(), postgres.Options{DSN: os.Getenv("GATEWAY_MAIN_TEST_DSN")})
	if err != nil {
		t.Skip("no PostgreSQL: ", err)
	}
	defer server.Stop(context.Background())
	if err := run(t.Context(), []string{"serve", "--addr", "127.0.0.1:0", "--dsn", server.DSN}, nil, io.Discard,
		io.Discard); err == nil || !strings.Contains(err.Error(), "not seeded") {
		t.Errorf("an empty database gives %v", err)
	}
	if _, err := store.Seed(t.Context(), server.DSN, store.Size{Users: 10, Orders: 100, Banks: 10}); err != nil {
		t.Fatal(err)
	}
	if again, err := store.Seed(t.Context(), server.DSN, store.Size{Users: 10, Orders: 100, Banks: 10}); again || err != nil {
		t.Errorf("seeding again: %v, %v", again, err)
	}
	if _, err := store.Seed(t.Context(), server.DSN, store.FullSize); err == nil {
		t.Error("seeded over another seed")
	}

	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"--addr", "127.0.0.1:0", "--dsn", server.DSN, "--dir", t.TempDir(), "--index",
			"1"}, nil, write, io.Discard)
		write.Close()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "gateway: listening on ")
	if err != nil || !ok {
		t.Fatalf("first line is %q: %v", line, err)
	}
	resp, err := http.Get(base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("/healthz answers %s", resp.Status)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("asked to stop, it ends with %v", err)
	}
	if _, err := http.Get(base + "/healthz"); err == nil {
		t.Error("it still answers")
	}
}
