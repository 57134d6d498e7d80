package cpu_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// TestKeptValueSavesItsSource: keeping a decoded value saves reading its source too, in a function that does little else.
func TestKeptValueSavesItsSource(t *testing.T) {
	const load, list = "shop/orders.(*Index).load@index.go:20", "shop/orders.(*API).list@api.go:70"
	high, question, waits := 0.0, false, ""
	gain := func(other time.Duration, others ...string) float64 {
		b := New(8, time.Millisecond).CPU(2, 1.9, 1.7, 0.1, -1).
			Sample(7*s, "encoding/json.(*decodeState).object", "encoding/json.Unmarshal", load, list)
		b.Sample(other, append(others, list)...).Sample(s, "shop/orders.total@total.go:4", list)
		b.Counter(series.LoadBytesOut, "", 100*b.Requests()).Counter(series.LoadBytesIn, "", 200*b.Requests())
		if question {
			b.Asks(operation.HTTP, "GET stock/all", 1000, time.Millisecond, 0, Caller(1, time.Millisecond, "net/http.(*Client).Do", load))
		}
		if waits != "" {
			b.CPU(2, 0.9, 0.8, 0.05, -1)
			b.Wait(breakdown.StateRunning, time.Millisecond/4, 1).Wait(breakdown.StateSelect, 3*time.Millisecond/4, 1, "runtime.selectgo",
				"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", waits)
		}
		found := Expect(t, cpu.JSON, b, "cpu-json at index.go:20")
		if len(found) == 0 {
			t.FailNow()
		}
		high = found[0].GainHigh
		return found[0].GainCeiling
	}
	reads, apart := gain(2*s, "syscall.Read", "os.(*File).Read", "os.ReadFile", load), gain(2*s, "shop/orders.sum@total.go:9")
	if reads < 1.8*apart {
		t.Errorf("with what reads the file %.2fx, without %.2fx", reads, apart)
	}
	if works := gain(5*s, "shop/orders.rank@index.go:50", load); works > apart {
		t.Errorf("a function that mostly does something else: %.2fx", works)
	}
	question = true
	if asked := gain(2*s, "syscall.Read", "net.(*conn).Read", "io.ReadAll", load); asked > apart || high < reads {
		t.Errorf("the answer to a question, which may differ: %.2fx to %.2fx, want %.2fx to %.2fx", asked, high, apart, reads)
	}
	kept := func(at string) float64 {
		waits = at
		gain(2*s, "syscall.Read", "net.(*conn).Read", "io.ReadAll", load)
		return high
	}
	if own, other := kept(load), kept("shop/orders.total@total.go:4"); own < 2*other {
		t.Errorf("a kept answer is not waited for either: at most %.2fx, and %.2fx if another call is waited for", own, other)
	}
}

// TestLessJSON: where the sizes of requests and answers say that less can be encoded or decoded, a faster encoder is not
// the first advice.
func TestLessJSON(t *testing.T) {
	const list = "shop/orders.(*API).list@api.go:70"
	decode := []string{"encoding/json.(*decodeState).object", "encoding/json.Unmarshal", Route, list}
	encode := []string{"reflect.Value.Field", "encoding/json.Marshal", Route, list}
	sized := func(b *Builder, sent, got float64) *Builder {
		return b.Counter(series.LoadBytesOut, "", sent*b.Requests()).Counter(series.LoadBytesIn, "", got*b.Requests())
	}
	decodes := func(sent float64) *Builder { return sized(Healthy().Sample(6*s, decode...), sent, 200) }
	encodes := func(got float64) *Builder { return sized(Healthy().Sample(6*s, encode...), 100, got) }
	differs := encodes(1).Series(series.LoadBytesIn, "", func(window int) float64 { return 200000 * float64(5+window%3) })
	const less = "First, decode less at api.go:88: a request of 100 B brings less than is decoded there"
	const general = "At api.go:88, use generated code"
	for name, c := range map[string]struct {
		b    *Builder
		want string
	}{
		"more than a request brings": {decodes(100), less + ". Decode it once"},
		"what a request brings":      {decodes(20000), general},
		"what a compressed request brings": {decodes(100).Sample(s/5, "compress/flate.(*decompressor).huffmanBlock",
			"compress/gzip.(*Reader).Read", Route, list), general},
		"a compressed answer to the service": {decodes(100).Sample(s/5, "compress/flate.(*decompressor).huffmanBlock",
			"compress/gzip.(*Reader).Read", "net/http.(*gzipReader).Read", Route, list), less + ". Decode it once"},
		"sizes unknown": {Healthy().Sample(6*s, decode...), general},
		"a file": {decodes(100).Sample(s/5, "syscall.Read", "os.(*File).Read", "os.ReadFile", Route),
			less + " (a file that orders.(*API).Query reads)."},
		"a file, by the traces": {decodes(100).Wait(breakdown.StateSyscall, time.Millisecond, 1, "syscall.Read", "os.(*File).Read", list),
			less + " (a file that orders.(*API).list reads)."},
		"a log": {decodes(100).Sample(s/5, "syscall.Write", "os.(*File).Write", Route), less + ". Decode it once"},
		"an answer": {decodes(100).Asks(operation.HTTP, "GET stock/all", 1000, time.Millisecond, 0,
			Caller(1, time.Millisecond, "net/http.(*Client).Do", list)),
			less + " (the response to GET stock/all, which orders.(*API).list requests). Decode only what responses need"},
		"an answer to others": {decodes(100).Asks(operation.HTTP, "GET stock/all", 1000, time.Millisecond, 0,
			Caller(1, time.Millisecond, "net/http.(*Client).Do", "shop/stock.(*Client).all@stock.go:9")), less + ". Decode it once"},
		"answers alike":          {encodes(20000), "All responses to this load have the same size"},
		"answers that differ":    {differs, general},
		"more than the answer":   {encodes(20), general},
		"encoded, decoded again": {sized(Healthy().Sample(3*s, encode...).Sample(3*s, decode...), 100, 100), "If values are only copied by encoding"},
		"decoded, then answered": {sized(Healthy().Sample(3*s, encode...).Sample(3*s, decode...), 20000, 20000), general},
	} {
		found := Expect(t, cpu.JSON, c.b, "cpu-json at api.go:88")
		if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, c.want) {
			t.Errorf("%s: %s", name, found[0].Remedy)
		}
	}
}

// TestWhoseJSON: a place in the service's own code is named before one in a dependency that takes up to twice as much, because that is
// what its reader can change; what else takes a part is listed.
func TestWhoseJSON(t *testing.T) {
	decoding := func(own time.Duration) *Builder {
		decode := []string{"encoding/json.(*decodeState).object", "encoding/json.Unmarshal"}
		const post = "vendor.example/graph/transport.POST.Do@/root/go/pkg/mod/vendor.example/graph@v1.0.0/post.go:69"
		return New(8, time.Millisecond).CPU(2, 1.9, 1.7, 0.1, -1).Sample(4*s, append(decode, post)...).
			Sample(own, append(decode, "shop/orders.addBody@middleware.go:126")...).Sample(s, "shop/orders.total@total.go:4")
	}
	for _, c := range []struct {
		own          time.Duration
		at, in, list string
	}{
		{3 * s, "cpu-json at middleware.go:126", "43 % of it in the service's own code at middleware.go:126", "transport.POST.Do (post.go:69)"},
		{s, "cpu-json at post.go:69", "most of it at post.go:69", "orders.addBody (middleware.go:126)"},
	} {
		found := Expect(t, cpu.JSON, decoding(c.own), c.at)
		if len(found) != 1 {
			t.FailNow()
		}
		if own := c.own > s; strings.Contains(found[0].Remedy, "in a dependency") == own {
			t.Errorf("%s is advised for %s", found[0].Remedy, c.at)
		}
		if !strings.HasSuffix(found[0].Title, c.in) || !strings.Contains(fmt.Sprint(found[0].Evidence), c.list) {
			t.Errorf("%q, %v; want %q, and %q listed", found[0].Title, found[0].Evidence, c.in, c.list)
		}
	}
}
