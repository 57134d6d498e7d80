// Package protocol is what the protocols of load demand of a request before it is sent:
// the schemes of URLs and which protocol each means, methods, names of headers,
// statuses and messages. It speaks none of them; the wires below load do.
package protocol

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
)

// Name is the protocol of a connection.
type Name string

// Protocols. The scheme of the URL decides: http and https speak HTTP/1.1, or
// HTTP/2 where the plan says so; grpc and grpcs, ws and wss, tcp the others.
const (
	HTTP1     Name = "http/1.1" // also ""
	HTTP2     Name = "h2"       // over plaintext with prior knowledge
	RPC       Name = "grpc"
	WebSocket Name = "websocket"
	TCP       Name = "tcp"
)

// Parse parses the name of a protocol that a scheme alone does not determine.
func Parse(text string) (Name, error) {
	switch p := Name(text); p {
	case HTTP1, HTTP2:
		return p, nil
	case RPC, WebSocket, TCP:
		return "", mistake.Newf("leave it out", "the URL's scheme says %s already", text)
	}
	return "", mistake.Newf("write h2 or http/1.1", "%.40q is not a protocol", text)
}

// IsHTTP reports whether a protocol is HTTP, of any version; empty is.
func IsHTTP(p Name) bool { return p == HTTP1 || p == HTTP2 || p == "" }

// MethodOf is the method that a protocol itself sends: gRPC posts, a WebSocket
// begins with a GET, and TCP has none.
func MethodOf(p Name) string {
	switch p {
	case RPC:
		return "POST"
	case TCP:
		return ""
	}
	return "GET"
}

// Form is a kind of request that is a message.
type Form struct {
	Key     string // of the URL
	Schemes []string
	JSON    bool // the message is JSON
}

// Forms are the kinds of request that are messages.
var Forms = []Form{
	{"grpc", []string{"grpc", "grpcs"}, true},
	{"websocket", []string{"ws", "wss"}, false},
	{"tcp", []string{"tcp"}, false},
}

// schemes are those of a request's URL, with their protocol.
var schemes = map[string]struct {
	protocol Name
	tls      bool
	example  string
}{
	"http":  {HTTP1, false, "http://127.0.0.1:8080/path"},
	"https": {HTTP1, true, "https://127.0.0.1:8443/path"},
	"grpc":  {RPC, false, "grpc://127.0.0.1:50051/pkg.Service/Method"},
	"grpcs": {RPC, true, "grpcs://127.0.0.1:50051/pkg.Service/Method"},
	"ws":    {WebSocket, false, "ws://127.0.0.1:8080/path"},
	"wss":   {WebSocket, true, "wss://127.0.0.1:8443/path"},
	"tcp":   {TCP, false, "tcp://127.0.0.1:7000"},
}

// schemeOf is a URL's scheme, in lower case.
func schemeOf[T ~string](text T) string {
	scheme, _, _ := strings.Cut(string(text), "://")
	return strings.ToLower(scheme)
}

// Secure reports whether requests to a URL go over TLS.
func Secure[T ~string](target T) bool { return schemes[schemeOf(target)].tls }

// Of is the protocol of a request to a URL in a plan that says h.
func Of[T ~string](target T, h Name) Name {
	protocol := schemes[schemeOf(target)].protocol
	if protocol == HTTP1 && h == HTTP2 {
		return HTTP2
	}
	return protocol
}

// RequestName is the name of a request that was given none.
func RequestName(method string, target feeder.Template) string {
	scheme, rest, _ := strings.Cut(string(target), "://")
	switch schemes[strings.ToLower(scheme)].protocol {
	case RPC:
		return strings.TrimPrefix(pathOf(string(target)), "/")
	case WebSocket:
		return "WS " + pathOf(string(target))
	case TCP:
		return "TCP " + strings.TrimRight(rest, "/")
	}
	return method + " " + pathOf(string(target))
}

// pathOf is a URL's path, with its placeholders, for a request's default name.
func pathOf(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	slash := strings.IndexAny(rest, "/?#")
	if slash < 0 || rest[slash] != '/' {
		return "/"
	}
	rest = rest[slash:]
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// keyOf is a hint that names the key to which a scheme belongs.
func keyOf(scheme string) string {
	for _, form := range Forms {
		if slices.Contains(form.Schemes, scheme) {
			return "write it as {" + form.Key + ": " + schemes[scheme].example + ", message: ...}"
		}
	}
	return "write it as {get: " + schemes[scheme].example + "}"
}

func beginnings(allowed []string) string {
	var all []string
	for _, scheme := range allowed {
		all = append(all, scheme+"://")
	}
	return strings.Join(all, " or ")
}
