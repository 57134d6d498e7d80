package http1

import (
	"context"
	"net"
	"sync"
	"time"
)

// keepNames is how long a looked-up name is used. Long enough that a target
// that closes every connection does not turn the load onto the name server,
// short enough to follow a name that moves.
const keepNames = 5 * time.Second

// resolver caches names' addresses. The zero resolver is ready for use.
type resolver struct {
	mu    sync.Mutex
	names map[string]resolved
}

type resolved struct {
	addresses []string // ip:port, IPv4 first
	at        time.Time
}

// lookup returns the addresses of host:port, one at least. An address that is
// written as numbers comes back as it is.
func (r *resolver) lookup(ctx context.Context, address string) ([]string, error) {
	// The lock is held while the name server is asked, so that connections that
	// open together ask once.
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.names[address]; ok && (known.at.IsZero() || time.Since(known.at) < keepNames) {
		return known.addresses, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	now := resolved{}
	if net.ParseIP(host) != nil {
		now.addresses = []string{address}
	} else {
		ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
		if err != nil {
			return nil, err
		}
		var six []string
		for _, ip := range ips {
			if ip.IP.To4() != nil {
				now.addresses = append(now.addresses, net.JoinHostPort(ip.String(), port))
			} else {
				six = append(six, net.JoinHostPort(ip.String(), port))
			}
		}
		now.addresses = append(now.addresses, six...)
		now.at = time.Now()
	}
	if r.names == nil {
		r.names = map[string]resolved{}
	}
	r.names[address] = now
	return now.addresses, nil
}
