package scenario

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/redact"
)

// schemes are those of a request's URL, with their protocol.
var schemes = map[string]struct {
	protocol Protocol
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

// protocolOf is the protocol of a request to a URL in a plan that says h.
func protocolOf(target Template, h Protocol) Protocol {
	protocol := schemes[schemeOf(target)].protocol
	if protocol == HTTP1 && h == HTTP2 {
		return HTTP2
	}
	return protocol
}

func isHTTP(p Protocol) bool { return p == HTTP1 || p == HTTP2 || p == "" }

// checkURL checks an absolute http or https URL.
func checkURL(text string) (string, error) { return checkSchemes(text, "http", "https") }

// checkTarget checks the URL of a request of any protocol. Path and query may
// have placeholders where the protocol sends them with each request.
func checkTarget(text string) error {
	scheme := schemeOf(text)
	filled := placeholderForm.ReplaceAllString(text, "0")
	if _, known := schemes[scheme]; !known {
		_, err := checkURL(filled)
		return err
	}
	if _, err := checkSchemes(filled, scheme); err != nil {
		return err
	}
	protocol := schemes[scheme].protocol
	if (protocol == RPC || protocol == TCP) && strings.Contains(text, "{{") {
		return mistakef("put the place into the message", "the URL of a %s request takes no data", scheme)
	}
	switch protocol {
	case RPC:
		return checkRPC(text)
	case TCP:
		return checkTCP(text)
	}
	return nil
}

// checkSchemes checks an absolute URL of one of the schemes; the hint shows
// the first.
func checkSchemes(text string, allowed ...string) (string, error) {
	hint := "write it as " + schemes[allowed[0]].example
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", mistakef(hint, "%.200q is not a URL", redact.Text(text))
	case !slices.Contains(allowed, u.Scheme):
		return "", mistakef(hint, "URL %.200q does not begin with %s", redact.Text(text), beginnings(allowed))
	case u.Hostname() == "":
		return "", mistakef(hint, "URL %.200q has no host", redact.Text(text))
	case strings.ContainsAny(text, " \t\r\n"):
		return "", mistakef("write a blank as %20", "URL %.200q holds a blank", redact.Text(text))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", mistakef("", "%.20q is not a port", port)
		}
	}
	return text, nil
}

func beginnings(allowed []string) string {
	var all []string
	for _, scheme := range allowed {
		all = append(all, scheme+"://")
	}
	return strings.Join(all, " or ")
}

var rpcPath = regexp.MustCompile(`^/(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*/[A-Za-z_]\w*$`)

// checkRPC checks that a URL names one method of one service, and no more.
func checkRPC(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil || !rpcPath.MatchString(u.Path) {
		return mistakef("write it as "+schemes["grpc"].example, "URL %.200q does not name a method", redact.Text(text))
	}
	return nil
}

// checkTCP checks that a URL is a host and a port.
func checkTCP(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Port() == "" {
		return mistakef("write it as "+schemes["tcp"].example, "URL %.200q is not a host and a port", redact.Text(text))
	}
	return nil
}

// checkTemplateURL checks an http or https URL that may have placeholders in its
// path and query.
func checkTemplateURL(text string) (Template, error) { return checkTemplate(text, "http", "https") }

// checkTemplate is checkTemplateURL for other schemes.
func checkTemplate(text string, allowed ...string) (Template, error) {
	if _, known := schemes[schemeOf(text)]; known && !slices.Contains(allowed, schemeOf(text)) {
		// The scheme is known, and another key's.
		return "", mistakef(keyOf(schemeOf(text)), "URL %.200q does not begin with %s", redact.Text(text), beginnings(allowed))
	}
	if _, err := checkSchemes(placeholderForm.ReplaceAllString(text, "0"), allowed...); err != nil {
		return "", err
	}
	return Template(text), checkTarget(text)
}

// keyOf is a hint: the key that a scheme belongs to.
func keyOf(scheme string) string {
	for _, form := range messageForms {
		if slices.Contains(form.schemes, scheme) {
			return "write it as {" + form.key + ": " + schemes[scheme].example + ", message: ...}"
		}
	}
	return "write it as {get: " + schemes[scheme].example + "}"
}

// requestName is the name of a request that was given none.
func requestName(method string, target Template) string {
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

// methodOf is the method that a protocol itself sends: gRPC posts, a WebSocket
// begins with a GET, and TCP has none.
func methodOf(p Protocol) string {
	switch p {
	case RPC:
		return "POST"
	case TCP:
		return ""
	}
	return "GET"
}
