package cpu_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/record"
)

const s = time.Second

func TestDomains(t *testing.T) {
	marshal := []string{"reflect.Value.Field", "encoding/json.Marshal", Route}
	Expect(t, cpu.JSON, Healthy().Sample(4*s, marshal...), "cpu-json at api.go:88")
	Expect(t, cpu.JSON, Healthy())
	Expect(t, cpu.JSON, Idle().Wait(record.StateNetwork, 30*time.Millisecond, 1, Query()...).Sample(s/2, marshal...)) // the request hardly runs
	ExpectUnjudged(t, cpu.JSON, Healthy().NoProfile("cpu"), "cpu-json")
	ExpectUnjudged(t, cpu.JSON, New(64, 10*time.Millisecond).Sample(s/2, marshal...), "cpu-json") // 50 samples
	// Few samples are the answer where the service hardly runs.
	ExpectUnjudged(t, cpu.JSON, New(64, 10*time.Millisecond).CPU(2, 0.2, 0.05, 0.05, -1).
		Wait(record.StateRunning, 100*time.Microsecond, 1).Wait(record.StateSleep, 9900*time.Microsecond, 1, "time.Sleep", Route).Sample(s/2, marshal...))
	fast := Expect(t, cpu.JSON, Healthy().Sample(5*s, "github.com/bytedance/sonic/internal/encoder.Encode", "github.com/bytedance/sonic.Marshal", Route), "cpu-json")
	if len(fast) == 1 && !strings.Contains(fast[0].Remedy, "fast one already") {
		t.Errorf("a fast encoder is to be replaced by a fast one: %s", fast[0].Remedy)
	}

	Expect(t, cpu.RegexpCompile, Healthy().Sample(3*s, "regexp/syntax.Parse", "regexp.compile", "regexp.MustCompile", "shop/web.valid@web.go:70"), "cpu-regexp-compile at web.go:70")
	Expect(t, cpu.RegexpCompile, Healthy().Sample(3*s, "regexp.(*Regexp).MatchString", "shop/web.valid@web.go:70"))
	Expect(t, cpu.RegexpMatch, Healthy().Sample(3*s, "regexp.(*Regexp).MatchString", "shop/web.valid@web.go:70"), "cpu-regexp-match at web.go:70")
	Expect(t, cpu.RegexpMatch, Healthy().Sample(s/2, "regexp.(*Regexp).MatchString", "shop/web.valid@web.go:70"))
	Expect(t, cpu.Format, Healthy().Sample(4*s, "fmt.Sprintf", "shop/orders.key@orders.go:12"), "cpu-format at orders.go:12")
	Expect(t, cpu.Format, Healthy())
	Expect(t, cpu.Crypto, Healthy().Sample(4*s, "golang.org/x/crypto/argon2.processBlocks", "shop/web.login@web.go:90"), "cpu-crypto at web.go:90")
	Expect(t, cpu.Crypto, Healthy().Sample(4*s, "crypto/internal/fips140/sha256.block", "crypto/tls.(*Conn).Write"))
	Expect(t, cpu.Compress, Healthy().Sample(4*s, "compress/flate.(*compressor).deflate", "shop/web.gz@web.go:95"), "cpu-compress at web.go:95")
	Expect(t, cpu.Compress, Healthy())
}

func TestLogging(t *testing.T) {
	line := []string{"syscall.write", "os.(*File).Write", "log/slog.(*commonHandler).handle", "log/slog.Info", "shop/web.logRequests@web.go:20"}
	Expect(t, cpu.Logging, Healthy().Sample(3*s, line...), "cpu-logging at web.go:20")
	Expect(t, cpu.Logging, Healthy().Sample(3*s, "syscall.write", "os.(*File).Write", "fmt.Fprintln", "shop/web.logRequests@web.go:21"), "cpu-logging at web.go:21")
	Expect(t, cpu.Logging, Healthy())
	// The logger's own lock, while CPUs are idle.
	b := New(64, 40*time.Millisecond).CPU(2, 0.6, 0.3, 0.1, 0.1).Busy(3*s).Wait(record.StateRunning, time.Millisecond, 1)
	Expect(t, cpu.Logging, b.Wait(record.StateLock, 20*time.Millisecond, 1, "sync.(*Mutex).Lock", "log.(*Logger).output", "log.Printf", "shop/web.logRequests@web.go:20"), "cpu-logging at web.go:20")
}

func TestHot(t *testing.T) {
	Expect(t, cpu.Hot, Healthy().Sample(6*s, "runtime.mapaccess1", "shop/price.Round@price.go:17", "shop/price.Quote@price.go:44"), "cpu-hot-function at price.go:17")
	Expect(t, cpu.Hot, Healthy())
	Expect(t, cpu.Hot, Healthy().Sample(6*s, "encoding/json.Marshal", "shop/price.Quote@price.go:44"))       // a library's
	Expect(t, cpu.Hot, Healthy().Sample(6*s, "runtime.mallocgc", "shop/price.Quote@price.go:44"))            // told by what allocates
	Expect(t, cpu.Hot, Healthy().Module("").Sample(6*s, "shop/price.Round@price.go:17"), "cpu-hot-function") // module not known
}

func TestSaturated(t *testing.T) {
	b := func(target float64) *Builder {
		return New(64, 10*time.Millisecond).CPU(2, 1.98, target, 1.9-target, -1).Busy(9 * s)
	}
	found := Expect(t, cpu.Saturated, b(1.8), "cpu-saturated")
	if len(found) == 1 && (found[0].Confidence != record.Low || len(found[0].Evidence) < 5) {
		t.Errorf("without the table of costs, or too sure: %+v", found[0])
	}
	Expect(t, cpu.Saturated, b(1)) // others use them
	Expect(t, cpu.Saturated, Idle())
}
