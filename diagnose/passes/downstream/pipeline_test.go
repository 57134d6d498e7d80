package downstream_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
)

// redisRead is where a request waits for the response to a command of go-redis.
func redisRead(method string, user ...string) []string {
	return append([]string{"net.(*conn).Read", "bufio.(*Reader).fill", "github.com/redis/go-redis/v9/internal/proto.(*Reader).ReadLine",
		"github.com/redis/go-redis/v9.(*baseClient).process", "github.com/redis/go-redis/v9." + method}, user...)
}

// TestCommandsOneByOne: a command to Redis for each element is a statement for each row. Its remedy is a pipeline, and its
// gain includes what a call costs both ends.
func TestCommandsOneByOne(t *testing.T) {
	b := func(method string) *Builder {
		return idle().Wait(breakdown.StateNetwork, 40*ms, 20, redisRead(method, get)...)
	}
	found := Expect(t, downstream.Serial, b("cmdable.HGetAll"), "db-n-plus-one at cache.go:41")
	if len(found) == 1 && (!strings.HasPrefix(found[0].Title, "Each request sends 20 commands to Redis one by one at cache.go:41") ||
		!strings.Contains(found[0].Remedy, "Pipelined")) {
		t.Errorf("%s\n%s", found[0].Title, found[0].Remedy)
	}
	Expect(t, downstream.Serial, b("cmdable.ZAdd"), "db-unbatched-write at cache.go:41")
	// Which command it was, the hooks say; the method may be any.
	writes := b("(*Client).Process")
	writes.Asks(operation.Redis, "hset", int64(20*writes.Requests()), 2*time.Millisecond, 0,
		Caller(1, 2*time.Millisecond, "github.com/redis/go-redis/v9.(*Client).Process", get))
	Expect(t, downstream.Serial, writes, "db-unbatched-write at cache.go:41")
	named := idle().Wait(breakdown.StateNetwork, 40*ms, 20, redisRead("(*Client).Process", "shop/cache.(*Store).AddPoint@cache.go:52")...)
	Expect(t, downstream.Serial, named, "db-unbatched-write at cache.go:52")
}

// TestPathsThroughOneHelper: two loops send through the same helper, whose CPU is saved once.
func TestPathsThroughOneHelper(t *testing.T) {
	const send = "shop/cache.(*Store).send@cache.go:12"
	worth := func(paths ...string) float64 {
		b := New(4, 20*ms).CPU(2, 1.9, 1.5, 0.2, 0).Wait(breakdown.StateRunning, 4*ms, 3)
		for _, from := range paths {
			b.Wait(breakdown.StateNetwork, 16*ms/time.Duration(len(paths)), 20/float64(len(paths)),
				redisRead("cmdable.Get", send, from)...).
				Sample(6*time.Second/time.Duration(len(paths)), redisRead("cmdable.Get", send, from)...)
		}
		found := Expect(t, downstream.Serial, b.Sample(9*time.Second, "shop/web.render@web.go:5"), "db-n-plus-one")
		if len(found) != 1 {
			t.FailNow()
		}
		return found[0].GainCeiling
	}
	const one, other = "shop/web.(*API).carts@web.go:20", "shop/web.(*API).lists@web.go:40"
	if alone, both := worth(one), worth(one, other); both > 1.05*alone {
		t.Errorf("worth %.2fx from two loops, %.2fx from one", both, alone)
	}
}

// TestTwoCommandsAreNoLoop: different commands of one request are calls one after another, which a pipeline sends together if
// none needs the response to the other.
func TestTwoCommandsAreNoLoop(t *testing.T) {
	b := idle().Wait(breakdown.StateNetwork, 20*ms, 1,
		redisRead("cmdable.Get", "shop/cache.session@cache.go:10", "shop/cache.(*Store).Get@cache.go:40")...).
		Wait(breakdown.StateNetwork, 21*ms, 1,
			redisRead("cmdable.HGetAll", "shop/cache.profile@cache.go:20", "shop/cache.(*Store).Get@cache.go:41")...)
	found := Expect(t, downstream.Serial, b, "downstream-serial at cache.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "send them to Redis together (Pipelined)") {
		t.Error(found[0].Remedy)
	}
}

// TestCommandsBesideOtherCalls: where most of the time goes to other services, commands to Redis are the smaller part of a sequence.
func TestCommandsBesideOtherCalls(t *testing.T) {
	call := []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get}
	Expect(t, downstream.Serial, idle().Wait(breakdown.StateSelect, 60*ms, 6, call...).
		Wait(breakdown.StateNetwork, 20*ms, 10, redisRead("cmdable.Get", get)...), "downstream-serial at cache.go:41")
}

// TestCommandsThroughAHook: a client may read through a connection of the service's own.
func TestCommandsThroughAHook(t *testing.T) {
	stack := append([]string{"net.(*conn).Read", "shop/metered.(*conn).Read@conn.go:9"}, redisRead("cmdable.HGetAll", get)[2:]...)
	found := Expect(t, downstream.Serial, idle().Wait(breakdown.StateNetwork, 40*ms, 20, stack...), "db-n-plus-one at cache.go:41")
	if len(found) == 1 && !strings.HasPrefix(found[0].Title, "Each request sends 20 commands to Redis one by one") {
		t.Error(found[0].Title)
	}
}

// TestCommandsOfATransaction: a function of the client sends a command before and one after the literal that it is given,
// which asks by itself.
func TestCommandsOfATransaction(t *testing.T) {
	const takes = "shop/cache.(*Store).Take"
	const tx = "(*Client).Watch@/root/go/pkg/mod/lib@v1.2.3/tx.go:"
	watch := func(line string) []string { return redisRead(tx+line, takes+"@cache.go:92") }
	inside := redisRead("cmdable.SetNX", takes+".func1@cache.go:67", "github.com/redis/go-redis/v9."+tx+"75", takes+"@cache.go:92")
	b := idle().Wait(breakdown.StateNetwork, 10*ms, 1, watch("69")...).Wait(breakdown.StateNetwork, 10*ms, 1, watch("76")...).
		Wait(breakdown.StateNetwork, 10*ms, 1, inside...)
	found := Expect(t, downstream.Serial, b, "downstream-serial at cache.go:92")
	if len(found) == 1 && (!strings.HasPrefix(found[0].Title, "Requests make 3 calls one after another at cache.go:92") ||
		!strings.Contains(found[0].Remedy, "let a script on the server do it all")) {
		t.Errorf("%s\n%s", found[0].Title, found[0].Remedy)
	}
}
