package load

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/fence"
)

// Names is names, for tests outside of the package.
var Names = names

// names serves DNS on loopback for the test: each name has the addresses of next. Nil is no answer.
func names(t *testing.T, next func(name string) []string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				addresses := next(q.Name.String())
				if addresses == nil {
					continue
				}
				for _, text := range addresses {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
						Body:   &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()},
					})
				}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestANameThatMovesAway resolves a name to this host first and to another later,
// as DNS rebinding does: no load follows it.
func TestANameThatMovesAway(t *testing.T) {
	var answer atomic.Value // read by the server of names
	answer.Store("127.0.0.1")
	names(t, func(string) []string { return []string{answer.Load().(string)} })
	var r resolver
	if addrs, err := r.lookup(t.Context(), "app.test.:80"); err != nil || len(addrs) != 1 {
		t.Fatalf("%v, %v", addrs, err)
	}
	r.mu.Lock()
	for name, n := range r.names {
		n.until = time.Now() // as if it had been kept for a long time
		r.names[name] = n
	}
	r.mu.Unlock()
	answer.Store("203.0.113.5")
	addrs, err := r.lookup(t.Context(), "app.test.:80")
	var away *fence.AwayError
	if !errors.As(err, &away) || failure.Of(err) != failure.DNS || !strings.Contains(err.Error(), "203.0.113.5") {
		t.Errorf("it moved to %v, %v", addrs, err)
	}
	r = resolver{bounds: fence.BoundsOf([]string{"APP.test"})}
	if addrs, err := r.lookup(t.Context(), "app.test.:80"); err != nil || len(addrs) != 1 {
		t.Errorf("a host that is named: %v, %v", addrs, err)
	}
}

// TestASilentNameServerDelaysOnlyItsNames looks up a name while another one has no answer.
func TestASilentNameServerDelaysOnlyItsNames(t *testing.T) {
	asked := make(chan struct{})
	var once sync.Once
	names(t, func(name string) []string {
		if name == "silent.test." {
			once.Do(func() { close(asked) })
			return nil
		}
		return []string{"127.0.0.1"}
	})
	var r resolver
	patience, giveUp := context.WithTimeout(t.Context(), 30*time.Second)
	defer giveUp()
	silent := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := r.lookup(patience, "silent.test.:80")
			silent <- err
		}()
	}
	<-asked
	if addrs, err := r.lookup(t.Context(), "app.test.:80"); err != nil || len(addrs) != 1 {
		t.Errorf("%v, %v", addrs, err)
	}
	// Whoever waits for another's question watches its own time.
	over, end := context.WithCancel(t.Context())
	end()
	if _, err := r.lookup(over, "silent.test.:80"); failure.Of(err) != failure.DNS {
		t.Errorf("error %v", err)
	}
	select {
	case err := <-silent:
		t.Errorf("the other name was awaited before: %v", err)
	default:
	}
	giveUp()
	<-silent
	<-silent
}

// TestLoadStaysHere has plans that no user has confirmed.
func TestLoadStaysHere(t *testing.T) {
	for url, ok := range map[string]bool{"http://203.0.113.5:9/": false, "http://[2001:db8::1]:9/": false, "http://127.0.0.1:9/": true} {
		r := &run{}
		r.resolver.bounds = fence.BoundsOf(nil)
		_, address, _ := strings.Cut(strings.TrimSuffix(url, "/"), "://")
		if err := r.resolver.reaches(address); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}
