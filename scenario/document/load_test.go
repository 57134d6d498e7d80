package document

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/scalar"
)

// plan parses a scenario whose requests, unless it has some, are one GET.
func plan(t testing.TB, text string) (*scenario.Plan, error) {
	t.Helper()
	if !strings.Contains(text, "requests: [") && !strings.Contains(text, "requests:\n") && !strings.Contains(text, "replay:") {
		text += "\nrequests: [{get: \"http://127.0.0.1:8080/\"}]\n"
	}
	return parse(testFiles(t), "f.yaml", []byte(text), wholeEnv)
}

func mustPlan(t testing.TB, text string) *scenario.Plan {
	t.Helper()
	p, err := plan(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLoadKeys(t *testing.T) {
	base := scenario.Load{Connections: 64, Duration: 30 * time.Second, Timeout: 10 * time.Second}
	open := base
	open.Rate, open.Connections = 100, scenario.DefaultCap
	for text, change := range map[string]func(*scenario.Load){
		"load: {arrivals: constant}":                         func(l *scenario.Load) { l.Arrivals = scenario.ConstantArrivals },
		"load: {rate: 100/s, arrivals: poisson}":             func(l *scenario.Load) { *l = open; l.Arrivals = scenario.PoissonArrivals },
		"load: {rate_per_connection: 30/m}":                  func(l *scenario.Load) { l.PerConnection, l.Rate = 0.5, 32 },
		"load: {rate_per_connection: 10/s, connections: 20}": func(l *scenario.Load) { l.PerConnection, l.Rate, l.Connections = 10, 200, 20 },
		"load: {requests: 1000}":                             func(l *scenario.Load) { l.Requests, l.Duration = 1000, scalar.MaxDuration },
		"load: {requests: 1000, duration: 5s}":               func(l *scenario.Load) { l.Requests, l.Duration = 1000, 5*time.Second },
		"load: {think: 200ms}": func(l *scenario.Load) {
			l.Think = scenario.Think{Min: 200 * time.Millisecond, Max: 200 * time.Millisecond}
		},
		"load: {think: {min: 0s, max: 1s}}":       func(l *scenario.Load) { l.Think = scenario.Think{Max: time.Second} },
		"load: {think: {mean: 2s}}":               func(l *scenario.Load) { l.Think = scenario.Think{Mean: 2 * time.Second} },
		"load: {connect_rate: 500/s, threads: 2}": func(l *scenario.Load) { l.ConnectRate, l.Threads = 500, 2 },
		"load: {sources: [127.0.0.2, '::1']}": func(l *scenario.Load) {
			l.Sources = []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("::1")}
		},
		"protocol: h2\nload: {streams: 10}": func(l *scenario.Load) { l.Streams = 10 },
	} {
		p, err := plan(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want := base
		change(&want)
		if !reflect.DeepEqual(p.Load, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", text, p.Load, want)
		}
	}
}

// TestConflicts holds what is well formed and makes no sense together: where
// the error points, and what it says.
func TestConflicts(t *testing.T) {
	for text, want := range map[string][2]string{
		"load: {connections: 4, think: 1s}":                                                   {"", ""},
		"load: {rate: 10/s, think: 1s}":                                                       {"1:20", "think is for a closed loop"},
		"load: {rate_per_connection: 10/s, think: 1s}":                                        {"1:35", "think is for a closed loop"},
		"load: {arrivals: poisson}":                                                           {"1:8", "poisson arrivals need"},
		"load: {arrivals: poisson, rate_per_connection: 1/s}":                                 {"1:8", "poisson arrivals need"},
		"load: {rate: 10/s, rate_per_connection: 1/s}":                                        {"1:20", "exclude each other"},
		"load: {rate_per_connection: 1/s, stages: [{to: 8, over: 1s}]}":                       {"1:34", "stages ramp"},
		"load: {rate_per_connection: 1/s, max_connections: 3}":                                {"1:34", "max_connections caps"},
		"load: {streams: 4}":                                                                  {"1:8", "a connection of http/1.1 carries one"},
		"load: {sources: [127.0.0.2, 127.0.0.2]}":                                             {"1:8", "appears twice"},
		"load: {sources: [0.0.0.0]}":                                                          {"1:18", "cannot start from"},
		"load: {sources: [localhost]}":                                                        {"1:18", "is not an IP address"},
		"load: {think: {min: 2s, max: 1s}}":                                                   {"1:15", "is above the most"},
		"load: {think: {min: 2s}}":                                                            {"1:15", "is above the most"},
		"load: {think: {mean: 2s, max: 1s}}":                                                  {"1:15", "exclude each other"},
		"load: {think: 200}":                                                                  {"1:15", "has no unit"},
		"load: {requests: 0}":                                                                 {"1:18", "is not from 1"},
		"load: {threads: 1000}":                                                               {"1:17", "is not from 1 to 256"},
		"load: {arrivals: uniform}":                                                           {"1:18", "is not known"},
		"load: {connect_rate: 5ms}":                                                           {"1:22", "is not a rate"},
		"load: {connections: 3, replay: {file: access.log, base: 'http://h'}}":                {"1:8", "exclude each other"},
		"load: {rate: 3, replay: {file: access.log, base: 'http://h'}}":                       {"1:17", "takes no rate"},
		"load: {replay: {file: access.log, base: 'http://h'}, stages: [{to: 3, over: 1s}]}":   {"1:54", "takes no stages"},
		"load: {replay: {file: access.log, base: 'http://h'}}\nrequests: [{get: 'http://h'}]": {"2:1", "exclude each other"},
		"load: {replay: {file: access.log, base: 'http://h?x=1'}}":                            {"1:41", "more than a host"},
		"load: {replay: {file: access.log, base: 'ws://h'}}":                                  {"1:41", "does not begin with"},
		"load: {replay: {file: access.log}}":                                                  {"1:16", "replay has no base"},
		"load: {replay: {file: access.log, base: 'http://h', speed: 0}}":                      {"1:60", "is not a speed"},
		"load: {replay: {file: users.jsonl, base: 'http://h'}}":                               {"1:23", "line 1:"},
		"load: {replay: {file: access.log, base: 'http://h'}}\ndata: {replay: [1]}":           {"2:8", "is that of load.replay"},
		"load: {replay: {file: access.log, base: 'http://h', headers: {A: '{{user}}'}}}":      {"1:67", "no feeder named"},
		"protocol: ws":   {"1:11", "is not a protocol"},
		"protocol: grpc": {"1:11", "scheme says grpc already"},
		"protocol: h2\nrequests: [{tcp: 'tcp://h:1', message: x}]":                                   {"1:1", "the requests speak tcp, not h2"},
		"requests: [{get: 'http://h'}, {websocket: 'ws://h', message: x}]":                           {"1:43", "speaks websocket, and the first speaks http/1.1"},
		"requests: [{get: 'http://h', message: x}]":                                                  {"1:30", "message is for grpc"},
		"requests: [{tcp: 'tcp://h:1', body: x}]":                                                    {"1:31", "body is for HTTP"},
		"requests: [{tcp: 'tcp://h:1'}]":                                                             {"1:12", "there is no message"},
		"requests: [{tcp: 'tcp://h', message: x}]":                                                   {"1:18", "is not a host and a port"},
		"requests: [{tcp: 'tcp://h:1', message: x, headers: {A: b}}]":                                {"1:43", "no headers in TCP"},
		"requests: [{get: 'ws://h'}]":                                                                {"1:18", "does not begin with http://"},
		"requests: [{grpc: 'grpc://h:1/x'}]":                                                         {"1:19", "does not name a method"},
		"requests: [{grpc: 'grpc://h:1/a.B/{{user.id}}'}]":                                           {"1:19", "takes no data"},
		"requests: [{grpc: 'grpc://h:1/a.B/C', message: '7'}]":                                       {"1:48", "not a JSON object"},
		"requests: [{grpc: 'grpc://h:1/a.B/C', message: {n: .inf}}]":                                 {"1:52", "not a number that JSON has"},
		"requests: [{grpc: 'grpc://h:1/a.B/C', message: {n: '{{user.x}}'}}]\ndata: {user: [1]}":      {"1:53", "has no column"},
		"requests: [{grpc: 'grpc://h:1/a.B/C', follow: true}]":                                       {"1:39", "no redirects in grpc"},
		"requests: [{grpc: 'grpc://h:1/a.B/C', expect: 200}]":                                        {"1:39", "not a status of gRPC"},
		"requests: [{get: 'http://h', expect: NOT_FOUND}]":                                           {"1:30", "not a status of HTTP"},
		"requests: [{get: 'http://h', follow: true, expect: 302}]":                                   {"1:30", "cannot be the expected status"},
		"requests: [{get: 'http://h', reply: false}]":                                                {"1:30", "is always answered"},
		"requests: [{get: 'http://h', follow: yes}]":                                                 {"1:38", "neither true nor false"},
		"requests: [{websocket: 'ws://h', message: x, reply: false, checks: [{body: {equals: y}}]}]": {"1:60", "no answer to check"},
		"requests: [{tcp: 'tcp://h:1', message: x, checks: [{status: 200}]}]":                        {"1:43", "the echo of the message"},
		"requests: [{websocket: 'ws://h', message: x, checks: [{status: 200}]}]":                     {"1:46", "have no status"},
		"requests: [{websocket: 'ws://h', message: x, checks: [{header: A}]}]":                       {"1:46", "have no headers"},
		"grpc: {descriptor_set: schema.pb}":                                                          {"1:1", "is for grpc requests"},
		"tls: {insecure: true}":                                                                      {"1:1", "no request uses it"},
		"tls: {cert: cert.pem}":                                                                      {"1:7", "needs its key"},
		"tls: {key: key.pem}":                                                                        {"1:7", "needs its certificate"},
		"tls: {cert: cert.pem, key: other.pem}":                                                      {"1:23", "not a pair"},
		"tls: {ca: cert.pem, insecure: true}":                                                        {"1:21", "does not verify the server"},
		"tls: {ca: key.pem}":                                                                         {"1:11", "no PEM block of a CERTIFICATE"},
		"tls: {ca: cret.pem}":                                                                        {"1:11", "no file \"cret.pem\""},
		"tls: {ca: ../cert.pem}":                                                                     {"1:11", "is not in"},
		"data: {t: {jwt: {key: abc, ttl: 10s}}}":                                                     {"1:8", "live for 10s, and the load takes 30s"},
	} {
		_, err := plan(t, text)
		if want == [2]string{} {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: no error", text)
			continue
		}
		if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(first, "f.yaml:"+want[0]+": ") ||
			!strings.Contains(first, want[1]) {
			t.Errorf("%s:\n got %v\nwant %s ... %s", text, err, want[0], want[1])
		}
	}
}

// TestLoadFlags gives flags to plans of all models.
func TestLoadFlags(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		flags scenario.Flags
		want  func(scenario.Load) bool // nil wants an error
	}{
		"count":                   {"", scenario.Flags{Requests: 10}, func(l scenario.Load) bool { return l.Requests == 10 && l.Duration == scalar.MaxDuration }},
		"count and duration":      {"", scenario.Flags{Requests: 10, Duration: time.Minute}, func(l scenario.Load) bool { return l.Duration == time.Minute }},
		"count, duration of file": {"load: {duration: 7s}", scenario.Flags{Requests: 10}, func(l scenario.Load) bool { return l.Duration == 7*time.Second }},
		"poisson":                 {"", scenario.Flags{Poisson: true}, nil},
		"poisson rate":            {"", scenario.Flags{Poisson: true, Rate: "5/s"}, func(l scenario.Load) bool { return l.Arrivals == scenario.PoissonArrivals && l.Rate == 5 }},
		"per connection":          {"", scenario.Flags{PerConnection: "5/s"}, func(l scenario.Load) bool { return l.Rate == 320 && l.Connections == 64 }},
		"per connection of rate":  {"load: {rate: 9}", scenario.Flags{PerConnection: "5/s"}, func(l scenario.Load) bool { return l.Rate == 320 && l.Connections == 64 }},
		"rate of per connection": {"load: {rate_per_connection: 9}", scenario.Flags{Rate: "5/s"}, func(l scenario.Load) bool {
			return l.Rate == 5 && l.PerConnection == 0 && l.Connections == scenario.DefaultCap
		}},
		"more of them":                    {"load: {rate_per_connection: 9}", scenario.Flags{Connections: 10}, func(l scenario.Load) bool { return l.Rate == 90 && l.Open() }},
		"both rates":                      {"", scenario.Flags{PerConnection: "5/s", Rate: "5/s"}, nil},
		"think":                           {"", scenario.Flags{Think: "mean=1s"}, func(l scenario.Load) bool { return l.Think.Mean == time.Second }},
		"think of rate":                   {"load: {rate: 9}", scenario.Flags{Think: "1s"}, nil},
		"think closes":                    {"load: {rate: 9}", scenario.Flags{Think: "1s", Connections: 3}, func(l scenario.Load) bool { return !l.Open() }},
		"streams":                         {"", scenario.Flags{Streams: 3}, nil},
		"streams of h2":                   {"", scenario.Flags{Streams: 3, HTTP2: true}, func(l scenario.Load) bool { return l.Streams == 3 }},
		"sources":                         {"", scenario.Flags{Sources: []string{"127.0.0.2", "::ffff:127.0.0.3"}}, func(l scenario.Load) bool { return len(l.Sources) == 2 && l.Sources[1].Is4() }},
		"bad source":                      {"", scenario.Flags{Sources: []string{"lo"}}, nil},
		"connect rate and threads":        {"", scenario.Flags{ConnectRate: "60/m", Threads: 2}, func(l scenario.Load) bool { return l.ConnectRate == 1 && l.Threads == 2 }},
		"too many threads":                {"", scenario.Flags{Threads: 2000}, nil},
		"negative count":                  {"", scenario.Flags{Requests: -1}, nil},
		"replay of a file":                {"", scenario.Flags{Replay: "x.log"}, nil},
		"cap of a replay":                 {"load: {replay: {file: access.log, base: 'http://h'}}", scenario.Flags{Connections: 7}, func(l scenario.Load) bool { return l.Open() && l.Connections == 7 }},
		"rate of a replay":                {"load: {replay: {file: access.log, base: 'http://h'}}", scenario.Flags{Rate: "7/s"}, nil},
		"rate per connection of a replay": {"load: {replay: {file: access.log, base: 'http://h'}}", scenario.Flags{PerConnection: "7/s"}, nil},
	} {
		p := mustPlan(t, c.text)
		before := p.Load
		err := p.Apply(c.flags)
		switch {
		case c.want == nil && err == nil:
			t.Errorf("%s: no error, %+v", name, p.Load)
		case c.want == nil && !reflect.DeepEqual(p.Load, before):
			t.Errorf("%s: a failed Apply changed the plan", name)
		case c.want != nil && (err != nil || !c.want(p.Load)):
			t.Errorf("%s: %v, %+v", name, err, p.Load)
		}
	}
}

// testFiles are the files that scenarios of tests name.
func testFiles(t testing.TB) fstest.MapFS {
	t.Helper()
	cert, key := testPair(t)
	_, other := testPair(t)
	return fstest.MapFS{
		"cert.pem": {Data: cert}, "key.pem": {Data: key}, "other.pem": {Data: other}, "schema.pb": {Data: []byte{10, 0}},
		"users.csv":   {Data: []byte("id,name\n1,ann\n2,bob\n3,cid\n")},
		"users.jsonl": {Data: []byte("{\"id\": 1, \"name\": \"ann\"}\n{\"id\": 2, \"name\": \"bob\"}\n")},
		"access.log":  {Data: []byte(accessLogText)},
	}
}
