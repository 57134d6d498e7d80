package protocol

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/scalar"
)

// rpcStatus are the names of gRPC's status codes, from 0.
var rpcStatus = []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
	"UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// ParseStatus parses a status of HTTP, or a number or name of gRPC's.
func ParseStatus(text string) (int, error) {
	if i := slices.Index(rpcStatus, strings.TrimSpace(text)); i >= 0 {
		return i, nil
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
		return 0, mistake.Newf(mistake.DidYouMean(text, rpcStatus), "%.40q is not the name of a gRPC status", text)
	}
	return scalar.ParseCount(text, 0, 599)
}

// CheckStatus checks that a protocol has a status.
func CheckStatus(status int, p Name) error {
	switch {
	case p == RPC && (status < 0 || status >= len(rpcStatus)):
		return mistake.Newf("gRPC's are 0 to 16, or names such as NOT_FOUND", "%d is not a status of gRPC", status)
	case IsHTTP(p) && (status < 100 || status > 599):
		return mistake.Newf("HTTP's are 100 to 599", "%d is not a status of HTTP", status)
	case p == WebSocket || p == TCP:
		return mistake.Newf("leave it out", "the answers of %s have no status", p)
	}
	return nil
}
