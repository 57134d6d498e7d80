// Package failure names why requests fail, so that wires, accounting and the
// generator's validity use the same names.
package failure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Kind names why a request failed, as in summary.json's error_kinds.
type Kind string

// Kinds of failure.
const (
	Refused        Kind = "refused"          // no listener
	Timeout        Kind = "timeout"          // the plan's timeout passed
	Reset          Kind = "reset"            // RST or EPIPE
	DNS            Kind = "dns"              // the name does not resolve
	Unreachable    Kind = "unreachable"      // no route to host or network
	EOF            Kind = "eof"              // closed before the answer's head was complete
	ShortBody      Kind = "short-body"       // closed before the body was complete
	BadResponse    Kind = "bad-response"     // not the protocol
	HeaderTooLarge Kind = "header-too-large" // head over the protocol's bound
	BadRequest     Kind = "bad-request"      // data that the protocol cannot carry
	TooManyFDs     Kind = "too-many-fds"     // the generator's descriptors are used up
	NoPorts        Kind = "no-free-port"     // the generator's local ports are used up
	Status         Kind = "status"           // a status that the plan does not expect
	TLS            Kind = "tls"              // the handshake failed
	Certificate    Kind = "certificate"      // the server's certificate is not valid
	StreamReset    Kind = "stream-reset"     // HTTP/2: the target gave up this stream, not the connection
	Redirect       Kind = "redirect"         // too many, or to a host that the plan does not name
	Other          Kind = "other"
)

// Kinds numbers the kinds, so that a sample stores one byte. Index 0 is success.
var Kinds = [...]Kind{"",
	Refused, Timeout, Reset, DNS, Unreachable, EOF, ShortBody, BadResponse,
	HeaderTooLarge, BadRequest, TooManyFDs, NoPorts, Status,
	TLS, Certificate, StreamReset, Redirect, Other,
}

// Index returns k's number; an unknown kind counts as other.
func (k Kind) Index() uint8 {
	for i, known := range Kinds {
		if k == known {
			return uint8(i)
		}
	}
	return uint8(len(Kinds) - 1)
}

// Error is a failed request with its kind.
type Error struct {
	Kind Kind
	Err  error
	// Unseen means that the target closed the connection in an orderly way without
	// processing the request, so it may be sent again (RFC 9113, section 8.7).
	Unseen bool
}

// New returns a failure of a kind, whose words fmt.Errorf makes.
func New(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

func (f *Error) Error() string { return string(f.Kind) + ": " + f.Err.Error() }

func (f *Error) Unwrap() error { return f.Err }

// Of classifies an error of a wire, TLS or the network; "" for nil.
func Of(err error) Kind {
	if err == nil {
		return ""
	}
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Kind
	}
	for _, c := range errnoKinds {
		if errors.Is(err, c.errno) {
			return c.kind
		}
	}
	// The errors of crypto/tls for an alert, and for bytes that are not a record, have
	// no type of their own. A server that refuses a client's certificate says so after
	// the handshake (RFC 8446, section 4.4.2.4), when a request is in progress.
	var alert *net.OpError
	var record tls.RecordHeaderError
	if errors.As(err, &record) || errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error") {
		return TLS
	}
	// A name that takes too long to resolve is a timeout of the resolver; it is still
	// the name that needs fixing.
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return DNS
	}
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout() {
		return Timeout
	}
	return Other
}

var errnoKinds = []struct {
	errno syscall.Errno
	kind  Kind
}{
	{syscall.ECONNREFUSED, Refused},
	{syscall.ECONNRESET, Reset},
	{syscall.EPIPE, Reset},
	{syscall.ECONNABORTED, Reset},
	{syscall.EMFILE, TooManyFDs},
	{syscall.ENFILE, TooManyFDs},
	{syscall.EADDRNOTAVAIL, NoPorts},
	{syscall.EHOSTUNREACH, Unreachable},
	{syscall.ENETUNREACH, Unreachable},
	{syscall.ETIMEDOUT, Timeout},
}

// OfHandshake classifies the error of a TLS handshake: a network error keeps its kind.
func OfHandshake(err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return &Error{Kind: Certificate, Err: err}
	}
	if kind := Of(err); kind != Other {
		return err
	}
	return &Error{Kind: TLS, Err: fmt.Errorf("TLS handshake: %w", err)}
}
