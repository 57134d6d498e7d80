// Package redirect determines where a redirected request goes, for all protocols that
// carry HTTP. It sends nothing: a protocol's Follow calls Follow, and its Send makes a
// request from the Hop.
package redirect

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/failure"
)

// mostHops is how many redirects an exchange follows.
const mostHops = 10

// Is reports whether a status redirects automatically: not 300, which leaves the choice to
// a person, not 304, which is an answer, and not the obsolete 305 and 306.
func Is(status int) bool {
	return status >= 301 && status <= 303 || status == 307 || status == 308
}

// Request is the plan's own request, before any redirect.
type Request struct {
	Host   int // index among the hosts
	Method string
	Target string // path and query
}

// Follow consumes x.Redirect, sets x.Hop and returns the host. A redirect to a host that
// the plan does not name is an error, so the request can keep its headers, authorization
// included. Every error is a *failure.Error of kind failure.Redirect.
func Follow(x *load.Exchange, own Request, hosts []endpoint.Endpoint) (host int, err error) {
	if x.Hop.Count >= mostHops {
		return 0, refuse(fmt.Errorf("more than %d redirects", mostHops))
	}
	from, target := hosts[own.Host], own.Target
	if x.Hop.Count > 0 {
		from, target = hosts[x.Hop.Host], string(x.Hop.Target)
	}
	to, err := resolve(from, target, string(x.Redirect))
	if err != nil {
		return 0, refuse(err)
	}
	if host = find(hosts, to); host < 0 {
		return 0, refuse(fmt.Errorf("the target redirects to %.80s, which no request of the plan names", to.Scheme+"://"+to.Host))
	}
	hop := &x.Hop
	if hop.Count == 0 {
		hop.Method = own.Method
	}
	// RFC 9110, section 15.4: 303 asks for a retrieval; after 301 and 302 a POST
	// becomes a GET, as clients have always done.
	if x.Status == 303 && hop.Method != "HEAD" || (x.Status == 301 || x.Status == 302) && hop.Method == "POST" {
		hop.Method, hop.NoBody = "GET", true
	}
	hop.Count, hop.Host = hop.Count+1, host
	hop.Target = appendTarget(hop.Target[:0], to.RequestURI())
	// A failure of the next request must not look as if it had been answered.
	x.Redirect, x.Status, x.FirstByte, x.Done = x.Redirect[:0], 0, 0, 0
	return host, nil
}

func refuse(err error) error { return &failure.Error{Kind: failure.Redirect, Err: err} }

// resolve makes a Location absolute (RFC 3986, section 5.2).
func resolve(from endpoint.Endpoint, target, location string) (*url.URL, error) {
	base, err := url.Parse(from.Scheme + "://" + from.Authority + target)
	if err != nil {
		return nil, fmt.Errorf("the redirected URL: %w", err)
	}
	ref, err := url.Parse(location)
	if err != nil || ref.Opaque != "" {
		return nil, errors.New("the answer's Location is not a URL that redline can follow")
	}
	to := base.ResolveReference(ref)
	if to.User != nil {
		return nil, errors.New("the answer's Location contains credentials")
	}
	return to, nil
}

// appendTarget escapes characters that would end a request's target: targets put blanks and
// other characters into a query as they are.
func appendTarget(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return b
}

// find returns the index of a URL's host, -1 when there is none.
func find(hosts []endpoint.Endpoint, u *url.URL) int {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	address := net.JoinHostPort(u.Hostname(), port)
	for i, h := range hosts {
		if h.Scheme == u.Scheme && strings.EqualFold(h.Address, address) {
			return i
		}
	}
	return -1
}
