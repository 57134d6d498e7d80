// Package fence says where load may go: to this host, and to the hosts that a scenario
// names. Load can bring services down, so a mistyped name could cause somebody else's
// outage.
//
// A name is checked by its addresses at every look-up: it may move between two look-ups,
// by mistake or on purpose (DNS rebinding). So the load itself refuses to continue,
// whoever requested it and whether or not a person confirmed it before.
//
// Rejected: addresses of private networks as if they were this host (other
// people's databases have those), and pinning a name to its first answer (load
// follows a named host that moves).
package fence

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/scenario"
)

// Bounds are where load may go. The zero Bounds are this host.
type Bounds struct{ named map[string]bool }

// BoundsOf returns the bounds of a plan's Hosts.
func BoundsOf(hosts []string) Bounds {
	b := Bounds{named: map[string]bool{}}
	for _, host := range hosts {
		b.named[canonical(host)] = true
	}
	return b
}

// canonical writes a host in a unique form: names in lower case without the root's
// dot, addresses as netip does, with IPv4 within IPv6 as plain IPv4.
func canonical(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Names reports whether the plan names a host.
func (b Bounds) Names(host string) bool { return b.named[canonical(host)] }

// AwayError reports load that would leave the bounds.
type AwayError struct{ Away }

func (e *AwayError) Error() string {
	return fmt.Sprintf("%s, which is not this host, and the scenario does not name it (hint: hosts: [%s] in the scenario, or --yes)",
		e.Away, e.Host)
}

// Check returns an *AwayError when a host is not named and one of its addresses
// is of another host.
func (b Bounds) Check(host string, addresses ...netip.Addr) error {
	if b.Names(host) {
		return nil
	}
	var beyond []netip.Addr
	for _, a := range addresses {
		if a = a.Unmap(); !here(a) {
			beyond = append(beyond, a)
		}
	}
	if len(beyond) == 0 {
		return nil
	}
	return &AwayError{Away{Host: canonical(host), Addresses: beyond}}
}

// here reports whether an address belongs to this host: it is a loopback address, the
// unspecified one, which connects to loopback, or that of an interface.
func here(a netip.Addr) bool {
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(own, func(o net.Addr) bool {
		n, ok := o.(*net.IPNet)
		return ok && n.IP.Equal(a.WithZone("").AsSlice())
	})
}

// Away is a host that is not this one, with those of its addresses that are not
// of this one.
type Away struct {
	Host      string
	Addresses []netip.Addr
}

// String is the host, with its addresses if it is a name.
func (a Away) String() string {
	var all []string
	for _, address := range a.Addresses {
		if address.String() != a.Host {
			all = append(all, address.String())
		}
	}
	if len(all) == 0 {
		return a.Host
	}
	return a.Host + " (" + strings.Join(all, ", ") + ")"
}

// lookup is net.Resolver.LookupNetIP.
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// Elsewhere returns the hosts that a plan's requests go to, that are not this one and that
// its Hosts do not name, in the requests' order. A name that does not resolve now is left
// out; load checks it again once it resolves.
func Elsewhere(ctx context.Context, p *scenario.Plan) ([]Away, error) {
	return elsewhere(ctx, p, net.DefaultResolver.LookupNetIP)
}

func elsewhere(ctx context.Context, p *scenario.Plan, look lookup) (all []Away, err error) {
	bounds := BoundsOf(p.Hosts)
	seen := map[string]bool{}
	for _, q := range p.Requests {
		// Hazard: the host is taken from the URL by the load's own parser;
		// two readings of one URL would differ on some.
		at, err := endpoint.Parse(string(q.URL), p)
		if err != nil {
			return nil, err
		}
		host, _, err := net.SplitHostPort(at.Address)
		if err != nil {
			return nil, err
		}
		key := canonical(host)
		if seen[key] || bounds.Names(host) {
			continue
		}
		seen[key] = true
		addresses := []netip.Addr{}
		if a, err := netip.ParseAddr(host); err == nil {
			addresses = append(addresses, a)
		} else if addresses, err = look(ctx, "ip", strings.ToLower(host)); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		if away, ok := bounds.Check(host, addresses...).(*AwayError); ok {
			all = append(all, away.Away)
		}
	}
	return all, nil
}
