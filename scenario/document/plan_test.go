package document

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

const whole = `
target:
  build: ./cmd/gateway
  args: [--listen, ":8080", --db-password, hunter2]
  env: {DATABASE_URL: $DSN, PRICE: "5$$", PLAIN: x}
  ready: http://127.0.0.1:8080/healthz
  ready_timeout: 1m
load:
  rate: 2000/s
  max_connections: 100
  duration: 30s
  warmup: 5s
  timeout: 2s
  grace: 1s
  stages: [ {to: 4000/s, over: 10s} ]
requests:
  - { name: query, weight: 60, get: "http://127.0.0.1:8080/api/v1/order?uid={{user.uid}}&token=abc123", headers: {Authorization: "Bearer {{user.token}}", X-Env: "${TOKEN}", X-Plain: y, X-Mine: z} }
  - name: order
    weight: 40
    post: http://127.0.0.1:8080/api/v1/orders
    body: |
      {"uid": {{user.uid}}, "n": {{n}}, "r": "{{dice}}", "password": "hunter2"}
    expect: 201
  - {method: purge, url: "http://127.0.0.1:8080/cache/{{user}}"}
data:
  user: {file: data/users.csv}
  n: {sequence: {from: 1, to: 3}}
  dice: {random: {min: 1, max: 6}}
observe: {postgres: $DSN, pprof: "http://u:hunter2@127.0.0.1:6060/debug/pprof"}
thresholds: [ "p99 < 42ms", "errors < 0.1%", "rate >= 300/m" ]
redact: [ x-mine ]
`

var wholeFS = fstest.MapFS{"data/users.csv": {Data: []byte("uid,token\n1,t one\n2,t&two\n")}}

func wholeEnv(name string) (string, bool) {
	v, ok := map[string]string{"DSN": "postgres://app:hunter2@127.0.0.1/db", "TOKEN": "hunter2"}[name]
	return v, ok
}

func parseWhole(t testing.TB) *scenario.Plan {
	t.Helper()
	p, err := parse(wholeFS, "dir/orders.yaml", []byte(whole), wholeEnv)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	p := parseWhole(t)
	want := scenario.Load{Rate: 2000, Connections: 100, Duration: 30 * time.Second, Warmup: 5 * time.Second, Timeout: 2 * time.Second,
		Grace: time.Second, Stages: []scenario.Stage{{To: 4000, Over: 10 * time.Second}}}
	if !reflect.DeepEqual(p.Load, want) {
		t.Errorf("load %+v", p.Load)
	}
	if p.Name != "orders" || p.Target.Build != "./cmd/gateway" || len(p.Target.Args) != 4 || p.Target.ReadyTimeout != time.Minute {
		t.Errorf("plan %q, target %+v", p.Name, p.Target)
	}
	if e := p.Target.Env; e["DATABASE_URL"] != "postgres://app:hunter2@127.0.0.1/db" || e["PRICE"] != "5$" {
		t.Errorf("env %v", e)
	}
	if r := p.Requests; len(r) != 3 || r[1].Method != "POST" || r[1].Expect != 201 || r[2].Method != "PURGE" ||
		r[2].Name != "PURGE /cache/{{user}}" || r[2].Weight != 1 || r[0].Headers["X-Env"] != "hunter2" {
		t.Errorf("requests %+v", r)
	}
	if u := p.Data["user"]; !reflect.DeepEqual(u.Columns, []string{"uid", "token"}) || len(u.Rows) != 2 {
		t.Errorf("feeder %+v", u)
	}
	if th := p.Thresholds; len(th) != 3 || th[0].Limit != 42e6 || th[1].Limit != 0.001 || th[2].Limit != 5 || th[2].Op != ">=" {
		t.Errorf("thresholds %+v", th)
	}
}

func TestDefaults(t *testing.T) {
	p, err := Parse(nil, "x.yaml", []byte(`requests: [{get: "http://localhost"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := scenario.Load{Connections: 64, Duration: 30 * time.Second, Timeout: 10 * time.Second}
	if !reflect.DeepEqual(p.Load, want) || p.Requests[0].Name != "GET /" {
		t.Errorf("load %+v, requests %+v", p.Load, p.Requests)
	}
}

// TestRedacted looks for any trace of a secret in what is written down.
func TestRedacted(t *testing.T) {
	p := parseWhole(t)
	p.Target.Exec, p.Target.Build = []string{"svc", "--token=hunter2", "-dsn", "host=x password='hunter2 x' user=y"}, ""
	p.Observe.Postgres = "host=h password=hunter2 dbname=d"
	text := string(p.Redacted())
	for _, secret := range []string{"hunter2", "abc123", "Bearer", "t one", "DATABASE_URL", `"z"`} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
	for _, kept := range []string{"uid={{user.uid}}", "host=h", "dbname=d", "--listen", `"X-Plain":"y"`, "healthz", `"rate":2000`} {
		if !strings.Contains(text, strings.ReplaceAll(kept, "&", `\u0026`)) {
			t.Errorf("%q is not in %s", kept, text)
		}
	}
	if !json.Valid(p.Redacted()) {
		t.Error("not JSON")
	}
	if p.Requests[0].Headers["Authorization"] != "Bearer {{user.token}}" {
		t.Error("the plan itself was changed")
	}
}

func TestApply(t *testing.T) {
	p := parseWhole(t)
	p.Load.Stages = nil
	zero := time.Duration(0)
	if err := p.Apply(scenario.Flags{Connections: 3, Warmup: &zero, PID: 7, Exec: ""}); err == nil {
		t.Error("args without a command were kept")
	}
	if !p.Load.Open() {
		t.Error("a failed Apply changed the plan")
	}
	if err := p.Apply(scenario.Flags{Connections: 3, Warmup: &zero, Exec: "./svc -x"}); err != nil {
		t.Fatal(err)
	}
	if p.Load.Open() || p.Load.Connections != 3 || p.Load.Warmup != 0 || p.Target.Build != "" || p.Target.Exec[1] != "-x" {
		t.Errorf("%+v", p)
	}
	if err := p.Apply(scenario.Flags{Rate: "10/s"}); err != nil || !p.Load.Open() || p.Load.Connections != scenario.DefaultCap {
		t.Errorf("%+v, %v", p.Load, err)
	}
	p.Load.Stages = []scenario.Stage{{To: 20, Over: time.Second}}
	if err := p.Apply(scenario.Flags{Connections: 3}); err == nil {
		t.Error("stages of a rate were kept for connections")
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	p := parseWhole(t)
	u, err := feeder.CompileURL(p.Requests[0].URL, p.Data)
	if err != nil {
		t.Fatal(err)
	}
	body, err := feeder.CompileTemplate(p.Requests[1].Body, p.Data)
	if err != nil {
		t.Fatal(err)
	}
	c, dst := p.NewCursor(3), make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		dst = body.Append(u.Append(dst[:0], c), c)
		c.Next()
	}); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
}
