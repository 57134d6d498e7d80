package downstream_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const gathers = "vendor.example/metrics.(*Registry).Gather@registry.go:40"

// calling is what a goroutine does that began in entry: calls over HTTP/1 from one place, each
// of which waits for the connection's reader, and one in four for its writer first.
func calling(entry string, each time.Duration, calls float64, user ...string) breakdown.Chain {
	stack := append([]string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "shop/client.(*keyed).RoundTrip@transport.go:33",
		"net/http.send", "net/http.(*Client).Do"}, user...)
	return breakdown.Chain{NS: int64(calls * float64(each)), Links: []breakdown.Link{
		{Goroutine: entry, State: breakdown.StateSelect, Times: 1.25 * calls, Stack: Stack(append(stack, entry)...),
			Site: "net/http.(*persistConn).roundTrip < shop/client.(*keyed).RoundTrip transport.go:33"},
		{Goroutine: "net/http.(*persistConn).readLoop", State: breakdown.StateNetwork, Times: calls,
			Stack: Stack("net.(*conn).Read", "net/http.(*persistConn).readLoop")},
	}}
}

// collected waits for the goroutine of a library's that makes the calls.
func collected(chains ...breakdown.Chain) *Builder {
	const entry = "vendor.example/metrics.(*Registry).Gather.func1"
	ns := int64(0)
	for i := range chains {
		ns += chains[i].NS
	}
	return idle().Wait(breakdown.StateSelect, time.Duration(ns), 1, "runtime.selectgo", gathers).
		Waker("runtime.chansend1", entry).Behind(chains...).Spawned(2)
}

// TestReadsOfACall: a call to Redis reads twice, before it waits for the response and after, and waits once.
func TestReadsOfACall(t *testing.T) {
	read := []string{"net.(*conn).Read", "bufio.(*Reader).fill", "github.com/redis/go-redis/v9/internal/proto.(*Reader).ReadLine", get}
	found := Expect(t, downstream.Serial, idle().Wait(breakdown.StateNetwork, 40*ms, 20, read...).
		Wait(breakdown.StateSyscall, us*200, 40, append([]string{"syscall.read"}, read...)...), "db-n-plus-one at cache.go:41")
	if len(found) == 1 && !strings.HasPrefix(found[0].Title, "Each request sends 20 commands") {
		t.Error(found[0].Title)
	}
	// Other responses are there before anyone waits for them; the hooks count those calls as well.
	b := idle().Wait(breakdown.StateNetwork, 40*ms, 20, read...)
	b.Asks(operation.Redis, "hgetall", int64(60*b.Requests()), 800*us, 0,
		Caller(1, 800*us, "github.com/redis/go-redis/v9.(*Client).Process", get))
	if found = Expect(t, downstream.Serial, b, "db-n-plus-one at cache.go:41"); len(found) == 1 &&
		!strings.HasPrefix(found[0].Title, "Each request sends 60 commands") {
		t.Error(found[0].Title)
	}
}

// TestReadingAnAnswerIsNoCall: a path through a helper of the calls' own waits for microseconds, for the rest of their responses.
func TestReadingAnAnswerIsNoCall(t *testing.T) {
	call := []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get}
	rest := []string{"net/http.(*body).Read", "net/http.(*persistConn).Read", "net/http.(*Client).Do", "shop/api.decode@api.go:24", get}
	found := Expect(t, downstream.Serial, idle().Wait(breakdown.StateSelect, 120*ms, 12, call...). // two waits each
													Wait(breakdown.StateNetwork, 42*us, 6, rest...), "downstream-serial at cache.go:41")
	if len(found) == 1 && !strings.HasPrefix(found[0].Title, "Requests make 6 calls") {
		t.Error(found[0].Title)
	}
}

// TestCallsUnderALock: twenty calls that a request makes while it holds a lock take the time of those that queue for it, so that they come
// first and are worth the queue. Of two calls the second half is left, and the lock's queue with it.
func TestCallsUnderALock(t *testing.T) {
	under := func(calls float64) *Builder {
		read := []string{"net.(*conn).Read", "bufio.(*Reader).fill", "github.com/redis/go-redis/v9/internal/proto.(*Reader).ReadLine", get}
		return New(4, 168*ms).CPU(2, 0.06, 0.03, 0.01, 0.01).Wait(breakdown.StateRunning, 2*ms, 3).
			Wait(breakdown.StateNetwork, 40*ms, calls, read...).
			Wait(breakdown.StateLock, 120*ms, 1, "sync.runtime_SemacquireMutex", "internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock",
				"shop/quotes.(*Desk).Collect@desk.go:30").
			Behind(breakdown.Chain{NS: int64(118 * ms), Links: []breakdown.Link{{Goroutine: "net/http.(*conn).serve", Request: true,
				State: breakdown.StateNetwork, Site: "net.(*conn).Read < " + get, Stack: Stack(read...)}}})
	}
	analyzers := Alone(database.NPlusOne, downstream.Serial, wait.Lock)
	many := ExpectAll(t, analyzers, under(20), "db-n-plus-one at cache.go:41")
	if len(many) == 1 && !(many[0].GainCeiling > 10) {
		t.Errorf("twenty calls under a lock promise %.2f, want more than 10: with their queue they take 158 ms of 168", many[0].GainCeiling)
	}
	ExpectAll(t, analyzers, under(2), "lock-contention at desk.go:30")
}

// TestSerialBehindOwnServer: a gateway calls the gRPC server in its own process, whose handler calls Redis 80 times. The traces
// hold two requests for each of the load, and gRPC's server is on the stack of the calls: they are none to itself.
func TestSerialBehindOwnServer(t *testing.T) {
	for _, server := range []string{"grpc", "http2"} { // a gRPC server of its own, or a handler of net/http's
		behindOwnServer(t, server)
	}
}

func behindOwnServer(t *testing.T, server string) {
	t.Helper()
	b := New(64, 400*ms).Wait(breakdown.StateRunning, ms, 40).Wait(breakdown.StateSelect, 200*ms, 0.5, "runtime.selectgo",
		"google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader", "google.golang.org/grpc.(*ClientConn).Invoke",
		"shop/gateway.(*client).Members@client.go:9").
		Wait(breakdown.StateNetwork, 200*ms, 40, "net.(*conn).Read", "github.com/redis/go-redis/v9/internal/proto.(*Reader).ReadLine",
			"github.com/redis/go-redis/v9.(*baseClient).process", get, "google.golang.org/grpc.(*Server).processUnaryRPC").
		Served("net/http", 500).Served(server, 500).Gauge(series.SocketsOutwards, "to=self", 1).Gauge(series.SocketsOutwards, "to=other", 8)
	found := Expect(t, downstream.Serial, b, "db-n-plus-one at cache.go:41")
	if len(found) == 1 && (!strings.HasPrefix(found[0].Title, "Each request sends 80 commands") || found[0].Share < 0.95) {
		t.Errorf("%s, share %.2f; want 80 calls and nearly all of a request", found[0].Title, found[0].Share)
	}
}

// TestOwnCallsOneAfterAnother: a request calls the server of its own process seven times and waits twice for each response, because
// that sleeps 8 ms. The traces hold eight requests for each of the load, whose mean is what the finding of the sleep states.
func TestOwnCallsOneAfterAnother(t *testing.T) {
	const sent = 281 // in two seconds, by 8 connections
	calls := func(served int) *Builder {
		b := New(8, 57*ms).CPU(2, 0.2, 0.1, 0, -1).Wait(breakdown.StateRunning, 125*us, 3).
			Wait(breakdown.StateSelect, 7*ms, 14.0/8, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do",
				"shop/quotes.(*Desk).collect@desk.go:9", "net/http.(*conn).serve")
		return b.Wait(breakdown.StateSleep, 7*ms, 7.0/8, "time.Sleep", "shop/simulator.answer@simulator.go:20", "net/http.(*conn).serve").
			Served("net/http", served).
			Gauge(series.SocketsOutwards, "to=self", 8).Gauge(series.SocketsOutwards, "to=other", 0)
	}
	found := Expect(t, downstream.Serial, calls(8*sent), "downstream-serial at desk.go:9")
	if len(found) == 1 && (!strings.HasPrefix(found[0].Title, "Requests make 7") || found[0].GainCeiling < 4) {
		t.Errorf("%s, worth %.2fx; want 7 calls and most of a request", found[0].Title, found[0].GainCeiling)
	}
	for _, f := range Expect(t, wait.Sleep, calls(8*sent), "sleep at simulator.go:20") {
		if !strings.HasPrefix(f.Evidence[0].Text, "the mean request waits 56") || f.Confidence != findings.Low {
			t.Errorf("%q, %s confidence; want the 56 ms of the load's request, and low", f.Evidence[0].Text, f.Confidence)
		}
	}
	ExpectFirst(t, suite.All(), calls(8*sent), "downstream-serial")
}

// TestSerialInGoroutines: a goroutine that a request waits for makes the calls, through one client
// method and one transport; the function that makes one after the other is named.
func TestSerialInGoroutines(t *testing.T) {
	const entry, do = "vendor.example/metrics.(*Registry).Gather.func1", "shop/client.(*Client).do@client.go:20"
	chain := func(each time.Duration, calls float64, line string) breakdown.Chain {
		return calling(entry, each, calls, do, "shop/rooms.(*collector).Collect@"+line)
	}
	found := Expect(t, downstream.Serial, collected(chain(5*ms, 40, "rooms.go:31"), chain(5*ms, 40, "rooms.go:35")),
		"downstream-serial at rooms.go:31")
	if len(found) == 1 && (found[0].Share < 0.9 || found[0].GainCeiling < 3 ||
		!strings.HasPrefix(found[0].Title, "Requests make 80 calls")) {
		t.Errorf("share %.2f, worth %.2fx: %s", found[0].Share, found[0].GainCeiling, found[0].Title)
	}
	Expect(t, downstream.Slow, collected(chain(5*ms, 40, "rooms.go:31"), chain(5*ms, 40, "rooms.go:35")))
	// Another collector's few calls do not hide the function of most.
	Expect(t, downstream.Serial, collected(chain(5*ms, 40, "rooms.go:31"), chain(5*ms, 40, "rooms.go:35"),
		calling(entry, 5*ms, 1, do, "shop/health.(*collector).Collect@health.go:12")), "downstream-serial at rooms.go:31")
	// One slow call.
	Expect(t, downstream.Serial, collected(chain(90*ms, 1, "rooms.go:31")))
	Expect(t, downstream.Slow, collected(chain(90*ms, 1, "rooms.go:31")), "downstream-slow at client.go:20")
	// Bundles from before links were counted.
	old := chain(5*ms, 40, "rooms.go:31")
	old.Links[0].Times, old.Links[1].Times = 0, 0
	Expect(t, downstream.Serial, collected(old))
}

// TestCallsBehindALock: a goroutine that a request waits for waits for a lock in the meantime, and the calls are those
// of others, who hold it.
func TestCallsBehindALock(t *testing.T) {
	const entry = "vendor.example/web.handler.ServeHTTP.func1"
	held := func(times float64) *Builder {
		c := calling(entry, 5*ms, 16, "shop/facts.ask@facts.go:20")
		lock := breakdown.Link{Goroutine: entry, State: breakdown.StateLock, Times: times,
			Stack: Stack("sync.(*Mutex).Lock", "shop/facts.(*breaker).do@breaker.go:9", "shop/facts.ask@facts.go:20", entry)}
		if times > 0 {
			c.Links = append([]breakdown.Link{lock}, c.Links...)
		}
		return collected(c)
	}
	Expect(t, downstream.Serial, held(0), "downstream-serial at facts.go:20")
	Expect(t, downstream.Serial, held(1))
	Expect(t, downstream.Slow, held(1))
	Expect(t, wait.Lock, held(1), "lock-contention at breaker.go:9")
}

// TestConcurrentCallsAreNotSerial: eight workers make forty calls; the critical path leads through
// five of them, and the hooks count all.
func TestConcurrentCallsAreNotSerial(t *testing.T) {
	const entry, do = "vendor.example/metrics.(*Registry).Gather.func1", "shop/client.(*Client).do@client.go:20"
	counted := func(perRequest float64) *Builder {
		b := collected(calling(entry, 5*ms, 5, do, "shop/rooms.(*collector).one@rooms.go:31"))
		return b.Asks(operation.HTTP, "GET rooms/{}", int64(perRequest*b.Requests()), 5*ms, 0,
			Caller(1, 5*ms, "net/http.(*Transport).roundTrip", do, "shop/rooms.(*collector).one@rooms.go:31"))
	}
	Expect(t, downstream.Serial, counted(5), "downstream-serial at client.go:20")
	Expect(t, downstream.Serial, counted(40))
	Expect(t, downstream.Serial, counted(1)) // the goroutine makes them for others
}

// TestCallsOfQueuedWorker: a request waits for a worker's call for another one and then for its
// own. That is a queue: by the worker's busy time each request has one call.
func TestCallsOfQueuedWorker(t *testing.T) {
	const entry = "shop/desk.(*desk).clerk"
	waits := func(calls float64, service, wait time.Duration) *Builder {
		c := calling(entry, 20*ms, calls, "shop/desk.(*desk).page@desk.go:9")
		return New(64, wait).Rate(1).CPU(2, 0.6, 0.3, 0.1, 0.1).
			Wait(breakdown.StateChannel, time.Duration(c.NS), 1, "runtime.chanrecv1", "shop/desk.(*desk).sum@desk.go:30").
			Waker("runtime.chansend1", entry).Behind(c).
			Path(nil, breakdown.Serial{Goroutine: entry, Goroutines: 1, Requests: 100, WaitNS: int64(wait), ServiceNS: int64(service)})
	}
	Expect(t, downstream.Serial, waits(4, 80*ms, 80*ms), "downstream-serial at desk.go:9")
	Expect(t, downstream.Serial, waits(2, 20*ms, 40*ms))
}

// TestRetriesAreNamedAtTheirLoop: what only passes a call on is not who asks, but it is what makes it again.
func TestRetriesAreNamedAtTheirLoop(t *testing.T) {
	const once, announce = "shop/carrier.(*carrier).once@carrier.go:40", "shop/carrier.(*carrier).announce@carrier.go:31"
	b := get1(idle(), 8*ms, 4, once, announce)
	rec, body := b.Counter(series.LoadErrors, "kind=status", 0.5*b.Requests()).Open(t)
	lines := code.Compiler{Loops: []code.Frame{{Function: "shop/carrier.(*carrier).announce", File: "carrier.go", Line: 31}}}
	if err := disk.WriteJSON(rec.Dir, code.File, lines); err != nil {
		t.Fatal(err)
	}
	out, err := diagnose.Run(rec, body, suite.All())
	if err != nil || len(out.Findings) == 0 || out.Findings[0].Cause != "retry-storm" ||
		!strings.HasSuffix(out.Findings[0].Where.Function, "announce") {
		t.Errorf("%+v, %v", out.Findings, err)
	}
}

// TestSlowCallOfARelay: a function that only passes on where to call is not who calls, but the finding names it too.
func TestSlowCallOfARelay(t *testing.T) {
	const ping, convert = "shop/remote.ping@remote.go:80", "shop/web.convert@web.go:16"
	for relays, want := range map[bool]string{true: "http.(*Client).Do in remote.ping", false: "http.(*Client).Do"} {
		rec, body := get1(idle(), 30*ms, 1, ping, convert).Open(t)
		var lines code.Compiler
		if relays {
			lines.Relays = []code.Frame{{Function: "shop/remote.ping", File: "remote.go", Line: 80}}
		}
		if err := disk.WriteJSON(rec.Dir, code.File, lines); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, suite.All())
		if err != nil || len(out.Findings) != 1 || out.Findings[0].Where.Detail != want ||
			strings.HasSuffix(out.Findings[0].Where.Function, "convert") != relays {
			t.Errorf("relays %v: %+v, %v", relays, out.Findings, err)
		}
	}
}

// TestSerialNamesTheLoopOfMost: another, short call of its caller's does not hide the function that makes most.
func TestSerialNamesTheLoopOfMost(t *testing.T) {
	const list, serve = "shop/keys.(*keys).list@keys.go:71", "shop/desk.(*desk).serve@desk.go:48"
	Expect(t, downstream.Serial, get1(get1(idle(), 2*ms, 20, list, serve), 20*us, 1, "shop/desk.(*desk).serve@desk.go:40"),
		"downstream-serial at keys.go:71")
	Expect(t, downstream.Serial, get1(get1(idle(), 2*ms, 20, list, serve), 20*ms, 1, "shop/desk.(*desk).serve@desk.go:40"),
		"downstream-serial at desk.go:48")
}

// TestSerialNamesTheLoopsOfMost: of three loops, the function that has two of them is named, and not their caller, which has the third.
// If one of the paths is taken once, they are steps, and their caller makes them. So it is named where a function makes the same
// calls from one line, unless the sources say that this lies in a loop.
func TestSerialNamesTheLoopsOfMost(t *testing.T) {
	const assign, update = "shop/desk.(*desk).assign@desk.go:", "shop/store.(*redis).update@store.go:"
	calls := func(first, second string, times float64) *Builder {
		b := get1(idle(), 400*us, 86, "shop/store.(*redis).unlist@store.go:90", assign+"324")
		b = get1(b, 400*us, 86, "shop/store.(*redis).get@store.go:20", update+first, assign+"330")
		return get1(b, 35*ms/time.Duration(times), times, "shop/store.(*redis).set@store.go:30", update+second, assign+"330")
	}
	for _, f := range Expect(t, downstream.Serial, calls("437", "445", 86), "downstream-serial at store.go:445") {
		if !strings.Contains(f.Where.Detail, "update") || !strings.Contains(f.Title, "another, most of them at store.go:445") {
			t.Errorf("the path is %s: %s", f.Where.Detail, f.Title)
		}
	}
	Expect(t, downstream.Serial, calls("437", "445", 1), "downstream-serial at desk.go:330")
	Expect(t, downstream.Serial, calls("437", "437", 86), "downstream-serial at desk.go:330")
	rec, body := calls("437", "437", 86).Open(t)
	loops := code.Compiler{Loops: []code.Frame{{Function: "shop/store.(*redis).update", File: "store.go", Line: 437}}}
	if err := disk.WriteJSON(rec.Dir, code.File, loops); err != nil {
		t.Fatal(err)
	}
	out, err := diagnose.Run(rec, body, []diagnose.Analyzer{downstream.Serial})
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Where.Line != 437 {
		t.Errorf("%+v, %v", out.Findings, err)
	}
}

// TestSerialNamesTheLoop: all calls take one path; by the service's sources the loop is not in the
// client's method, but in what calls it.
func TestSerialNamesTheLoop(t *testing.T) {
	const page, read = "shop/client.(*Client).page@client.go:20", "shop/desk.(*desk).read@desk.go:15"
	named := func(loops ...code.Frame) string {
		rec, body := get1(idle(), 5*ms, 6, page, read).Open(t)
		if err := disk.WriteJSON(rec.Dir, code.File, code.Compiler{Loops: loops}); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, []diagnose.Analyzer{downstream.Serial})
		if err != nil || len(out.Findings) != 1 {
			t.Fatalf("%+v, %v", out.Findings, err)
		}
		return out.Findings[0].Where.Function
	}
	for want, loops := range map[string][]code.Frame{
		"shop/client.(*Client).page": {},
		"shop/desk.(*desk).read":     {{Function: "shop/desk.(*desk).read", File: "desk.go", Line: 15}, {Function: "main.main", File: "main.go", Line: 1}},
	} {
		if got := named(loops...); got != want {
			t.Errorf("with loops at %v the place is %s, want %s", loops, got, want)
		}
	}
}

// TestSerialCallsThatAreAlike: calls that have the same address in each request may have the same responses, and caching
// these saves more than making the calls together.
func TestSerialCallsThatAreAlike(t *testing.T) {
	const fetch, keys = "shop/auth.(*Client).fetch@client.go:12", "shop/auth.(*Client).keys@client.go:30"
	asks := func(b *Builder, texts ...string) *Builder {
		for _, text := range texts {
			b.Asks(operation.HTTP, text, int64(b.Requests()), 5*ms, 0, Caller(1, 5*ms, "net/http.(*Client).Do", fetch, keys))
		}
		return b
	}
	const alike, general = "Each request reads from the same addresses", "If the responses are the same for many requests"
	for name, c := range map[string]struct {
		texts []string
		want  string
	}{
		"alike":       {[]string{"GET issuer/openid", "GET issuer/jwks"}, alike},
		"one differs": {[]string{"GET issuer/openid", "GET issuer/users/{}"}, general},
		"a query":     {[]string{"GET issuer/openid?{}", "GET issuer/jwks?{}"}, general},
		"long paths":  {[]string{"GET issuer/a/b/c/d/e/f/g/h/..."}, general},
		"they change": {[]string{"POST issuer/tokens"}, general},
		"not counted": {nil, general},
	} {
		found := Expect(t, downstream.Serial, asks(get1(idle(), 5*ms, 6, fetch, keys), c.texts...), "downstream-serial at client.go:12")
		if len(found) != 1 {
			continue
		}
		if do := found[0].Remedy; !strings.Contains(do, c.want) || strings.Contains(do, "worth about 4.00x") != (c.want == alike) {
			t.Errorf("%s: %s", name, do)
		}
	}
}

// TestMostOfTheSequenceIsAlike: two of six calls read from the same addresses and take most of the time. Not to make them is worth more
// than to make all at once, and the function that makes them is the place.
func TestMostOfTheSequenceIsAlike(t *testing.T) {
	const where, convert, page = "shop/meta.where@meta.go:30", "shop/page.convert@page.go:20", "shop/page.show@page.go:"
	b := get1(get1(idle(), 25*ms, 2, where, page+"119"), 5*ms, 4, convert, page+"80").
		Asks(operation.HTTP, "GET meta/zone", 128, 25*ms, 0, Caller(1, 25*ms, "net/http.(*Client).Do", where, page+"119")).
		Asks(operation.HTTP, "GET rates/{}", 256, 5*ms, 0, Caller(1, 5*ms, "net/http.(*Client).Do", convert, page+"80"))
	found := Expect(t, downstream.Serial, b, "downstream-serial at meta.go:30")
	if len(found) == 1 && (!strings.HasPrefix(found[0].Remedy, "2 of these calls (at meta.go:30") || found[0].GainCeiling < 2.5) {
		t.Errorf("%.2f: %s", found[0].GainCeiling, found[0].Remedy)
	}
}

// TestAddressesOfEarlierBundles: they do not say whether a call has a query.
func TestAddressesOfEarlierBundles(t *testing.T) {
	b := get1(idle(), 5*ms, 6, "shop/auth.(*Client).fetch@client.go:12")
	rec, body := b.Asks(operation.HTTP, "GET issuer/jwks", int64(b.Requests()), 5*ms, 0,
		Caller(1, 5*ms, "net/http.(*Client).Do", "shop/auth.(*Client).fetch@client.go:12")).Open(t)
	var ops operation.Operations
	if err := rec.ReadJSON(operation.File, &ops); err != nil || !ops.Queries {
		t.Fatalf("%v, %+v", err, ops)
	}
	ops.Queries = false
	if err := disk.WriteJSON(rec.Dir, operation.File, ops); err != nil {
		t.Fatal(err)
	}
	out, err := diagnose.Run(rec, body, []diagnose.Analyzer{downstream.Serial})
	if err != nil || len(out.Findings) != 1 || strings.Contains(out.Findings[0].Remedy, "the same addresses") {
		t.Errorf("%v, %+v", err, out.Findings)
	}
}

// TestSerialGainOfAChain: the calls in a loop may be made at once; whether others need each other's responses is not seen.
func TestSerialGainOfAChain(t *testing.T) {
	call := func(b *Builder, each time.Duration, n float64, at string) *Builder {
		return b.Wait(breakdown.StateSelect, time.Duration(n*float64(each)), 2*n, "runtime.selectgo",
			"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", at)
	}
	const version, list, each = "shop/api.version@api.go:20", "shop/api.list@api.go:30", "shop/api.one@api.go:40"
	chain := call(call(call(idle(), 10*ms, 1, version), 10*ms, 1, list), 4*ms, 10, each)
	if found := Expect(t, downstream.Serial, chain, "downstream-serial"); len(found) == 1 {
		// Of 60 ms 24 stay if nine of the ten go, 10 with the longest alone; both are known to a fifth.
		if f := found[0]; f.GainLow < 1.8 || f.GainLow > 2.6 || f.GainHigh < 1.5*f.GainLow {
			t.Errorf("worth %.2fx, %.2fx to %.2fx", f.GainCeiling, f.GainLow, f.GainHigh)
		}
	}
	apart := call(call(call(idle(), 10*ms, 1, version), 10*ms, 1, list), 10*ms, 1, each)
	if found := Expect(t, downstream.Serial, apart, "downstream-serial"); len(found) == 1 && found[0].GainHigh > 1.5*found[0].GainCeiling {
		t.Errorf("once each: worth %.2fx, %.2fx to %.2fx", found[0].GainCeiling, found[0].GainLow, found[0].GainHigh)
	}
}
