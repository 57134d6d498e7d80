package protocol

import (
	"net/textproto"
	"regexp"
	"strings"

	"github.com/redline-go/redline/scenario/mistake"
)

var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, 5.6.2

// OwnHeaders are written by the load generator and would break framing if they
// came from elsewhere.
var OwnHeaders = []string{"Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer"}

// CheckHeader checks the name of a header that a plan sets: redline writes OwnHeaders
// itself.
func CheckHeader(name string) (string, error) {
	if !token.MatchString(name) {
		return "", mistake.Newf("", "%.60q cannot be the name of a header", name)
	}
	for _, own := range OwnHeaders {
		if textproto.CanonicalMIMEHeaderKey(name) == own {
			return "", mistake.Newf("", "header %s is set by redline itself", own)
		}
	}
	return name, nil
}

// CheckField checks the name of a header of the answer, where OwnHeaders are
// allowed.
func CheckField(name string) (string, error) {
	if !token.MatchString(name) {
		return "", mistake.Newf("", "%.60q cannot be the name of a header", name)
	}
	return textproto.CanonicalMIMEHeaderKey(name), nil
}

// CheckMethod checks a method of HTTP and returns it in upper case.
func CheckMethod(method string) (string, error) {
	if !token.MatchString(method) || len(method) > 32 {
		return "", mistake.Newf("", "%.40q cannot be a method", method)
	}
	return strings.ToUpper(method), nil
}
