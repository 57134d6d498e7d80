package load

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/fence"
)

// keepNames is how long a looked-up name is used: long enough that a target that closes
// every connection does not put load on the name server, short enough to follow a name
// that moves.
const keepNames = 5 * time.Second

// resolver caches the addresses of host:port. The zero resolver is ready for use, and
// answers only with addresses of this host.
type resolver struct {
	asking sync.Mutex // held while the name server is asked: connections that open together ask once
	mu     sync.Mutex // of names
	names  map[string]resolved
	bounds fence.Bounds // of its answer
}

type resolved struct {
	addrs []netip.AddrPort // IPv4 first; one at least
	until time.Time        // zero is for ever
}

// known returns the addresses of host:port if no name server needs to be asked.
func (r *resolver) known(address string) ([]netip.AddrPort, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, ok := r.names[address]; ok && (n.until.IsZero() || time.Now().Before(n.until)) {
		return n.addrs, true
	}
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, false
	}
	addrs := []netip.AddrPort{addr}
	r.keep(address, resolved{addrs: addrs})
	return addrs, true
}

// reaches returns an error if load must not go to a numeric address; names are checked
// when they are looked up.
func (r *resolver) reaches(address string) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil
	}
	return r.bounds.Check(addr.Addr().String(), addr.Addr())
}

// keep needs the lock.
func (r *resolver) keep(address string, n resolved) {
	if r.names == nil {
		r.names = map[string]resolved{}
	}
	r.names[address] = n
}

// lookup returns the addresses of host:port, one at least.
func (r *resolver) lookup(ctx context.Context, address string) ([]netip.AddrPort, error) {
	r.asking.Lock()
	defer r.asking.Unlock()
	// Whoever had the lock before may have asked for this name.
	if addrs, ok := r.known(address); ok {
		return addrs, nil
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &net.AddrError{Err: "the port is not a number", Addr: address}
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	// Before any of them is used: a name server that answers with a stranger's address
	// would otherwise direct the load to a host that nobody named.
	if err := r.bounds.Check(host, addresses...); err != nil {
		return nil, &failure.Error{Kind: failure.DNS, Err: err}
	}
	var four, six []netip.AddrPort
	for _, a := range addresses {
		addr := netip.AddrPortFrom(a.Unmap(), uint16(port))
		if addr.Addr().Is4() {
			four = append(four, addr)
		} else {
			six = append(six, addr)
		}
	}
	addrs := append(four, six...)
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(address, resolved{addrs: addrs, until: time.Now().Add(keepNames)})
	return addrs, nil
}
