package endpoint

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
)

func TestParse(t *testing.T) {
	for url, want := range map[string]Endpoint{
		"http://h.test":                    {Scheme: "http", Address: "h.test:80", Authority: "h.test", Path: "/"},
		"HTTPS://h.test/a?b=c#d":           {Scheme: "https", Address: "h.test:443", Authority: "h.test", Path: "/a?b=c"},
		"http://h.test:81?a=b":             {Scheme: "http", Address: "h.test:81", Authority: "h.test:81", Path: "/?a=b"},
		"ws://[::1]:9/x":                   {Scheme: "ws", Address: "[::1]:9", Authority: "[::1]:9", Path: "/x"},
		"wss://[::1]":                      {Scheme: "wss", Address: "[::1]:443", Authority: "[::1]", Path: "/"},
		"grpc://h.test/a.B/C":              {Scheme: "grpc", Address: "h.test:80", Authority: "h.test", Path: "/a.B/C"},
		"grpcs://h.test:7/a.B/C":           {Scheme: "grpcs", Address: "h.test:7", Authority: "h.test:7", Path: "/a.B/C"},
		"tcp://h.test:7":                   {Scheme: "tcp", Address: "h.test:7", Authority: "h.test:7", Path: "/"},
		"http://h.test/{{ u.id }}?q={{u}}": {Scheme: "http", Address: "h.test:80", Authority: "h.test", Path: "/{{ u.id }}?q={{u}}"},
	} {
		got, err := Parse(url, &scenario.Plan{})
		secure := got.TLS != nil
		got.TLS = nil
		if err != nil || got != want || secure != slices.Contains([]string{"https", "wss", "grpcs"}, want.Scheme) {
			t.Errorf("%s: %+v, TLS %v (%v), want %+v", url, got, secure, err, want)
		}
	}
}

func TestWhatLeadsNowhere(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://h.test/":             `scheme "ftp"`,
		"h.test/x":                  "no scheme",
		"http:///x":                 "no valid host",
		"http://:80/x":              "no valid host",
		"http://{{u}}/":             "cannot come from data",
		"http://me:secret@h.test/":  "credentials",
		"http://me:secret@h.test/ ": "credentials",
		"http://h.test/a b":         "percent-encoded",
		"http://h.test:0/":          "port from 1",
		"http://h.test:65536/":      "port from 1",
		"tcp://h.test":              "needs a port",
	} {
		_, err := Parse(url, &scenario.Plan{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want it to say %q", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v shows a secret", err)
		}
	}
}

// issue makes a certificate for 127.0.0.1 and name.test that is its own
// authority, as PEM.
func issue(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"name.test"},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// handshake connects as the endpoint says to a server on loopback and returns
// the client's state.
func handshake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan bool)
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("x")) // after the handshake; its failure is the client's too
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), client)
	if err != nil {
		<-done
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	// Session tickets, and the refusal of a certificate, arrive with the data.
	_, err = conn.Read(make([]byte, 1))
	<-done
	return conn.ConnectionState(), err
}

func TestTLS(t *testing.T) {
	cert, key := issue(t)
	_, otherKey := issue(t)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(cert)
	plain := &tls.Config{Certificates: []tls.Certificate{pair}}
	mutual := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted}
	old := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	for _, test := range []struct {
		name   string
		url    string
		tls    scenario.TLS
		server *tls.Config
		want   string // of Parse's or the handshake's error; empty for none
	}{
		{"trusted", "https://127.0.0.1/", scenario.TLS{CA: cert}, plain, ""},
		{"unknown authority", "https://127.0.0.1/", scenario.TLS{}, plain, "unknown authority"},
		{"another name", "https://elsewhere.test/", scenario.TLS{CA: cert}, plain, "not elsewhere.test"},
		{"named otherwise", "https://elsewhere.test/", scenario.TLS{CA: cert, ServerName: "name.test"}, plain, ""},
		{"not verified", "https://elsewhere.test/", scenario.TLS{Insecure: true}, plain, ""},
		{"client certificate", "https://127.0.0.1/", scenario.TLS{CA: cert, Cert: cert, Key: key}, mutual, ""},
		{"no client certificate", "https://127.0.0.1/", scenario.TLS{CA: cert}, mutual, "certificate"},
		{"old version", "https://127.0.0.1/", scenario.TLS{CA: cert}, old, "version"},
		{"no PEM", "https://127.0.0.1/", scenario.TLS{CA: []byte("x"), CAFile: "ca.pem"}, nil, "ca.pem contains no PEM"},
		{"no key", "https://127.0.0.1/", scenario.TLS{Cert: cert}, nil, "needs both"},
		{"another's key", "https://127.0.0.1/", scenario.TLS{Cert: cert, Key: otherKey}, nil, "make no client certificate"},
	} {
		at, err := Parse(test.url, &scenario.Plan{TLS: test.tls})
		if err == nil && test.server != nil {
			_, err = handshake(t, test.server, at.TLS)
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
}

func TestSessionsAreResumed(t *testing.T) {
	cert, key := issue(t)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	at, err := Parse("https://127.0.0.1/", &scenario.Plan{TLS: scenario.TLS{CA: cert}})
	if err != nil {
		t.Fatal(err)
	}
	server := &tls.Config{Certificates: []tls.Certificate{pair}}
	for i, want := range []bool{false, true, true} {
		if state, err := handshake(t, server, at.TLS); err != nil || state.DidResume != want {
			t.Errorf("connection %d: resumed %v (%v), want %v", i, state.DidResume, err, want)
		}
	}
}
