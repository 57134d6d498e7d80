package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// ErrorKind names why a request failed, as in summary.json's error_kinds.
type ErrorKind string

// Kinds of failure.
const (
	KindRefused        ErrorKind = "refused"          // no listener
	KindTimeout        ErrorKind = "timeout"          // the plan's timeout passed
	KindReset          ErrorKind = "reset"            // RST or EPIPE
	KindDNS            ErrorKind = "dns"              // the name does not resolve
	KindUnreachable    ErrorKind = "unreachable"      // no route to host or network
	KindEOF            ErrorKind = "eof"              // closed before the answer's head was complete
	KindShortBody      ErrorKind = "short-body"       // closed before the body was complete
	KindBadResponse    ErrorKind = "bad-response"     // not the protocol
	KindHeaderTooLarge ErrorKind = "header-too-large" // head over the protocol's bound
	KindBadRequest     ErrorKind = "bad-request"      // data that the protocol cannot carry
	KindTooManyFDs     ErrorKind = "too-many-fds"     // the generator's descriptors are used up
	KindNoPorts        ErrorKind = "no-free-port"     // the generator's local ports are used up
	KindStatus         ErrorKind = "status"           // a status that the plan does not expect
	KindTLS            ErrorKind = "tls"              // the handshake failed
	KindCertificate    ErrorKind = "certificate"      // the server's certificate does not hold
	KindStreamReset    ErrorKind = "stream-reset"     // HTTP/2: the target gave up this stream, not the connection
	KindRedirect       ErrorKind = "redirect"         // too many, or to a host that the plan does not name
	KindOther          ErrorKind = "other"
)

// kinds gives each kind a small number, so that a sample takes one byte for
// it. Index 0 is success.
var kinds = [...]ErrorKind{"",
	KindRefused, KindTimeout, KindReset, KindDNS, KindUnreachable, KindEOF, KindShortBody, KindBadResponse,
	KindHeaderTooLarge, KindBadRequest, KindTooManyFDs, KindNoPorts, KindStatus,
	KindTLS, KindCertificate, KindStreamReset, KindRedirect, KindOther,
}

// index returns k's number; an unknown kind counts as other.
func (k ErrorKind) index() uint8 {
	for i, known := range kinds {
		if k == known {
			return uint8(i)
		}
	}
	return uint8(len(kinds) - 1)
}

// Failure is a failed request with its kind.
type Failure struct {
	Kind ErrorKind
	Err  error
	// Unseen says that the target closes the connection in order and has done
	// nothing for the request, which may be sent again (RFC 9113, section 8.7).
	Unseen bool
}

func (f *Failure) Error() string { return string(f.Kind) + ": " + f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// KindOf classifies an error of Client.Do or of the network; nil is "".
func KindOf(err error) ErrorKind {
	if err == nil {
		return ""
	}
	var failure *Failure
	if errors.As(err, &failure) {
		return failure.Kind
	}
	for _, c := range errnoKinds {
		if errors.Is(err, c.errno) {
			return c.kind
		}
	}
	// The error of crypto/tls for an alert, and of bytes that are no record, has no
	// type of its own. A server that wants a client's certificate says so after
	// the handshake (RFC 8446, section 4.4.2.4), when a request is under way.
	var alert *net.OpError
	var record tls.RecordHeaderError
	if errors.As(err, &record) || errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error") {
		return KindTLS
	}
	// A name that takes too long to resolve is a timeout of the resolver; what
	// to fix is still the name.
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return KindDNS
	}
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout() {
		return KindTimeout
	}
	return KindOther
}

var errnoKinds = []struct {
	errno syscall.Errno
	kind  ErrorKind
}{
	{syscall.ECONNREFUSED, KindRefused},
	{syscall.ECONNRESET, KindReset},
	{syscall.EPIPE, KindReset},
	{syscall.ECONNABORTED, KindReset},
	{syscall.EMFILE, KindTooManyFDs},
	{syscall.ENFILE, KindTooManyFDs},
	{syscall.EADDRNOTAVAIL, KindNoPorts},
	{syscall.EHOSTUNREACH, KindUnreachable},
	{syscall.ENETUNREACH, KindUnreachable},
	{syscall.ETIMEDOUT, KindTimeout},
}

// handshakeFailure names the cause of a failed TLS handshake, unless the network
// did.
func handshakeFailure(err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return &Failure{Kind: KindCertificate, Err: err}
	}
	if kind := KindOf(err); kind != KindOther {
		return err
	}
	return &Failure{Kind: KindTLS, Err: fmt.Errorf("TLS handshake: %w", err)}
}
