package protocol

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
)

// CheckURL checks an absolute http or https URL.
func CheckURL(text string) (string, error) { return checkSchemes(text, "http", "https") }

// CheckTarget checks the URL of a request of any protocol. Path and query may
// have placeholders where the protocol sends them with each request.
func CheckTarget(text string) error {
	scheme := schemeOf(text)
	filled := feeder.Placeholder.ReplaceAllString(text, "0")
	if _, known := schemes[scheme]; !known {
		_, err := CheckURL(filled)
		return err
	}
	if _, err := checkSchemes(filled, scheme); err != nil {
		return err
	}
	protocol := schemes[scheme].protocol
	if (protocol == RPC || protocol == TCP) && strings.Contains(text, "{{") {
		return mistake.Newf("put the placeholder into the message", "the URL of a %s request takes no data", scheme)
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
		return "", mistake.Newf(hint, "%.200q is not a URL", redact.Text(text))
	case !slices.Contains(allowed, u.Scheme):
		return "", mistake.Newf(hint, "URL %.200q does not begin with %s", redact.Text(text), beginnings(allowed))
	case u.Hostname() == "":
		return "", mistake.Newf(hint, "URL %.200q has no host", redact.Text(text))
	case strings.ContainsAny(text, " \t\r\n"):
		return "", mistake.Newf("write a space as %20", "URL %.200q contains a space", redact.Text(text))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", mistake.Newf("", "%.20q is not a port", port)
		}
	}
	return text, nil
}

var rpcPath = regexp.MustCompile(`^/(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*/[A-Za-z_]\w*$`)

// checkRPC checks that a URL names one method of one service, and no more.
func checkRPC(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil || !rpcPath.MatchString(u.Path) {
		return mistake.Newf("write it as "+schemes["grpc"].example, "URL %.200q does not name a method", redact.Text(text))
	}
	return nil
}

// checkTCP checks that a URL is a host and a port.
func checkTCP(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Port() == "" {
		return mistake.Newf("write it as "+schemes["tcp"].example, "URL %.200q is not a host and a port", redact.Text(text))
	}
	return nil
}

// CheckTemplateURL checks an http or https URL that may have placeholders in its
// path and query.
func CheckTemplateURL(text string) (feeder.Template, error) {
	return CheckTemplate(text, "http", "https")
}

// CheckTemplate is CheckTemplateURL for other schemes.
func CheckTemplate(text string, allowed ...string) (feeder.Template, error) {
	if _, known := schemes[schemeOf(text)]; known && !slices.Contains(allowed, schemeOf(text)) {
		// The scheme is known, and another key's.
		return "", mistake.Newf(keyOf(schemeOf(text)), "URL %.200q does not begin with %s", redact.Text(text), beginnings(allowed))
	}
	if _, err := checkSchemes(feeder.Placeholder.ReplaceAllString(text, "0"), allowed...); err != nil {
		return "", err
	}
	return feeder.Template(text), CheckTarget(text)
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?$`)

// CheckHost checks a name or an address. Patterns are refused, so that the author
// of a list has named each host that may be loaded.
func CheckHost(text string) (string, error) {
	text = strings.TrimSpace(text)
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return a.String(), nil
	}
	if !hostName.MatchString(text) {
		return "", mistake.Newf("write a name or an address alone, as shop.example or 10.0.0.7", "%.80q is not a host", redact.Text(text))
	}
	return text, nil
}
