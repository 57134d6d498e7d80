package endpoint

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
)

// Endpoint is where a request of a plan goes. Two endpoints with the same Scheme and
// Address are one host, and one of their TLS configurations serves both.
type Endpoint struct {
	Scheme    string      // in lower case
	Address   string      // host:port, IPv6 in brackets; the scheme's port when the URL has none
	Authority string      // as in the URL, for a Host or :authority header
	Path      string      // path and query, still a template; begins with "/"
	TLS       *tls.Config // nil for plaintext; the caller sets NextProtos
}

// scheme is a URL scheme's meaning for the connection.
type scheme struct {
	port   string // when the URL has none; empty means that it must
	secure bool
}

var schemes = map[string]scheme{
	"http":  {port: "80"},
	"https": {port: "443", secure: true},
	"ws":    {port: "80"},
	"wss":   {port: "443", secure: true},
	"grpc":  {port: "80"},
	"grpcs": {port: "443", secure: true},
	"tcp":   {},
}

// Parse takes the URL of one of p's requests apart. The host cannot come from data, and
// credentials in a URL are an error: they belong in a header. A fragment is dropped. Each
// call for a secure scheme makes a configuration of its own from p.TLS, session cache
// included.
func Parse(rawURL string, p *scenario.Plan) (Endpoint, error) {
	name, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		//lint:ignore ST1005 the dots stand for the rest of a URL
		return Endpoint{}, fmt.Errorf("URL %.80q has no scheme; write http://...", redact.Text(rawURL))
	}
	at := Endpoint{Scheme: strings.ToLower(name)}
	kind, known := schemes[at.Scheme]
	if !known {
		return Endpoint{}, fmt.Errorf("URL %.80q: scheme %q is not supported", redact.Text(rawURL), name)
	}
	at.Authority = rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		at.Authority, at.Path = rest[:i], rest[i:]
	}
	host, err := at.host(kind)
	if err != nil {
		return Endpoint{}, fmt.Errorf("URL %.80q: %w", redact.Text(rawURL), err)
	}
	at.Path, _, _ = strings.Cut(at.Path, "#")
	if !strings.HasPrefix(at.Path, "/") {
		at.Path = "/" + at.Path
	}
	if err := checkPath(at.Path); err != nil {
		return Endpoint{}, fmt.Errorf("URL %.80q: %w", redact.Text(rawURL), err)
	}
	if kind.secure {
		if at.TLS, err = ClientTLS(host, p); err != nil {
			return Endpoint{}, err
		}
	}
	return at, nil
}

// host fills in the address and returns the host without its port.
func (at *Endpoint) host(kind scheme) (string, error) {
	if strings.Contains(at.Authority, "{{") {
		return "", fmt.Errorf("the host cannot come from data")
	}
	u, err := url.Parse("http://" + at.Authority)
	switch {
	case err != nil || u.Hostname() == "":
		return "", fmt.Errorf("no valid host")
	case u.User != nil:
		return "", fmt.Errorf("it holds credentials; put them into an Authorization header")
	}
	port := u.Port()
	if port == "" {
		port = kind.port
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("it needs a port from 1 to 65535, as in %s://%s:4000", at.Scheme, u.Hostname())
	}
	at.Address = net.JoinHostPort(u.Hostname(), port)
	return u.Hostname(), nil
}

// checkPath refuses characters that would end a request's target. Blanks inside of {{ }}
// are the template's.
func checkPath(path string) error {
	for {
		before, data, ok := strings.Cut(path, "{{")
		if i := strings.IndexFunc(before, func(c rune) bool { return c <= ' ' || c >= 0x7f }); i >= 0 {
			return fmt.Errorf("character %q must be percent-encoded", before[i:i+1])
		}
		if !ok {
			return nil
		}
		_, path, _ = strings.Cut(data, "}}")
	}
}
