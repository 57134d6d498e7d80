package cpu_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const s = time.Second

func TestDomains(t *testing.T) {
	marshal := []string{"reflect.Value.Field", "encoding/json.Marshal", Route}
	Expect(t, cpu.JSON, Healthy().Sample(4*s, marshal...), "cpu-json at api.go:88")
	Expect(t, cpu.JSON, Healthy())
	// the request hardly runs
	Expect(t, cpu.JSON, Idle().Wait(breakdown.StateNetwork, 30*time.Millisecond, 1, Query()...).Sample(s/2, marshal...))
	ExpectUnjudged(t, cpu.JSON, Healthy().NoProfile("cpu"), "cpu-json")
	ExpectUnjudged(t, cpu.JSON, New(64, 10*time.Millisecond).Sample(s/2, marshal...), "cpu-json") // 50 samples
	// Few samples are the answer where the service hardly runs.
	ExpectUnjudged(t, cpu.JSON, New(64, 10*time.Millisecond).CPU(2, 0.2, 0.05, 0.05, -1).
		Wait(breakdown.StateRunning, 100*time.Microsecond, 1).Wait(breakdown.StateSleep, 9900*time.Microsecond, 1,
		"time.Sleep", Route).Sample(s/2, marshal...))
	fast := Expect(t, cpu.JSON, Healthy().Sample(5*s, "github.com/bytedance/sonic/internal/encoder.Encode",
		"github.com/bytedance/sonic.Marshal", Route), "cpu-json")
	if len(fast) == 1 && !strings.Contains(fast[0].Remedy, "fast one already") {
		t.Errorf("a fast encoder is to be replaced by a fast one: %s", fast[0].Remedy)
	}
	protobuf := Expect(t, cpu.JSON, Healthy().Sample(4*s, "google.golang.org/protobuf/internal/order.RangeFields",
		"google.golang.org/protobuf/encoding/protojson.Marshal", Route), "cpu-json at api.go:88")
	if len(protobuf) == 1 && !strings.Contains(protobuf[0].Remedy, "reflects on every value") {
		t.Errorf("protobuf's JSON encoder reflects, so a faster one helps: %s", protobuf[0].Remedy)
	}

	Expect(t, cpu.RegexpCompile, Healthy().Sample(3*s, "regexp/syntax.Parse", "regexp.compile",
		"regexp.MustCompile", "shop/web.valid@web.go:70"), "cpu-regexp-compile at web.go:70")
	Expect(t, cpu.RegexpCompile, Healthy().Sample(3*s, "regexp.(*Regexp).MatchString", "shop/web.valid@web.go:70"))
	Expect(t, cpu.RegexpMatch, Healthy().Sample(3*s, "regexp.(*Regexp).MatchString", "shop/web.valid@web.go:70"),
		"cpu-regexp-match at web.go:70")
	Expect(t, cpu.RegexpMatch, Healthy().Sample(s/2, "regexp.(*Regexp).MatchString", "shop/web.valid@web.go:70"))
	Expect(t, cpu.Format, Healthy().Sample(4*s, "fmt.Sprintf", "shop/orders.key@orders.go:12"), "cpu-format at orders.go:12")
	Expect(t, cpu.Format, Healthy())
	Expect(t, cpu.Crypto, Healthy().Sample(4*s, "golang.org/x/crypto/argon2.processBlocks", "shop/web.login@web.go:90"),
		"cpu-crypto at web.go:90")
	Expect(t, cpu.Crypto, Healthy().Sample(4*s, "crypto/internal/fips140/sha256.block", "crypto/tls.(*Conn).Write"))
	Expect(t, cpu.Compress, Healthy().Sample(4*s, "compress/flate.(*compressor).deflate", "shop/web.gz@web.go:95"),
		"cpu-compress at web.go:95")
	Expect(t, cpu.Compress, Healthy())
}

// TestSickOnASharedHost: others take half of the CPUs, and would take it from the cured
// service too. So a change gains as much as on a quiet host: of the CPU that the load
// uses, 1.00 of 2, it leaves 0.28. Nor does it lower the confidence in what the service does.
func TestSickOnASharedHost(t *testing.T) {
	marshal := []string{"reflect.Value.Field", "encoding/json.Marshal", Route}
	b := New(12, 20*time.Millisecond).CPU(2, 1.98, 0.8, 0.2, -1).Wait(breakdown.StateRunning, 4*time.Millisecond,
		9).Wait(breakdown.StateRunnable, 16*time.Millisecond, 9)
	found := Expect(t, cpu.JSON, b.Sample(9*s, marshal...).Sample(s, Route), "cpu-json at api.go:88")
	if len(found) == 1 && (found[0].Confidence != findings.High || math.Abs(found[0].GainCeiling-1.0/0.28) > 0.01) {
		t.Errorf("%s confidence, worth %.2f", found[0].Confidence, found[0].GainCeiling)
	}
}

func TestLogging(t *testing.T) {
	line := []string{"syscall.write", "os.(*File).Write", "log/slog.(*commonHandler).handle", "log/slog.Info",
		"shop/web.logRequests@web.go:20"}
	Expect(t, cpu.Logging, Healthy().Sample(3*s, line...), "cpu-logging at web.go:20")
	Expect(t, cpu.Logging, Healthy().Sample(3*s, "syscall.write", "os.(*File).Write", "fmt.Fprintln",
		"shop/web.logRequests@web.go:21"), "cpu-logging at web.go:21")
	Expect(t, cpu.Logging, Healthy())
	// The logger's own lock, while CPUs are idle.
	b := New(64, 40*time.Millisecond).CPU(2, 0.6, 0.3, 0.1, 0.1).Busy(3*s).Wait(breakdown.StateRunning, time.Millisecond, 1)
	Expect(t, cpu.Logging, b.Wait(breakdown.StateLock, 20*time.Millisecond, 1, "sync.(*Mutex).Lock",
		"log.(*Logger).output", "log.Printf", "shop/web.logRequests@web.go:20"), "cpu-logging at web.go:20")
	// Most lines are written at one place, and requests wait at another.
	audit := New(64, 40*time.Millisecond).CPU(2, 0.6, 0.3, 0.1, 0.1).Busy(3*s).Sample(s, line...).
		Wait(breakdown.StateRunning, time.Millisecond, 1).Wait(breakdown.StateLock, 30*time.Millisecond, 1, "sync.(*Mutex).Lock",
		"log.(*Logger).output", "log.Printf", "shop/web.pay@pay.go:44")
	if found := Expect(t, cpu.Logging, audit, "cpu-logging at pay.go:44"); len(found) == 1 &&
		!strings.HasSuffix(found[0].Title, "of request time, most of it at pay.go:44") {
		t.Error(found[0].Title)
	}
	// Without its lines, requests wait neither for the lock nor for the CPU that they take.
	logged := New(16, 10*time.Millisecond).CPU(2, 1.4, 1.3, 0.1, 0).Sample(8*s, line...).Sample(2*s, "shop/web.page@web.go:90").
		Wait(breakdown.StateLock, 7*time.Millisecond, 1, "sync.(*Mutex).Lock", "log.(*Logger).output", "log.Printf",
			"shop/web.logRequests@web.go:20").
		Wait(breakdown.StateRunnable, 2*time.Millisecond, 1).Wait(breakdown.StateRunning, time.Millisecond, 1)
	found := Expect(t, cpu.Logging, logged, "cpu-logging at web.go:20")
	if len(found) == 1 && (found[0].GainCeiling < 3.9 || found[0].GainCeiling > 6) { // CPUs: (2-0)/(1.4-1.04)
		t.Errorf("worth %.2fx", found[0].GainCeiling)
	}
}

func TestHot(t *testing.T) {
	Expect(t, cpu.Hot, Healthy().Sample(6*s, "strings.Index", "shop/price.Round@price.go:17",
		"shop/price.Quote@price.go:44"), "cpu-hot-function at price.go:17")
	// Requests end at once at the rate that was asked for, and CPUs are left: what the service is for is no defect.
	own := func(b *Builder) findings.Confidence {
		found := Expect(t, cpu.Hot, b.CPU(2, 0.6, 0.5, 0.1, 0).Sample(6*s, "shop/price.Round@price.go:17"), "cpu-hot-function")
		return found[0].Confidence
	}
	if instant, closed := own(New(64, time.Millisecond).Rate(200)), own(New(64, time.Millisecond)); instant != findings.Low ||
		closed != findings.Medium {
		t.Errorf("%s confidence where nothing is slow, %s in a closed loop", instant, closed)
	}
	Expect(t, cpu.Hot, Healthy())
	Expect(t, cpu.Hot, Healthy().Sample(6*s, "encoding/json.Marshal", "shop/price.Quote@price.go:44")) // a library's
	Expect(t, cpu.Hot, Healthy().Sample(6*s, "runtime.mallocgc", "shop/price.Quote@price.go:44"))      // reported by what allocates
	Expect(t, cpu.Hot, Healthy().Sample(6*s, "syscall.write", "internal/poll.(*FD).Write", "net.(*conn).Write",
		"net/http.checkConnErrorWriter.Write",
		"bufio.(*Writer).Flush", "net/http.(*response).Write", "shop/price.Quote@price.go:44")) // a large answer
	Expect(t, cpu.Hot, Healthy().Module("").Sample(6*s, "shop/price.Round@price.go:17"), "cpu-hot-function") // module not known
}

// A helper is reported as the loop that calls it; a family of small functions by the
// function that calls them all, and never with high confidence.
func TestHotSubtree(t *testing.T) {
	find := []string{"shop/geo.same@geo.go:9", "shop/geo.unique@geo.go:20", "shop/geo.(*API).Merge@geo.go:40"}
	loop := Healthy().Sample(8*s, find...).Sample(4*s, find[1:]...)
	Expect(t, cpu.Hot, loop, "cpu-hot-function at geo.go:20")

	// The hottest function itself counts with the helpers that it calls.
	search := Healthy().Sample(8*s, find[1:]...).Sample(3*s, "shop/geo.less@geo.go:5", "container/heap.Pop", find[1], find[2]).
		Sample(3*s, "shop/geo.swap@geo.go:7", "container/heap.Pop", find[1], find[2])
	helped := Expect(t, cpu.Hot, search, "cpu-hot-function at geo.go:20")
	if len(helped) == 1 && (helped[0].Share < 0.4 || !strings.Contains(helped[0].Evidence[1].Text, "in the function and the libraries")) {
		t.Errorf("%+v", helped[0])
	}

	family := Healthy()
	for _, leaf := range []string{"a@p.go:1", "b@p.go:2", "c@p.go:3", "d@p.go:4", "e@p.go:5", "f@p.go:6"} {
		family.Sample(4*s, "shop/parse."+leaf, "shop/parse.document@p.go:50", "shop/geo.(*API).Merge@geo.go:44")
	}
	found := Expect(t, cpu.Hot, family, "cpu-hot-function at p.go:50")
	if len(found) == 1 && found[0].Confidence != findings.Low {
		t.Errorf("what a service does in all is told as %s", found[0].Confidence)
	}
	spread := Healthy()
	for _, leaf := range []string{"a@p.go:1", "b@p.go:2", "c@p.go:3", "d@p.go:4", "e@p.go:5"} {
		spread.Sample(4*s, "shop/parse."+leaf, "shop/geo.(*API).Merge@geo.go:44")
	}
	Expect(t, cpu.Hot, spread) // the handler itself is no cause
}

// TestJoinedStringsAreCollected: a heap profile books the bytes of a joined string on the user's line, where the runtime
// joins; the collection of them is the joining's. What else that line allocates is not.
func TestJoinedStringsAreCollected(t *testing.T) {
	const user = "shop/web.csv@web.go:70"
	join := []string{"runtime.concatstrings", "runtime.concatstring3", user}
	share := func(others ...string) float64 {
		b := New(8, time.Millisecond).CPU(2, 1.9, 1.8, 0.1, -1).Sample(3*s, append([]string{"runtime.memmove"}, join...)...)
		b.Sample(s, append([]string{"runtime.mallocgc", "runtime.rawstring"}, join...)...).Sample(2*s, "shop/web.total@web.go:80")
		if len(others) > 0 {
			b.Sample(3*s, others...)
		}
		b.Background(3*s, "runtime.gcDrain", "runtime.gcBgMarkWorker")
		b.Alloc(1000, 90<<30, user).Alloc(10, 10<<30, "shop/web.total@web.go:80")
		found := Expect(t, cpu.Format, b, "cpu-format at web.go:70")
		if len(found) != 1 {
			t.FailNow()
		}
		if !strings.Contains(found[0].Remedy, "strings.Builder") || !strings.HasPrefix(found[0].Title, "Joining strings with +") {
			t.Error(found[0].Title, found[0].Remedy)
		}
		return found[0].Share
	}
	if got := share(); math.Abs(got-6.7/9) > 0.01 {
		t.Errorf("joining takes %.2f of the CPU, want %.2f", got, 6.7/9)
	}
	assists := append([]string{"runtime.gcDrainN", "runtime.gcAssistAlloc", "runtime.mallocgc", "runtime.rawstring"}, join...)
	if got, want := share(assists...), (4+0.9*6)/12; math.Abs(got-want) > 0.01 {
		t.Errorf("where the joining helps the collector, it takes %.2f of the CPU, want %.2f", got, want)
	}
	if got, want := share("runtime.mallocgc", "runtime.newobject", user), (4+2.7/4)/12; math.Abs(got-want) > 0.01 {
		t.Errorf("where a quarter of the allocating is its own, joining takes %.2f of the CPU, want %.2f", got, want)
	}
}

// TestTheSweeperYields: the sweeper yields its CPU again and again, so that the scheduler's work for goroutines that yield is the
// collector's, and goes with what is collected; not where the service yields itself.
func TestTheSweeperYields(t *testing.T) {
	const user = "shop/web.csv@web.go:70"
	share := func(yields ...string) float64 {
		b := New(8, time.Millisecond).CPU(2, 1.9, 1.8, 0.1, -1).
			Sample(4*s, "runtime.mallocgc", "runtime.rawstring", "runtime.concatstrings", user)
		b.Sample(s, "shop/web.total@web.go:80").Background(s, "runtime.sweepone", "runtime.bgsweep")
		b.Background(3*s, "runtime.findRunnable", "runtime.schedule", "runtime.goschedImpl", "runtime.gosched_m", "runtime.mcall")
		if len(yields) > 0 {
			b.Sample(s, yields...)
		}
		found := Expect(t, cpu.Format, b.Alloc(1000, 100<<30, user), "cpu-format at web.go:70")
		if len(found) != 1 {
			t.FailNow()
		}
		return found[0].Share
	}
	if got, want := share(), 8.0/9; math.Abs(got-want) > 0.01 {
		t.Errorf("with the sweeper's yields %.2f of the CPU, want %.2f", got, want)
	}
	if got, want := share("runtime.Gosched", "shop/web.spin@web.go:90"), 5.0/10; math.Abs(got-want) > 0.01 {
		t.Errorf("where the service yields %.2f of the CPU, want %.2f", got, want)
	}
}

func TestLibraries(t *testing.T) {
	user := "shop/web.show@web.go:70"
	Expect(t, cpu.Handshakes, Healthy().Sample(9*s, "crypto/internal/fips140/nistec.p256Mul",
		"crypto/tls.(*Conn).serverHandshake", "crypto/tls.(*Conn).HandshakeContext"), "cpu-tls")
	Expect(t, cpu.Handshakes, Healthy().Sample(9*s, "crypto/internal/fips140/aes/gcm.seal", "crypto/tls.(*Conn).Write")) // kept connections
	mails := Expect(t, cpu.Handshakes, Healthy().Sample(9*s, "crypto/x509.(*Certificate).Verify", "crypto/tls.(*Conn).clientHandshake",
		"crypto/tls.(*Conn).HandshakeContext", "crypto/tls.Dial", user), "cpu-tls at web.go:70")
	if len(mails) == 1 && !strings.HasPrefix(mails[0].Remedy, "Keep the connection that is opened at web.go:70") {
		t.Errorf("the service opens the connections: %s", mails[0].Remedy)
	}
	// The comparison is the sort's, and the place is the caller of the sort.
	Expect(t, cpu.Sort, Healthy().Sample(6*s, "shop/web.byPrice@web.go:12", "slices.pdqsortCmpFunc[go.shape.int]",
		"slices.SortFunc[go.shape.[]int]", user), "cpu-sort at web.go:70")
	// Data kept in order also needs no copy for the sort, nor the collection of that copy.
	sorts := func() *Builder {
		return New(8, time.Millisecond).CPU(2, 1.9, 1.8, 0.1, -1).
			Sample(7*s, "slices.pdqsortCmpFunc[go.shape.int]", "slices.SortFunc[go.shape.[]int]", user).
			Sample(s, "encoding/json.Marshal", "shop/web.page@web.go:90")
	}
	plain := Expect(t, cpu.Sort, sorts().Sample(2*s, "shop/web.total@web.go:80"), "cpu-sort at web.go:70")
	copied := Expect(t, cpu.Sort, sorts().Sample(2*s, "runtime.memmove", "runtime.growslice", "shop/web.show@web.go:69"),
		"cpu-sort at web.go:70")
	if len(plain) == 1 && len(copied) == 1 && (plain[0].Share > 0.72 || copied[0].Share < 0.88) {
		t.Errorf("%.2f of the CPU, %.2f with the copy", plain[0].Share, copied[0].Share)
	}
	for library, advice := range map[string]string{"github.com/jinzhu/copier.Copy": "assign the fields",
		"github.com/docs/node.(*Builder).add": "node.(*Builder).add uses reflection on each call"} {
		found := Expect(t, cpu.Reflect, Healthy().Sample(6*s, "reflect.Value.Field", library, user), "cpu-reflect at web.go:70")
		if len(found) == 1 && !strings.Contains(found[0].Remedy, advice) {
			t.Errorf("%s: %s", library, found[0].Remedy)
		}
	}
	formats := func(by ...string) *Builder {
		return Healthy().Sample(6*s, append(append([]string{"fmt.(*pp).doPrintf"}, by...), user)...)
	}
	found := Expect(t, cpu.Format, formats("fmt.Errorf"), "cpu-format at web.go:70")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "append with strconv") {
		t.Errorf("%s", found[0].Remedy)
	}
	// A library's text is part of what it is called for; a framework's is the user's.
	Expect(t, cpu.Format, formats("fmt.Errorf", "github.com/spf13/viper.(*Viper).Get"))
	found = Expect(t, cpu.Hot, formats("fmt.Errorf", "github.com/spf13/viper.(*Viper).Get"), "cpu-hot-function at web.go:70")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "call it less often") {
		t.Errorf("%s", found[0].Remedy)
	}
	Expect(t, cpu.Format, formats("fmt.Fprintf", "github.com/gin-gonic/gin.(*Context).String"), "cpu-format at web.go:70")
	Expect(t, cpu.Format, formats("html/template.(*Template).Execute", "github.com/gin-gonic/gin.(*Context).HTML"),
		"cpu-format at web.go:70")
	Expect(t, cpu.Reflect, Healthy().Sample(6*s, "reflect.Value.Field", "encoding/json.Marshal", user))
	Expect(t, cpu.Clock, Healthy().Sample(6*s, "runtime.nanotime", "time.Since", user), "cpu-clock at web.go:70")
	Expect(t, cpu.Clock, Healthy().Sample(6*s, "crypto/internal/sysrand.Read", "crypto/rand.Read", user), "cpu-clock at web.go:70")
	Expect(t, cpu.Clock, Healthy().Sample(6*s, "runtime.nanotime", "time.Now", "net/http.(*conn).readRequest")) // the server's own
	seeds := Expect(t, cpu.Clock, Healthy().Sample(6*s, "math/rand.(*rngSource).Seed", "math/rand.newSource", "math/rand.NewSource",
		"shop/ids.newID@ids.go:15"), "cpu-clock at ids.go:15")
	draws := Expect(t, cpu.Clock, Healthy().Sample(6*s, "math/rand/v2.(*ChaCha8).Uint64", "math/rand/v2.IntN", user),
		"cpu-clock at web.go:70")
	if len(draws) == 1 && !strings.Contains(draws[0].Remedy, "draw fewer numbers") {
		t.Errorf("a number that was drawn once is not random: %s", draws[0].Remedy)
	}
	if len(seeds) == 1 && !strings.Contains(seeds[0].Remedy, "seed") {
		t.Errorf("a source is made, not read: %s", seeds[0].Remedy)
	}
	Expect(t, cpu.Router, Healthy().Sample(6*s, "regexp.(*Regexp).doExecute", "github.com/gorilla/mux.(*Route).Match",
		"github.com/gorilla/mux.(*Router).Match", "github.com/gorilla/mux.(*Router).ServeHTTP"), "cpu-router")
	tree := Expect(t, cpu.Router, Healthy().Sample(6*s, "github.com/go-chi/chi/v5.(*node).findRoute",
		"github.com/go-chi/chi/v5.(*node).FindRoute", "github.com/go-chi/chi/v5.(*Mux).routeHTTP"), "cpu-router")
	if len(tree) == 1 && !strings.HasPrefix(tree[0].Remedy, "chi.(*node).FindRoute finds routes in a tree already") {
		t.Errorf("chi instead of chi: %s", tree[0].Remedy)
	}
	Expect(t, cpu.RegexpMatch, Healthy().Sample(6*s, "regexp.(*Regexp).doExecute",
		"github.com/gorilla/mux.(*Route).Match", "github.com/gorilla/mux.(*Router).Match",
		"github.com/gorilla/mux.(*Router).ServeHTTP"))
}

func TestWorks(t *testing.T) {
	user := "shop/web.tally@web.go:70"
	Expect(t, cpu.Map, Healthy().Sample(8*s, "internal/runtime/maps.(*table).grow", "runtime.mapassign", user), "cpu-map at web.go:70")
	Expect(t, cpu.Map, Healthy().Sample(3*s, "runtime.mapaccess1", user).Sample(5*s, user)) // less than half of the function
	Expect(t, cpu.Copy, Healthy().Sample(8*s, "runtime.memmove", user), "cpu-copy at web.go:70")
	Expect(t, cpu.Copy, Healthy().Sample(8*s, "runtime.memmove", "encoding/json.Marshal", user))
	Expect(t, cpu.Copy, Healthy().Sample(8*s, "runtime.memmove", "runtime.growslice", user), "cpu-copy at web.go:70")
	Expect(t, cpu.Copy, Healthy().Sample(8*s, "runtime.memclrNoHeapPointers", "runtime.memclrNoHeapPointersChunked",
		"runtime.mallocgcLarge", "runtime.mallocgc", "runtime.makeslice", user)) // new memory, which alloc-hot counts
	// base64Captcha reads a font of 5 MB for each image: its caller has nothing to shift.
	copies := Healthy().Sample(8*s, "runtime.memmove", "embed.FS.ReadFile", "github.com/kept/image.loadFont",
		"github.com/kept/image.Draw", user)
	Expect(t, cpu.Copy, copies)
	lent := Expect(t, cpu.Hot, copies, "cpu-hot-function at web.go:70")
	if len(lent) == 1 && (!strings.Contains(lent[0].Title, "image.loadFont") || !strings.Contains(lent[0].Remedy, "cache")) {
		t.Errorf("%s: %s", lent[0].Title, lent[0].Remedy)
	}
	Expect(t, cpu.Atomics, Healthy().Sample(8*s, "sync/atomic.(*Int64).Add", user), "atomic-contention at web.go:70")
	Expect(t, cpu.Atomics, Healthy().Sample(8*s, "sync/atomic.(*Pointer[go.shape.struct { A.b }]).Load", user)) // it updates nothing
	// The time of an atomic lands on the line beside it, but not on a long loop's others.
	Expect(t, cpu.Atomics, Healthy().Sample(s/2, "sync/atomic.(*Int64).Add", user).
		Sample(8*s, "shop/web.tally@web.go:69"), "atomic-contention at web.go:69")
	Expect(t, cpu.Atomics, Healthy().Sample(s/2, "sync/atomic.(*Int64).Add", user).Sample(8*s, "shop/web.tally@web.go:60"))

	read := []string{"internal/runtime/syscall/linux.Syscall6", "syscall.read", "os.(*File).Read", user}
	calls := func(times float64) *Builder {
		return Healthy().Sample(8*s, read...).Wait(breakdown.StateSyscall, time.Millisecond, times, read...)
	}
	Expect(t, cpu.Syscalls, calls(300), "cpu-syscall at web.go:70")
	Expect(t, cpu.Syscalls, calls(2))
	// A buffer helps neither messages to many clients nor reads at offsets.
	for inner, want := range map[string]string{"net.(*conn).Write github.com/gorilla/websocket.(*Conn).WriteMessage": "combine messages",
		"os.(*File).ReadAt": "read larger blocks"} {
		pieces := append(append(read[:2:2], strings.Fields(inner)...), user)
		found := Expect(t, cpu.Syscalls, Healthy().Sample(8*s, pieces...).Wait(breakdown.StateSyscall, time.Millisecond, 300, pieces...),
			"cpu-syscall at web.go:70")
		if len(found) == 1 && (!strings.Contains(found[0].Remedy, want) || strings.Contains(found[0].Remedy, "Put a bufio")) {
			t.Errorf("%s: %s", inner, found[0].Remedy)
		}
	}
	// io.Copy has a buffer of its own: 32 KiB are no small piece. ReadAll's grows with what it reads.
	for _, bulk := range [][]string{{"io.copyBuffer", "io.Copy"}, {"io.ReadAll"}, {"os.WriteFile"}, {"bytes.(*Buffer).ReadFrom"}} {
		copied := append(append(read[:3:3], bulk...), user)
		Expect(t, cpu.Syscalls, Healthy().Sample(8*s, copied...).Wait(breakdown.StateSyscall, time.Millisecond, 300, copied...))
	}
	// A whole file is read in as few calls as there can be.
	whole := append(read[:3:3], "os.ReadFile", user)
	files := Expect(t, cpu.Syscalls, Healthy().Sample(8*s, whole...).Wait(breakdown.StateSyscall, time.Millisecond, 300, whole...),
		"cpu-syscall at web.go:70")
	if len(files) == 1 && (!strings.HasPrefix(files[0].Title, "Reading whole files") ||
		!strings.HasPrefix(files[0].Remedy, "Cache the data that")) {
		t.Errorf("files read whole: %s: %s", files[0].Title, files[0].Remedy)
	}
	// The goroutine that a request waits for makes the calls.
	worker := append(read[:4:4], "shop/web.collector")
	Expect(t, cpu.Syscalls, Healthy().Sample(8*s, worker...).Wait(breakdown.StateChannel, time.Millisecond, 1, "runtime.chanrecv1", user).
		Behind(breakdown.Chain{NS: 1e6, Links: []breakdown.Link{{Goroutine: "shop/web.collector", State: breakdown.StateSyscall, Times: 300,
			Stack: Stack(worker...)}}}), "cpu-syscall at web.go:70")
	// A bundle from elsewhere may hold a chain of nothing.
	Expect(t, cpu.Syscalls, calls(300).Behind(breakdown.Chain{NS: 1e6}), "cpu-syscall at web.go:70")
	walk := []string{"internal/runtime/syscall/linux.Syscall6", "syscall.fstatat", "os.Stat", "shop/web.list@web.go:80",
		"shop/web.page@web.go:90", "net/http.HandlerFunc.ServeHTTP", "shop/web.auth@web.go:9"}
	found := Expect(t, cpu.Syscalls, Healthy().Sample(8*s, walk...).
		Wait(breakdown.StateSyscall, time.Millisecond, 300, walk...), "cpu-syscall at web.go:80")
	if len(found) == 1 && (strings.Contains(found[0].Remedy, "bufio") || !strings.HasPrefix(found[0].Title, "Reading names")) {
		t.Errorf("a buffer for what reads no file: %s: %s", found[0].Title, found[0].Remedy)
	}
	if len(found) == 1 && !slices.ContainsFunc(found[0].Evidence, func(e findings.Evidence) bool {
		return e.Text == "called by web.page web.go:90" // and not by the middleware
	}) {
		t.Errorf("the callers are not named: %v", found[0].Evidence)
	}
	Expect(t, cpu.Syscalls, Healthy().Sample(8*s, "syscall.read", "os.(*File).Read", "bufio.(*Reader).fill",
		user).Wait(breakdown.StateSyscall, time.Millisecond, 300, read...))
}

// TestWalk: where a function calls itself on the way to the files, not to descend saves all that it does below, and the
// finding says so. One call of each function is no walk.
func TestWalk(t *testing.T) {
	const count, list = "shop/web.count@web.go:50", "shop/web.list@web.go:60"
	stat := []string{"internal/runtime/syscall/linux.Syscall6", "syscall.fstatat", "os.Stat", "shop/web.read@web.go:80"}
	run := func(way ...string) findings.Finding {
		walk := append(stat[:len(stat):len(stat)], way...)
		makes := append([]string{"shop/web.describe@web.go:20"}, way...)
		found := Expect(t, cpu.Syscalls, Healthy().Sample(4*time.Second, walk...).Sample(5*time.Second, makes...).
			Wait(breakdown.StateSyscall, time.Millisecond, 300, walk...), "cpu-syscall at web.go:80")
		if len(found) == 0 {
			t.FailNow()
		}
		return found[0]
	}
	const entry = "net/http.HandlerFunc.ServeHTTP"
	deep, flat := run(list, count, list, entry), run(list, count, entry)
	if says := "If web.list need not descend"; !strings.Contains(deep.Remedy, says) || strings.Contains(flat.Remedy, says) {
		t.Errorf("a walk: %s\nnone: %s", deep.Remedy, flat.Remedy)
	}
	if !(deep.GainHigh-1 > 2*(flat.GainCeiling-1)) || !(deep.GainLow > 0) {
		t.Errorf("the walk takes 90 %% and the calls 40 %%: worth %.2f to %.2f, beside %.2f", deep.GainLow, deep.GainHigh, flat.GainCeiling)
	}
}

// TestDelegate: for a function that consists of one call, the place is the caller that repeats it, though
// it reaches it in two ways; for a function that may have a loop, it is that function.
func TestDelegate(t *testing.T) {
	const open = "shop/files.OS.Open"
	stat := []string{"internal/runtime/syscall/linux.Syscall6", "syscall.Stat", "os.Open", open + "@os.go:30", "io/fs.Stat"}
	direct := append(stat[:5:5], "shop/web.list@web.go:96", "shop/web.page@web.go:9")
	through := append(stat[:5:5], "shop/web.isDir@web.go:343", "shop/web.list@web.go:74", "shop/web.page@web.go:9")
	run := func(begins int64) *Builder {
		return Healthy().Sample(5*s, direct...).Sample(4*s, through...).Begins(open, begins).
			Wait(breakdown.StateSyscall, time.Millisecond, 2000, direct...)
	}
	for begins, at := range map[int64]string{30: "web.go:96", 29: "web.go:96", 27: "os.go:30", 0: "os.go:30"} {
		found := Expect(t, cpu.Syscalls, run(begins), "cpu-syscall at "+at)
		if len(found) == 1 &&
			(!strings.Contains(found[0].Title, at) || strings.Contains(found[0].Remedy, "OS.Open") != (at == "os.go:30")) {
			t.Errorf("%s: %s: %s", at, found[0].Title, found[0].Remedy)
		}
	}
}

// A share of CPU is a sickness only when its remedy gains.
func TestWorkIsNoSickness(t *testing.T) {
	half := func(busy time.Duration) *Builder { return Healthy().Sample(busy, "encoding/json.Marshal", Route) }
	for _, c := range []struct {
		busy time.Duration
		want findings.Confidence
	}{{5 * s, findings.Low}, {60 * s, findings.High}} {
		b := half(c.busy).CPU(2, 1.96, 1.8, 0.16, 0)
		if found := Expect(t, cpu.JSON, b, "cpu-json"); len(found) == 1 && found[0].Confidence != c.want {
			t.Errorf("%v of JSON: confidence %s, want %s (gain %.2f)", c.busy, found[0].Confidence, c.want, found[0].GainCeiling)
		}
	}
}

// Names that the profile does not hold are not guessed.
func TestNoNames(t *testing.T) {
	b := New(64, 10*time.Millisecond).CPU(2, 1.9, 1.7, 0.1, 0).Sample(s, Route)
	for range 3 {
		b.Background(9*s, "")
	}
	ExpectUnjudged(t, cpu.JSON, b, "cpu-json")
	ExpectUnjudged(t, cpu.Hot, b, "cpu-hot-function")
}

func TestSaturated(t *testing.T) {
	b := func(target float64) *Builder {
		return New(64, 10*time.Millisecond).CPU(2, 1.98, target, 1.9-target, -1).Busy(9 * s)
	}
	found := Expect(t, cpu.Saturated, b(1.8), "cpu-saturated")
	if len(found) == 1 && (found[0].Confidence != findings.Low || len(found[0].Evidence) < 5) {
		t.Errorf("without the table of costs, or too sure: %+v", found[0])
	}
	Expect(t, cpu.Saturated, b(1)) // others use them
	// The generator shares the host, and hand-overs leave a part of it idle.
	shared := func(busy, target float64, queued time.Duration) *Builder {
		return New(32, 10*time.Millisecond).CPU(2, busy, target, 0.4, 0).Busy(6*s).
			Wait(breakdown.StateRunning, time.Millisecond, 1).Wait(breakdown.StateRunnable, queued, 2)
	}
	found = Expect(t, cpu.Saturated, shared(1.7, 1.28, 9*time.Millisecond), "cpu-saturated")
	if len(found) == 1 && (found[0].Confidence != findings.Low || !strings.Contains(found[0].Title, "next to the generator's 0.4")) {
		t.Errorf("%s: %s", found[0].Confidence, found[0].Title)
	}
	Expect(t, cpu.Saturated, shared(1.7, 0.9, 9*time.Millisecond))             // others use a third
	Expect(t, cpu.Saturated, shared(1.7, 1.28, time.Millisecond/2))            // requests do not wait for them
	Expect(t, cpu.Saturated, shared(1.7, 1.28, 9*time.Millisecond).Rate(3000)) // the rate is given
	Expect(t, cpu.Saturated, Idle())
}

// TestInstrument: the metrics' own work counts, and not that of the handler that they wrap.
func TestInstrument(t *testing.T) {
	metered := "shop/web.(*meters).metered.func1@web.go:31"
	with := []string{"github.com/prometheus/client_golang/prometheus.(*MetricVec).hashLabels",
		"github.com/prometheus/client_golang/prometheus.(*CounterVec).With", metered}
	found := Expect(t, cpu.Instrument, Healthy().Sample(4*s, with...), "instrumentation-cost at web.go:31")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "Look the series up once") {
		t.Errorf("remedy: %s", found[0].Remedy)
	}
	otel := Expect(t, cpu.Instrument, Healthy().Sample(4*s, "go.opentelemetry.io/otel/attribute.NewSetWithSortableFiltered",
		"go.opentelemetry.io/otel/metric.WithAttributes", metered), "instrumentation-cost at web.go:31")
	if len(otel) == 1 && !strings.Contains(otel[0].Remedy, "metric.WithAttributeSet") {
		t.Errorf("OpenTelemetry has no series to look up: %s", otel[0].Remedy)
	}
	sampled := []string{"runtime.profilealloc", "runtime.mallocgc", "runtime.makeslice", metered}
	Expect(t, cpu.Instrument, Healthy().Sample(3*s, sampled...).AllocsEvery(4096), "instrumentation-cost") // somebody began a profile
	Expect(t, cpu.Instrument, Healthy().Sample(3*s, sampled...).AllocsEvery(512<<10))                      // at the runtime's own rate
	Expect(t, cpu.Instrument, Healthy().Sample(s/4, sampled...).AllocsEvery(4096))
	Expect(t, cpu.Instrument, Healthy().Sample(s/4, with...)) // as it should be
	Expect(t, cpu.Instrument, Healthy().Sample(8*s, Route, "net/http.HandlerFunc.ServeHTTP",
		"github.com/prometheus/client_golang/prometheus/promhttp.InstrumentHandlerCounter.func1"))
	Expect(t, cpu.Instrument, Healthy().Sample(8*s, "github.com/prometheus/client_golang/prometheus.(*Registry).Gather",
		"github.com/prometheus/client_golang/prometheus/promhttp.HandlerForTransactional.func1"))
	Expect(t, cpu.Instrument, Healthy().Sample(8*s, "github.com/prometheus/client_golang/prometheus.(*histogram).Write",
		"github.com/prometheus/client_golang/prometheus.processMetric",
		"github.com/prometheus/client_golang/prometheus/promhttp.HandlerForTransactional.func1"))
	Expect(t, cpu.Instrument, Healthy().Background(6*s,
		"go.opentelemetry.io/otel/sdk/trace.(*batchSpanProcessor).exportSpans",
		"go.opentelemetry.io/otel/sdk/trace.(*batchSpanProcessor).processQueue"), "instrumentation-cost")
}

// TestBackground distinguishes work beside requests from work for them.
func TestBackground(t *testing.T) {
	rebuild := []string{"slices.SortFunc", "shop/market.(*Market).reindex@market.go:44", "shop/market.(*Market).keepFresh@market.go:36"}
	busy := func() *Builder { return Healthy().CPU(2, 1.96, 1.8, 0.1, 0.05) }
	Expect(t, cpu.Background, busy())
	Expect(t, cpu.Background, busy().Background(10*s, rebuild...), "background-work at market.go:44")
	Expect(t, cpu.Background, busy().Background(s/4, rebuild...)) // a light ticker
	Expect(t, cpu.Background, busy().Sample(10*s, rebuild...))    // within a request
	Expect(t, cpu.Background, busy().Background(10*s, "syscall.accept4", "net.(*TCPListener).Accept",
		"net/http.(*Server).Serve", "net/http.ListenAndServe", "main.main@main.go:12")) // one connection per request
	answered := busy().Background(10*s, rebuild...).Wait(breakdown.StateChannel, 5*time.Millisecond, 1, Route).
		Behind(breakdown.Chain{Links: []breakdown.Link{{Goroutine: "shop/market.(*Market).keepFresh", State: breakdown.StateRunning}}})
	Expect(t, cpu.Background, answered) // a worker that requests wait for
	started := Expect(t, cpu.Background, busy().Background(10*s, "shop/mail.send@mail.go:9",
		"shop/orders.(*API).Query.func1@api.go:90"), "background-work at mail.go:9")
	if len(started) == 1 && started[0].Confidence != findings.Low {
		t.Errorf("what a request starts: %s", started[0].Confidence)
	}
	// The trace saw the requests start it: it is theirs, and named for what it does.
	Expect(t, cpu.Background, busy().Background(10*s, rebuild...).Helper("shop/market.(*Market).keepFresh", 90, "shop/api.Query@api.go:90"))
	// So it is if requests wake who does it, and not a timer.
	Expect(t, cpu.Background, busy().Background(10*s, rebuild...).Woken("shop/market.(*Market).keepFresh", 100, 60))
	Expect(t, cpu.Background, busy().Background(10*s, rebuild...).Woken("shop/market.(*Market).keepFresh", 100, 3),
		"background-work at market.go:44")
}

// TestBackgroundOfADependency: cache2go looks at all items of a table on goroutines of its own, without any function
// of the service on the stack. What answers a connection or the service's own calls is no background work.
func TestBackgroundOfADependency(t *testing.T) {
	const table = "github.com/kept/cache.(*Table)."
	busy := func() *Builder { return Healthy().CPU(2, 1.96, 1.8, 0.1, 0.05) }
	sweep := []string{"runtime.mapIterNext", table + "sweep", table + "loop"}
	found := Expect(t, cpu.Background, busy().Background(10*s, sweep...), "background-work at lib.go:0")
	if len(found) == 1 && (found[0].Where.Function != table+"sweep" || !strings.Contains(found[0].Remedy, "dependency")) {
		t.Errorf("%+v: %s", found[0].Where, found[0].Remedy)
	}
	Expect(t, cpu.Background, busy().Background(10*s, "runtime.memmove", "github.com/jackc/pgx/v5/pgconn.(*PgConn).receive",
		"github.com/jackc/pgx/v5/pgconn.(*PgConn).bgRead")) // a driver's reader works for the service's calls
	Expect(t, cpu.Background, busy().Background(6*s, "go.opentelemetry.io/otel/sdk/trace.(*batchSpanProcessor).exportSpans",
		"go.opentelemetry.io/otel/sdk/trace.(*batchSpanProcessor).processQueue")) // instrumentation-cost
	const transport = "google.golang.org/grpc/internal/transport."
	Expect(t, cpu.Background, busy().Background(8*s, transport+"(*loopyWriter).processData", transport+"(*loopyWriter).run",
		transport+"NewServerTransport.func2").Background(2*s, "syscall.write", "net.(*conn).Write", transport+"(*bufWriter).flush",
		transport+"(*loopyWriter).run", transport+"NewServerTransport.func2")) // it writes the answers
	serves := func(b *Builder) *Builder { // a server that redline does not know runs the handlers there
		return b.Background(s/4, "shop/web.list@web.go:9", "github.com/other/server.(*loop).read", "github.com/other/server.(*loop).run")
	}
	Expect(t, cpu.Background, serves(busy()).Background(10*s, "github.com/other/server.parse", "github.com/other/server.(*loop).read",
		"github.com/other/server.(*loop).run"))
}

// TestGrowth: a cost that rises with the stored data, and look-alikes.
func TestGrowth(t *testing.T) {
	rising := func(by float64) func(int) float64 {
		return func(w int) float64 { return 1e8 * (0.5 + by*float64(w)/100) }
	}
	keeps := func(w int) float64 { return 1e6 * float64(10+w) }
	grows := func() *Builder {
		return Healthy().Sample(20*s, "shop/door.(*History).count@door.go:34", Route).
			Series(series.ProcessUser, "", rising(0.5)).Series("/gc/heap/live:bytes", "", keeps)
	}
	Expect(t, cpu.Growth, grows(), "grows-with-state at door.go:34")
	// The handler encodes all that is kept, and hardly computes itself.
	encodes := Healthy().Sample(s/10, "shop/door.article@door.go:15", Route).
		Sample(40*s, "reflect.Value.Field", "encoding/json.Marshal", "shop/door.(*History).list@door.go:60").
		Series(series.ProcessUser, "", rising(0.5)).Series("/gc/heap/live:bytes", "", keeps)
	if found := Expect(t, cpu.Growth, encodes, "grows-with-state at door.go:60"); len(found) == 1 &&
		!strings.HasSuffix(found[0].Title, " in door.(*History).list at door.go:60") {
		t.Error(found[0].Title)
	}
	// A table grows, and the service's hottest function does not.
	table := Healthy().Sample(20*s, "shop/door.(*History).count@door.go:34", Route).
		Series(series.ProcessUser, "", func(int) float64 { return 1e7 }).Series(series.DBCPU, "", rising(0.9))
	if found := Expect(t, cpu.Growth, table, "grows-with-state"); len(found) == 1 &&
		(!strings.HasSuffix(found[0].Title, "most of it in the database") || !strings.HasPrefix(found[0].Remedy, "Find the statement")) {
		t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
	}
	// http-cache decodes all entries where it evicts one, in front of a handler that hardly runs: what grows is below the
	// function that has enough of the CPU to grow by as much.
	const kept = "github.com/kept/memory.(*Adapter)."
	library := Healthy().Sample(s/10, "shop/door.article@door.go:15", Route).
		Sample(20*s, "encoding/gob.(*Decoder).Decode", kept+"evict", kept+"Set").
		Series(series.ProcessUser, "", rising(0.5)).Series("/gc/heap/live:bytes", "", keeps)
	if found := Expect(t, cpu.Growth, library, "grows-with-state at lib.go:0"); len(found) == 1 && found[0].Where.Function != kept+"evict" {
		t.Errorf("a dependency grows: %+v", found[0].Where)
	}
	// The cost rises from 2 to 92: against the first quarter of the run five sixths of it are
	// growth, against nothing stored all but a twentieth, of a function that takes all CPU.
	nothing := func() *Builder {
		return New(12, 10*time.Millisecond).CPU(2, 1, 0.5, 0.1, -1).Counter(series.ProcessSystem, "", 0).
			Series(series.ProcessUser, "", func(w int) float64 { return 1e8 * (0.02 + 0.9*float64(w)/100) }).
			Series("/gc/heap/live:bytes", "", keeps).Sample(20*s, "shop/door.(*History).count@door.go:34", Route)
	}
	all := Expect(t, cpu.Growth, nothing(), "grows-with-state at door.go:34")
	half := Expect(t, cpu.Growth, nothing().Sample(20*s, "encoding/json.Marshal", Route), "grows-with-state at door.go:34")
	if len(all) == 1 && len(half) == 1 && (all[0].Share < 0.93 || half[0].Share < 0.8 || half[0].Share > 0.9) {
		t.Errorf("share %.2f, of a function with half of the CPU %.2f", all[0].Share, half[0].Share)
	}
	Expect(t, cpu.Growth, Healthy())
	Expect(t, cpu.Growth, grows().Series(series.ProcessUser, "", rising(0.05)))                 // hardly
	Expect(t, cpu.Growth, grows().Gauge("/gc/heap/live:bytes", "", 4e6).Without(series.GCLive)) // nothing is kept
	// others took the host meanwhile
	others := func(w int) float64 { return rising(0.5)(w) * 4 }
	Expect(t, cpu.Growth, grows().Series(series.HostBusy, "", others))
	// They start in the last third: until then the cost rises by a sixth.
	step := func(w int) float64 { return 1e8 * (0.5 + 0.1*float64(w)/100 + 0.5*float64(w/67)) }
	busy := func(others float64) *Builder {
		return grows().Series(series.ProcessUser, "", step).
			Series(series.HostBusy, "", func(w int) float64 { return step(w) + 1e8*(0.5+others*float64(w/67)) })
	}
	Expect(t, cpu.Growth, busy(1.2))
	Expect(t, cpu.Growth, busy(0), "grows-with-state at door.go:34")
	asked := grows().Series(series.HostBusy, "", others).Series(series.PeersCPU, series.Labels("program", "backend", "port", "9001"),
		func(w int) float64 { return rising(0.5)(w) * 2.5 }) // the service asks them
	Expect(t, cpu.Growth, asked, "grows-with-state at door.go:34")
}

// TestGrowthOfFewRequests: a service that slows down answers fewer and fewer. Its run is divided by requests then, not by time.
func TestGrowthOfFewRequests(t *testing.T) {
	slower := func(requests float64) *Builder {
		sent := func(w int) float64 { // by the end of a window; the time between two grows ninefold
			return math.Floor(requests / 60 * (math.Sqrt(0.35*0.35+4*0.022*float64(w+1)) - 0.35) / (2 * 0.022))
		}
		return Healthy().Sample(20*s, "shop/door.(*History).count@door.go:34", Route).
			Series(series.LoadRequests, "", func(w int) float64 { return sent(w) - sent(w-1) }).
			Series(series.ProcessUser, "", func(int) float64 { return 5e7 }).
			Series("/gc/heap/live:bytes", "", func(w int) float64 { return 1e6 * float64(10+w) })
	}
	found := Expect(t, cpu.Growth, slower(60), "grows-with-state at door.go:34")
	if len(found) == 1 && !strings.Contains(found[0].Title, "4.") {
		t.Errorf("between the first and the last quarter of the requests their cost grows more than fourfold: %s", found[0].Title)
	}
	ExpectUnjudged(t, cpu.Growth, slower(30), "grows-with-state")
}

// TestMapUse: a map that is searched or ranged over is not one that is filled.
func TestMapUse(t *testing.T) {
	user := "shop/web.route@web.go:70"
	says := func(title, remedy string, frames ...string) {
		t.Helper()
		found := Expect(t, cpu.Map, Healthy().Sample(8*s, append(frames, user)...), "cpu-map at web.go:70")
		if len(found) == 1 && (!strings.Contains(found[0].Title, title) || !strings.Contains(found[0].Remedy, remedy)) {
			t.Errorf("%q, %q: want %q, %q", found[0].Title, found[0].Remedy, title, remedy)
		}
	}
	says("Filling maps", "size", "internal/runtime/maps.(*table).grow", "internal/runtime/maps.(*table).rehash",
		"runtime.mapassign_faststr")
	says("Looking up keys", "an index by the value that it looks for", "aeshashbody", "runtime.strhash", "runtime.mapaccess1_faststr")
	says("Ranging over whole maps", "index", "internal/runtime/maps.(*Iter).Next", "runtime.mapIterNext")
	const shared = "internal/sync.(*HashTrieMap[go.shape.interface {},go.shape.interface {}])."
	says("Looking up keys", "look each key up once", "runtime.efaceeq", shared+"Load", "sync.(*Map).Load")
	says("Storing in sync.Maps", "load a key first", "aeshashbody", shared+"Swap", "sync.(*Map).Swap", "sync.(*Map).Store")
	// before Go 1.24
	says("Storing in sync.Maps", "load a key first", "runtime.mapassign", "sync.(*Map).dirtyLocked", "sync.(*Map).LoadOrStore")
	says("Ranging over whole maps", "index", shared+"iter", "sync.(*Map).Range")
	says("Ranging over whole maps", "index", "runtime.mapiternext")
}

// TestWorkOfManyFunctions: of what several functions do alike, the largest may have a small part.
func TestWorkOfManyFunctions(t *testing.T) {
	b := Healthy()
	for i, f := range []string{"a", "b", "c", "d", "e"} {
		b.Sample(time.Duration(12-i)*s/2, "runtime.mapaccess1_faststr", "shop/rules."+f+"@"+f+".go:7")
	}
	found := Expect(t, cpu.Map, b, "cpu-map at a.go:7")
	if len(found) == 1 && !strings.HasSuffix(found[0].Title, ", 24 % of it at a.go:7") {
		t.Error(found[0].Title)
	}
}

// TestBelowHelper: for a helper that all handlers call, the place is the handler that causes its work.
func TestBelowHelper(t *testing.T) {
	write, list, show := "shop/web.writeJSON@web.go:20", "shop/orders.(*API).list@api.go:55", "shop/orders.(*API).show@api.go:80"
	encode := func(caller string) []string {
		return []string{"encoding/json.(*encodeState).marshal", "encoding/json.(*Encoder).Encode", write, caller}
	}
	found := Expect(t, cpu.JSON, Healthy().Sample(9*s, encode(list)...).Sample(s/2, encode(show)...), "cpu-json at api.go:55")
	if len(found) == 1 && !strings.Contains(found[0].Title, "web.writeJSON") {
		t.Errorf("the helper is not named: %s", found[0].Title)
	}
	Expect(t, cpu.JSON, Healthy().Sample(5*s, encode(list)...).Sample(5*s, encode(show)...), "cpu-json at web.go:20")
	Expect(t, cpu.JSON, Healthy().Sample(9*s, encode(list)...), "cpu-json at web.go:20") // its only caller
}

// TestPartsOfOneType: what each method of a type takes is its own, and so is what each literal that main registers takes. Of several
// lines of one function none need have most.
func TestPartsOfOneType(t *testing.T) {
	encode := func(b *Builder, d time.Duration, at string) *Builder {
		return b.Sample(d, "encoding/json.(*encodeState).marshal", "encoding/json.Marshal", at)
	}
	for _, name := range []string{"shop/web.(*Server).get", "main.main.func"} {
		b := encode(Healthy(), 3*s, name+"1@server.go:10")
		for i := range 4 {
			at := strconv.Itoa(i + 2)
			encode(b, 2*s, name+at+"@server.go:"+at+"0")
		}
		found := Expect(t, cpu.JSON, b, "cpu-json at server.go:10")
		if len(found) == 1 && !strings.HasSuffix(found[0].Title, ", 26 % of it at server.go:10") {
			t.Errorf("%s: %s", name, found[0].Title)
		}
	}
	lines := encode(Healthy(), 4*s, "shop/web.list@web.go:20")
	for _, line := range []string{"25", "30"} {
		encode(lines, 3*s, "shop/web.list@web.go:"+line)
	}
	found := Expect(t, cpu.JSON, lines, "cpu-json at web.go:20")
	if len(found) == 1 && !strings.HasSuffix(found[0].Title, ", most of it in web.list, hottest at web.go:20") {
		t.Error(found[0].Title)
	}
}

// TestCalledFromThePlace: a template calls a method that formats. The method does not execute the template.
func TestCalledFromThePlace(t *testing.T) {
	found := Expect(t, cpu.Format, Healthy().Sample(6*s, "fmt.Sprintf", "shop/tpl.Money.String@money.go:9",
		"text/template.(*state).printValue", "text/template.(*Template).Execute", "shop/tpl.Render@render.go:60"),
		"cpu-format at money.go:9")
	if len(found) == 1 && !strings.HasSuffix(found[0].Remedy, "instead of fmt.Sprintf.") {
		t.Error(found[0].Remedy)
	}
}

// TestWrapperIsNotThePlace: a logging ResponseWriter flushes the writer that it wraps, and the place is where
// the service flushes. A method that also does something else is no wrapper.
func TestWrapperIsNotThePlace(t *testing.T) {
	flush := []string{"compress/flate.(*compressor).deflate", "compress/gzip.(*Writer).Flush",
		"github.com/gorilla/handlers.(*compressResponseWriter).Flush", "shop/web.(*logWriter).Flush@log.go:31",
		"shop/git.send@send.go:90", Route}
	found := Expect(t, cpu.Compress, Healthy().Sample(5*s, flush...), "cpu-compress at send.go:90")
	if len(found) == 1 && !strings.Contains(found[0].Title, "through web.(*logWriter).Flush") {
		t.Errorf("the wrapper is not named: %s", found[0].Title)
	}
	Expect(t, cpu.Compress, Healthy().Sample(5*s, flush...).Sample(s,
		"compress/flate.(*compressor).deflate", "compress/gzip.(*Writer).Write",
		"shop/web.(*logWriter).Flush@log.go:33", "shop/git.send@send.go:90", Route), "cpu-compress at log.go:31")
}

// TestTextThatNoRequestBrings: watchman normalises the names of 17,000 entities for each search. Text that is neither
// the request's nor its response's is stored, and so is what it is changed to.
func TestTextThatNoRequestBrings(t *testing.T) {
	const at = "shop/search.normalize@search.go:32"
	formats := func(sent, got float64, frames ...string) string {
		b := Healthy().Sample(6*s, append(frames, at, "shop/search.(*API).find@search.go:9")...)
		b.Counter(series.LoadBytesOut, "", sent*b.Requests()).Counter(series.LoadBytesIn, "", got*b.Requests())
		found := Expect(t, cpu.Format, b, "cpu-format at search.go:32")
		if len(found) == 0 {
			return ""
		}
		return found[0].Remedy
	}
	if r := formats(100, 200, "strings.ToLower"); !strings.HasPrefix(r, "If the text at search.go:32 derives from stored data") {
		t.Errorf("stored text: %s", r)
	}
	for name, r := range map[string]string{
		"a long answer":  formats(100, 50000, "strings.ToLower"),
		"a long request": formats(50000, 200, "strings.ToLower"),
	} {
		if !strings.HasPrefix(r, "At search.go:32") {
			t.Errorf("%s: %s", name, r)
		}
	}
}

// TestTextForEachOfMany: where a line formats each of many stored things, the advice is to index them, which saves everything
// that its function does. A line that runs a few times gets no such advice.
func TestTextForEachOfMany(t *testing.T) {
	const at = "shop/rules.(*Rule).matches@rule.go:32"
	found := func(objects float64) findings.Finding {
		b := Healthy().CPU(2, 1.99, 1.2, 0.4, 0.3).Sample(4*s, "fmt.Sprintf", at).Sample(4*s, "path.Match", at)
		b.Counter(series.LoadBytesOut, "", 100*b.Requests()).Counter(series.LoadBytesIn, "", 200*b.Requests())
		f := Expect(t, cpu.Format, b.Alloc(int64(objects*b.Requests()), 1<<30, at), "cpu-format at rule.go:32")
		if len(f) == 0 {
			t.FailNow()
		}
		return f[0]
	}
	const advice = "index them by what it looks for, and rules.(*Rule).matches no longer works on the rest"
	many, few := found(1800), found(4)
	if !strings.Contains(many.Remedy, advice) || strings.Contains(few.Remedy, advice) {
		t.Errorf("many: %s\nfew: %s", many.Remedy, few.Remedy)
	}
	if many.GainCeiling != few.GainCeiling || many.GainHigh <= few.GainHigh {
		t.Errorf("many: %.2f up to %.2f, few: %.2f up to %.2f", many.GainCeiling, many.GainHigh, few.GainCeiling, few.GainHigh)
	}
}

// TestTextIsNoPurpose: formatting is what some services are for, but not where it is more than requests send and receive. Then a
// smaller part of the CPU is a defect.
func TestTextIsNoPurpose(t *testing.T) {
	confidence := func(got float64) findings.Confidence {
		b := Healthy().CPU(2, 1.99, 1.2, 0.4, 0.3).Sample(3800*time.Millisecond, "fmt.Sprintf", "shop/match.text@match.go:32",
			"shop/match.(*API).pairs@match.go:9")
		b.Counter(series.LoadBytesOut, "", 100*b.Requests()).Counter(series.LoadBytesIn, "", got*b.Requests())
		if found := Expect(t, cpu.Format, b, "cpu-format at match.go:32"); len(found) == 1 {
			return found[0].Confidence
		}
		return ""
	}
	if needless, answered := confidence(200), confidence(50000); needless != findings.High || answered != findings.Low {
		t.Errorf("%s for text that nobody gets, %s for that of the answer", needless, answered)
	}
}

// TestComparisonThatSortsSlowly: carbonapi's comparison rewrites both names by an expression. Sorting calls it n log n
// times, where a key for each element takes n.
func TestComparisonThatSortsSlowly(t *testing.T) {
	const handler = "shop/list.(*API).list@list.go:40"
	sorts := func(frames ...string) *Builder {
		return Healthy().Sample(6*s, append(frames, "shop/list.byName.Less@sort.go:66", "sort.insertionSort", "sort.Sort", handler)...)
	}
	found := Expect(t, cpu.Sort, sorts("regexp.(*Regexp).doExecute", "regexp.(*Regexp).ReplaceAllFunc", "shop/list.byName.pad@sort.go:56"),
		"cpu-sort at list.go:40")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "list.byName.pad") ||
		!strings.HasPrefix(found[0].Remedy, "Compute each element's key once")) {
		t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
	}
	found = Expect(t, cpu.Sort, sorts(), "cpu-sort at list.go:40")
	if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, "Keep the data") {
		t.Errorf("a cheap comparison: %s", found[0].Remedy)
	}
}

// TestLogFileOpenedForEachLine: lfshook opens and closes its file for each line. A buffer would not help there.
func TestLogFileOpenedForEachLine(t *testing.T) {
	const at, hook = "shop/web.order@web.go:31", "github.com/rifflock/lfshook.(*LfsHook).fileWrite"
	info := []string{hook, "github.com/sirupsen/logrus.(*Entry).Info", at}
	writes := Healthy().Sample(4*s, append([]string{"syscall.Write", "os.(*File).Write"}, info...)...)
	found := Expect(t, cpu.Logging, writes, "cpu-logging at web.go:31")
	if len(found) == 1 && strings.Contains(found[0].Remedy, "open") {
		t.Errorf("a file that stays open: %s", found[0].Remedy)
	}
	opens := writes.Sample(2*s, append([]string{"syscall.openat", "os.OpenFile"}, info...)...).
		Sample(s, append([]string{"syscall.fstatat", "os.Stat", "os.MkdirAll"}, info...)...)
	found = Expect(t, cpu.Logging, opens, "cpu-logging at web.go:31")
	if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, "Keep the file open: lfshook.(*LfsHook).fileWrite opens,") {
		t.Errorf("a file that is opened for each line: %s", found[0].Remedy)
	}
}

// TestWordsOfTheWork: what unpacks is not told to compress less, and a connection is no token.
func TestWordsOfTheWork(t *testing.T) {
	const at = "shop/tiles.load@tiles.go:19"
	for name, c := range map[string]struct {
		in    diagnose.Analyzer
		stack []string
		title string
		does  string
	}{
		"packs": {cpu.Compress, []string{"compress/flate.(*compressor).deflate", "compress/gzip.(*Writer).Write"}, "Compression", "a lower level"},
		"unpacks": {cpu.Compress, []string{"compress/flate.(*decompressor).huffmanBlock", "compress/gzip.(*Reader).Read", "io.Copy"},
			"Decompression", "If tiles.go:19 decompresses the same data repeatedly, cache the result"},
		"hashes": {cpu.Crypto, []string{"golang.org/x/crypto/blowfish.encryptBlock", "golang.org/x/crypto/bcrypt.CompareHashAndPassword"},
			"Hashing", "Check a password once"},
		"signs": {cpu.Crypto, []string{"crypto/rsa.decrypt", "github.com/golang-jwt/jwt/v5.(*Parser).Parse"},
			"Hashing", "Cache the result of"},
		"encrypts": {cpu.Crypto, []string{"crypto/internal/fips140/aes.encryptBlock", "crypto/cipher.(*ctr).XORKeyStream"},
			"Encrypting and decrypting (cipher.(*ctr).XORKeyStream)", "encrypt or decrypt the same data once"},
		"dials": {cpu.Crypto, []string{"crypto/rsa.decrypt", "golang.org/x/crypto/ssh.NewClientConn", "golang.org/x/crypto/ssh.Dial"},
			"Hashing", "Keep the connection that ssh.Dial opens"},
		"parses": {cpu.Crypto, []string{"crypto/x509.parseCertificate", "crypto/x509.ParseCertificate",
			"crypto/x509.(*CertPool).AppendCertsFromPEM"}, "Parsing certificates", "Parse the certificates once"},
	} {
		b := Healthy().Sample(9*time.Second, append(c.stack, at)...)
		found := Expect(t, c.in, b, c.in.Causes[0].ID+" at tiles.go:19")
		if len(found) == 1 && (!strings.HasPrefix(found[0].Title, c.title) || !strings.Contains(found[0].Remedy, c.does)) {
			t.Errorf("%s: %s: %s", name, found[0].Title, found[0].Remedy)
		}
	}
}

// TestKeptCalls: where the advice is to cache the result of a dependency's call, all that the call does goes, whatever
// library below it matches expressions.
func TestKeptCalls(t *testing.T) {
	const at, convert = "shop/page.Render@page.go:39", "lib.test/markdown.Convert"
	render := func(rest time.Duration) findings.Finding {
		b := New(8, 40*time.Millisecond).CPU(2, 1.98, 1.8, 0.1, 0).Wait(breakdown.StateRunnable, 30*time.Millisecond, 3).
			Sample(9*time.Second, "regexp.(*Regexp).backtrack", "regexp.(*Regexp).FindString", "lib.test/highlight.match", convert, at).
			Sample(rest, "lib.test/markdown.(*parser).next", convert, at).Sample(time.Second, "shop/page.list@list.go:5")
		found := Expect(t, cpu.RegexpMatch, b, "cpu-regexp-match at page.go:39")
		if len(found) != 1 {
			t.FailNow()
		}
		return found[0]
	}
	if f := render(8 * time.Second); !(f.GainHigh > 2*f.GainLow) {
		t.Errorf("worth %.2fx, %.2fx to %.2fx", f.GainCeiling, f.GainLow, f.GainHigh)
	}
	if f := render(10 * time.Millisecond); f.GainHigh > 1.5*f.GainCeiling {
		t.Errorf("nothing else: worth %.2fx, %.2fx to %.2fx", f.GainCeiling, f.GainLow, f.GainHigh)
	}
}
