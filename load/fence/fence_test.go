package fence

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// answering resolves the names of a table, and no others.
func answering(names map[string][]string) lookup {
	return func(_ context.Context, _, host string) (all []netip.Addr, err error) {
		for _, text := range names[strings.TrimSuffix(host, ".")] {
			all = append(all, netip.MustParseAddr(text))
		}
		if all == nil {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return all, nil
	}
}

func TestElsewhere(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	names := answering(map[string][]string{
		"localhost": {"127.0.0.1", "::1"}, "here.test": {"127.9.9.9"}, "shop.test": {"203.0.113.5"},
		"mixed.test": {"127.0.0.1", "203.0.113.6"}, "mapped.test": {"::ffff:203.0.113.7"},
	})
	for url, want := range map[string]bool{
		"http://127.0.0.1:8080/": false, "http://127.44.0.1/": false, "http://[::1]:8080/": false,
		"http://localhost/": false, "tcp://LOCALHOST:9": false,
		"http://0.0.0.0:8080/": false, "http://[::]:8080/": false, "http://[::ffff:127.0.0.1]/": false, "ws://here.test/": false,
		"http://" + net.JoinHostPort(own[0].(*net.IPNet).IP.String(), "80"): false,
		"http://203.0.113.5/": true, "https://shop.test/x": true, "http://SHOP.test./": true,
		"grpc://mixed.test:50051/a.B/C": true, "tcp://[2001:db8::1]:9": true,
		"wss://mapped.test/": true, "http://[::ffff:203.0.113.5]/": true, "http://169.254.169.254/": true, "http://10.0.0.99/": true,
		"http://nowhere.test/": false, // it has no address to which load could go
	} {
		away, err := elsewhere(t.Context(), &scenario.Plan{Requests: []scenario.Request{{URL: feeder.Template(url)}}}, names)
		if err != nil || (len(away) > 0) != want {
			t.Errorf("%s: %v, %v", url, away, err)
		}
	}
}

// TestNamedHostsAreNotElsewhere: hosts on the scenario's own list, written in other ways.
func TestNamedHostsAreNotElsewhere(t *testing.T) {
	names := answering(map[string][]string{"shop.test": {"203.0.113.5"}, "other.test": {"203.0.113.5"}})
	plan := &scenario.Plan{Hosts: []string{"Shop.Test", "2001:DB8::1", "203.0.113.9"}, Requests: []scenario.Request{
		{URL: "http://shop.test./a"}, {URL: "http://[2001:db8:0::1]/"}, {URL: "http://other.test/"}, {URL: "http://127.0.0.1/"},
		{URL: "http://[::ffff:203.0.113.9]/"}, {URL: "http://other.test:81/"},
	}}
	away, err := elsewhere(t.Context(), plan, names)
	want := []Away{{"other.test", []netip.Addr{netip.MustParseAddr("203.0.113.5")}}}
	if err != nil || !reflect.DeepEqual(away, want) {
		t.Errorf("%v, %v", away, err)
	}
}

// TestBoundsOfAnAnswer: every address that a name has counts.
func TestBoundsOfAnAnswer(t *testing.T) {
	here, there := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("203.0.113.5")
	b := BoundsOf([]string{"shop.test"})
	var away *AwayError
	if err := b.Check("app.test", here, there); !errors.As(err, &away) || away.Host != "app.test" {
		t.Errorf("a name that is here and there: %v", err)
	}
	if err := errors.Join(b.Check("app.test", here), b.Check("shop.test", there)); err != nil {
		t.Error(err)
	}
}
