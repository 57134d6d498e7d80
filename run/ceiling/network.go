package ceiling

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"time"
)

const loopback = "127.0.0.1:0"

// message is about the size of a small request or answer, in bytes.
const message = 128

// roundTrips lets pairs of goroutines exchange messages over TCP.
func (m *Measured) roundTrips(ctx context.Context) error {
	listener, err := net.Listen("tcp", loopback)
	if err != nil {
		return err
	}
	defer listener.Close()
	go echo(listener)
	begin := func(ctx context.Context) (worker, error) { return exchange(ctx, listener.Addr().String()) }
	one, err := rate(ctx, 1, begin)
	if err != nil {
		return err
	}
	m.RoundTrip = time.Duration(float64(time.Second) / one)
	// More pairs than CPUs, so that no CPU is idle while a pair waits.
	m.RoundTrips, err = rate(ctx, 4*m.CPUs, begin)
	return err
}

// exchange begins a worker that exchanges messages with an address.
func exchange(ctx context.Context, address string) (worker, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return worker{}, err
	}
	stop := until(ctx, conn)
	buffer := make([]byte, message)
	return worker{
		work: func() error {
			if _, err := conn.Write(buffer); err != nil {
				return err
			}
			_, err := io.ReadFull(conn, buffer)
			return err
		},
		end: func() {
			stop()
			conn.Close()
		},
	}, nil
}

// until ends what waits for a connection when ctx ends, unless stop was called before.
func until(ctx context.Context, conn net.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}

// echo answers every message until the listener is closed.
func echo(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			buffer := make([]byte, message)
			for {
				if _, err := io.ReadFull(conn, buffer); err != nil {
					return
				}
				if _, err := conn.Write(buffer); err != nil {
					return
				}
			}
		}()
	}
}

// accepts opens and closes connections.
func (m *Measured) accepts(ctx context.Context) (err error) {
	listener, err := net.Listen("tcp", loopback)
	if err != nil {
		return err
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	m.Accepts, err = rate(ctx, 2*m.CPUs, func(ctx context.Context) (worker, error) {
		return worker{func() error { return visit(ctx, listener.Addr().String()) }, func() {}}, nil
	})
	return err
}

// visit opens a connection to an address and closes it once the server has.
func visit(ctx context.Context, address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer until(ctx, conn)()
	// A reset leaves no port in TIME_WAIT: measuring must not use them up.
	_ = conn.(*net.TCPConn).SetLinger(0)
	_, _ = conn.Read(make([]byte, 1)) // until the server has accepted and closed
	return ctx.Err()
}

// handshakes makes TLS connections in memory: what they cost on a CPU.
func (m *Measured) handshakes(ctx context.Context) error {
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	server := &tls.Config{Certificates: []tls.Certificate{certificate}, SessionTicketsDisabled: true}
	// It talks to itself in memory, where there is nobody to verify.
	client := &tls.Config{InsecureSkipVerify: true}
	m.Handshakes, err = rate(ctx, m.CPUs, func(ctx context.Context) (worker, error) {
		return worker{func() error {
			near, far := net.Pipe()
			defer near.Close()
			defer far.Close()
			done := make(chan error, 1)
			go func() { done <- tls.Server(far, server).HandshakeContext(ctx) }()
			err := tls.Client(near, client).HandshakeContext(ctx)
			if err != nil {
				near.Close()
			}
			<-done
			return err
		}, func() {}}, nil
	})
	return err
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redline doctor"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
