package http1

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/place"
)

// mostHops is how many redirects an exchange follows, as many as curl's and Go's
// clients would at least.
const mostHops = 10

// redirects reports whether a status sends the request elsewhere by itself. 300
// leaves the choice to a person, 304 is an answer, 305 and 306 are gone.
func redirects(status int) bool {
	return status >= 301 && status <= 303 || status == 307 || status == 308
}

// Follow readies x for being sent where its answer's Location says; see
// load.Follower. The request keeps its row of data, its headers and with them
// its authorization, since it only ever goes to hosts of the plan.
func (t *Protocol) Follow(x *load.Exchange) (host int, err error) {
	q := &t.requests[x.Request]
	if x.Hop.Count >= mostHops {
		return 0, redirectError(fmt.Errorf("more than %d redirects", mostHops))
	}
	u, err := t.resolve(x)
	if err != nil {
		return 0, redirectError(err)
	}
	host, known := t.index[hostKey(u.Scheme, address(u))]
	if !known {
		return 0, redirectError(fmt.Errorf("the target redirects to %.80s, which no request of the plan names", u.Scheme+"://"+u.Host))
	}
	hop := &x.Hop
	if hop.Count == 0 {
		hop.Method = q.method
	}
	// RFC 9110, section 15.4: 303 asks for a retrieval; after 301 and 302 a POST
	// becomes a GET, as it always did.
	if x.Status == 303 && hop.Method != "HEAD" || (x.Status == 301 || x.Status == 302) && hop.Method == "POST" {
		hop.Method, hop.NoBody = "GET", true
	}
	hop.Count, hop.Host = hop.Count+1, host
	hop.Target = appendTarget(hop.Target[:0], u)
	x.Redirect = x.Redirect[:0]
	return host, nil
}

func redirectError(err error) error {
	return &load.Failure{Kind: load.KindRedirect, Err: err}
}

// resolve makes the redirect absolute (RFC 3986, section 5.2). Its fragment is
// not sent.
func (t *Protocol) resolve(x *load.Exchange) (*url.URL, error) {
	q := &t.requests[x.Request]
	host, target := x.Hop.Host, x.Hop.Target
	if x.Hop.Count == 0 {
		host, target = q.host, targetOf(q.origin(x))
	}
	from := t.places[host]
	base, err := url.Parse(from.Scheme + "://" + from.Authority + string(target))
	if err != nil {
		return nil, fmt.Errorf("the URL that was redirected: %w", err)
	}
	ref, err := url.Parse(string(x.Redirect))
	if err != nil || ref.Opaque != "" {
		return nil, errors.New("the answer's Location is no URL that can be followed")
	}
	u := base.ResolveReference(ref)
	if u.User != nil {
		return nil, errors.New("the answer's Location holds credentials")
	}
	return u, nil
}

// appendTarget appends a URL's path and query. net/url leaves a query as it
// came, and a blank there would end the request's line.
func appendTarget(dst []byte, u *url.URL) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range []byte(u.RequestURI()) {
		if c <= ' ' || c >= 0x7f {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// origin is the plan's own request as it was sent for x.
func (q *request) origin(x *load.Exchange) []byte {
	if q.static != nil {
		return q.static
	}
	return x.Hop.Origin
}

// targetOf returns what a request asks for.
func targetOf(request []byte) []byte {
	_, rest, _ := bytes.Cut(request, []byte{' '})
	target, _, _ := bytes.Cut(rest, []byte{' '})
	return target
}

// appendHop renders a redirected request: the plan's own one with what the
// redirect changes.
func (q *request) appendHop(dst []byte, x *load.Exchange, at *place.Place) []byte {
	hop := &x.Hop
	dst = append(append(append(dst, hop.Method...), ' '), hop.Target...)
	dst = append(dst, " HTTP/1.1\r\n"...)
	head, body, _ := bytes.Cut(q.origin(x), []byte("\r\n\r\n"))
	for i, line := range bytes.Split(head, []byte("\r\n")) {
		name, _, _ := bytes.Cut(line, []byte{':'})
		switch {
		case i == 0: // the request line
		case hop.NoBody && len(name) > len("content-") && is(name[:len("content-")], "content-"):
		case is(name, "host") && hop.Host != q.host:
			// A Host that the plan gives is for the host that it sends it to.
			dst = append(append(append(dst, "Host: "...), at.Authority...), "\r\n"...)
		default:
			dst = append(append(dst, line...), "\r\n"...)
		}
	}
	if dst = append(dst, "\r\n"...); hop.NoBody {
		return dst
	}
	return append(dst, body...)
}

// hostKey names a host: two places with one key take the same connections.
func hostKey(scheme, address string) string { return scheme + "://" + strings.ToLower(address) }

// address returns where a URL leads, host:port.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}
