package load

import (
	"context"
	"errors"
	"fmt"
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
	mu     sync.Mutex // of the two below
	names  map[string]resolved
	asking map[string]*question // connections that open together ask once
	bounds fence.Bounds         // of its answer
}

type resolved struct {
	addrs []netip.AddrPort // IPv4 first; one at least
	until time.Time        // zero is for ever
}

// question is one that the name server is asked.
type question struct {
	answered chan struct{} // closed once the three below are set
	addrs    []netip.AddrPort
	err      error
	cut      bool // the time of whoever asked ended before the answer
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

// lookup returns the addresses of host:port, one at least. A name whose server does not answer
// delays no other.
func (r *resolver) lookup(ctx context.Context, address string) ([]netip.AddrPort, error) {
	for {
		if addrs, ok := r.known(address); ok {
			return addrs, nil
		}
		r.mu.Lock()
		q, asked := r.asking[address]
		if !asked {
			if r.asking == nil {
				r.asking = map[string]*question{}
			}
			q = &question{answered: make(chan struct{})}
			r.asking[address] = q
		}
		r.mu.Unlock()
		if !asked {
			r.ask(ctx, address, q)
			return q.addrs, q.err
		}
		select {
		case <-q.answered:
		case <-ctx.Done():
			// Of the kind that asking has.
			return nil, &failure.Error{Kind: failure.DNS, Err: fmt.Errorf("no answer from the name server: %w", ctx.Err())}
		}
		// Cut short for another, it is no answer for those who still have time.
		if !q.cut {
			return q.addrs, q.err
		}
	}
}

// ask answers a question, for all who wait for it.
func (r *resolver) ask(ctx context.Context, address string, q *question) {
	q.addrs, q.err = r.resolve(ctx, address)
	q.cut = q.err != nil && ctx.Err() != nil
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asking, address)
	if q.err == nil {
		r.keep(address, resolved{addrs: q.addrs, until: time.Now().Add(keepNames)})
	}
	close(q.answered)
}

// resolve asks the name server for the addresses of host:port, one at least.
func (r *resolver) resolve(ctx context.Context, address string) ([]netip.AddrPort, error) {
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
	return addrs, nil
}

// mostSilent bounds the wait for one of several addresses: long enough for a lost packet, which
// the kernel sends again after a second (RFC 6298, section 2.1).
const mostSilent = 2 * time.Second

var errSilent = &failure.Error{Kind: failure.Timeout, Err: errors.New("no answer from the address within its share of the timeout")}

// watch has a link go on to its next address, if it has one, when the one that it connects to stays
// silent for its share of the timeout.
func (l *loop) watch(k *link, now time.Duration) {
	if k.until = 0; k.attempt == k.last {
		return
	}
	k.until = now + min(mostSilent, l.run.plan.Timeout/time.Duration(len(k.addrs)))
	l.lookAt(k.until)
}

// lookAt has goPast look at the links then, or sooner.
func (l *loop) lookAt(at time.Duration) {
	if l.silent == 0 || at < l.silent {
		l.silent = at
	}
}

// goPast goes past addresses that have been silent for too long.
func (l *loop) goPast(now time.Duration) {
	if l.silent == 0 || now < l.silent {
		return
	}
	// As in expire, links are only looked at when the first of them may be due.
	l.silent = 0
	for _, k := range l.links {
		switch {
		case k.state != linkConnecting || k.until == 0:
		case k.until > now:
			l.lookAt(k.until)
		default:
			k.skip()
			if l.another(k, errSilent, now) {
				l.connect(k, now)
			}
		}
	}
}

// skip has a link that still connects begin with another address from now on: it would wait for
// this one each time that it opens.
func (k *link) skip() {
	if k.state == linkConnecting {
		k.first = k.attempt % len(k.addrs)
	}
}
