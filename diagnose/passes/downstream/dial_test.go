package downstream_test

import (
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// TestConnectionsToTheDatabase: the kernel counts the connections of a database's pool as well. They are no client's whose
// connections are kept, where the hooks see that client or the server counts its sessions.
func TestConnectionsToTheDatabase(t *testing.T) {
	limited := func(client ...string) *Builder {
		b := New(16, 23*ms).CPU(2, 0.5, 0.2, 0.1, 0.1).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateSelect, 17*ms, 1, append([]string{"runtime.selectgo"}, client...)...).
			Wait(breakdown.StateNetwork, 5*ms, 1, Query()...)
		return b.Counter(series.TCPOpens, series.Labels("dir", "out"), 0.6*b.Requests())
	}
	transport := []string{"net/http.(*Transport).getConn", "net/http.(*Transport).roundTrip", "net/http.(*Client).Do", get}
	hooked := func(opened float64) *Builder {
		b := limited(transport...)
		n := int64(b.Requests())
		return b.Asks(operation.Dial, "quotes:80", n, 17*ms, 0).Kept(0, int64(opened*float64(n)))
	}
	Expect(t, downstream.Churn, hooked(0.001))
	Expect(t, wait.Channel, hooked(0.001), "concurrency-limit at cache.go:41")
	Expect(t, downstream.Churn, hooked(0.4), "http-client-churn at cache.go:41")
	// Without hooks the database's sessions are subtracted.
	sessions := func(each float64) *Builder {
		b := limited(transport...)
		return b.Counter(series.DBSessions, "", each*b.Requests())
	}
	Expect(t, downstream.Churn, sessions(0.6))
	Expect(t, downstream.Churn, sessions(0.1), "http-client-churn at cache.go:41")
	// The hooks do not see another client.
	other := limited("github.com/bradfitz/gomemcache/memcache.(*Client).dial", "github.com/bradfitz/gomemcache/memcache.(*Client).Get", get)
	Expect(t, downstream.Churn, other.Asks(operation.Dial, "quotes:80", 100, ms, 0), "http-client-churn at cache.go:41")
}
