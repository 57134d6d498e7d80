package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/lab/gateway/internal/auth"
	"github.com/redline-go/redline/lab/gateway/internal/risk"
	"github.com/redline-go/redline/lab/gateway/internal/service"
	"github.com/redline-go/redline/lab/gateway/internal/store"
	"github.com/redline-go/redline/lab/gateway/remedy"
	"github.com/redline-go/redline/service/postgres"
)

// testSize is a seed in which every state of an order occurs.
var testSize = store.Size{Users: 400, Orders: 4000, Banks: 1000}

// dsn is the seeded database of this package's tests; noDatabase says why there
// is none.
var (
	dsn        string
	noDatabase error
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		ctx := context.Background()
		server, err := postgres.Start(ctx, postgres.Options{DSN: os.Getenv("GATEWAY_TEST_DSN")})
		if err != nil {
			noDatabase = err
			return m.Run()
		}
		defer server.Stop(ctx)
		if _, err := store.Seed(ctx, server.DSN, testSize); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		dsn = server.DSN
		return m.Run()
	}())
}

// gateway is a service under test.
type gateway struct {
	t      testing.TB
	handle http.Handler
	keeper *auth.Keeper
}

// open starts a service with these switches over the naive ones.
func open(t testing.TB, env map[string]string, change func(*service.Options)) *gateway {
	t.Helper()
	if noDatabase != nil {
		t.Skip("no PostgreSQL: ", noDatabase)
	}
	settings, err := remedy.Parse(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	o := service.Options{
		DSN: dsn, Dir: t.TempDir(), Secret: auth.DevelopmentSecret, RateLimit: 100_000,
		Settings: settings, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if settings.Risk {
		scores := httptest.NewServer(risk.Handler())
		t.Cleanup(scores.Close)
		o.RiskURL = scores.URL
	}
	if change != nil {
		change(&o)
	}
	s, err := service.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	keeper, err := auth.New(auth.DevelopmentSecret)
	if err != nil {
		t.Fatal(err)
	}
	return &gateway{t, s.Handler, keeper}
}

func (g *gateway) token(user int64) string {
	g.t.Helper()
	token, err := g.keeper.Sign(user, time.Now(), time.Now().Add(time.Hour))
	if err != nil {
		g.t.Fatal(err)
	}
	return token
}

// in returns the gateway as a subtest uses it.
func (g *gateway) in(t testing.TB) *gateway {
	inner := *g
	inner.t = t
	return &inner
}

// call is one request.
type call struct {
	method, path string
	user         int64 // 0: no token
	body         string
	header       [2]string // one more header
}

type answer struct {
	status int
	body   string
	header http.Header
}

func (g *gateway) do(c call) answer {
	g.t.Helper()
	r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
	if c.user != 0 {
		r.Header.Set("Authorization", "Bearer "+g.token(c.user))
	}
	if c.header[0] != "" {
		r.Header.Set(c.header[0], c.header[1])
	}
	w := httptest.NewRecorder()
	g.handle.ServeHTTP(w, r)
	return answer{w.Code, w.Body.String(), w.Header()}
}

// reply is a body as a client decodes it.
type reply struct {
	Code int `json:"code"`
	Data struct {
		ID           int64  `json:"id"`
		Status       string `json:"status"`
		AmountCents  int64  `json:"amount_cents"`
		BalanceCents int64  `json:"balance_cents"`
		Items        []struct {
			AmountCents int64 `json:"amount_cents"`
		} `json:"items"`
		Events []struct {
			Kind string `json:"kind"`
		} `json:"events"`
	} `json:"data"`
}

// want does a call and checks status and API code.
func (g *gateway) want(status, code int, c call) reply {
	g.t.Helper()
	a := g.do(c)
	var r reply
	if err := json.Unmarshal([]byte(a.body), &r); err != nil {
		g.t.Fatalf("%s %s: %v in %s", c.method, c.path, err, a.body)
	}
	if a.status != status || r.Code != code {
		g.t.Fatalf("%s %s: %d with code %d, want %d with %d: %s", c.method, c.path, a.status, r.Code, status, code, a.body)
	}
	return r
}

func get(user int64, path string) call {
	return call{method: "GET", path: fmt.Sprintf("/api/v1/%s?uid=%d", path, user), user: user}
}

func (g *gateway) balance(user int64) int64 {
	g.t.Helper()
	return g.want(200, 0, get(user, "balance")).Data.BalanceCents
}

// query asks the database itself.
func query[T any](t testing.TB, statement string, args ...any) (value T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), statement, args...).Scan(&value); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return value
}

// both runs a test on the naive and on the remedied service.
func both(t *testing.T, test func(t *testing.T, g *gateway)) {
	for name, env := range map[string]map[string]string{"naive": remedy.Naive(), "sound": remedy.Sound()} {
		t.Run(name, func(t *testing.T) { test(t, open(t, env, nil)) })
	}
}
