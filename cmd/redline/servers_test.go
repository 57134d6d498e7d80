package main

// Real servers on loopback, one for each protocol that load speaks.

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

// shop is a small HTTP service: orders for clients with a token, redirects, a stall,
// and an echo over WebSocket.
func shop() http.Handler {
	begun := time.Now()
	mux := http.NewServeMux()
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
	mux.HandleFunc("/{$}", text("hello\n"))
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"user": r.URL.Query().Get("user"), "state": "open"})
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			User json.Number
			Item string
		}
		switch err := json.NewDecoder(r.Body).Decode(&order); {
		case !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ey"):
			w.WriteHeader(http.StatusUnauthorized)
		case err != nil || order.User == "" || order.Item == "":
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusCreated)
		}
	})
	mux.Handle("/old", http.RedirectHandler("/", http.StatusMovedPermanently))
	mux.Handle("/away", http.RedirectHandler("http://elsewhere.test/", http.StatusFound))
	// Nothing is answered in the last fifth of each second.
	mux.HandleFunc("/stalls", func(w http.ResponseWriter, _ *http.Request) {
		if at := time.Since(begun) % time.Second; at > 800*time.Millisecond {
			time.Sleep(time.Second - at)
		}
	})
	mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/echo", echoMessages)
	return mux
}

// echoMessages answers each message with itself, except those that ask for something else.
func echoMessages(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	for {
		kind, message, err := c.Read(r.Context())
		if err != nil {
			return
		}
		if strings.Contains(string(message), "typing") {
			continue
		}
		if err := c.Write(r.Context(), kind, message); err != nil {
			return
		}
	}
}

// serveHTTP starts h, over TLS when config is not nil, and returns its address.
func serveHTTP(t *testing.T, h http.Handler, config *tls.Config) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that do not trust it are part of the tests
	if config == nil {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(true)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	} else {
		s.TLS, s.EnableHTTP2 = config, true
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// serveRPC starts the health service of gRPC, with reflection.
func serveRPC(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	states := health.NewServer()
	states.SetServingStatus("shop", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	grpc_health_v1.RegisterHealthServer(s, states)
	reflection.Register(s)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() { s.Stop(); <-served })
	return l.Addr().String()
}

// serveEcho starts a server that sends back what it reads.
func serveEcho(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(func() { end(); l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { c.Close() })
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// authority signs certificates of servers and clients on loopback.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	pair := a.issue("redline's test authority")
	a.cert, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

// issue makes a certificate and its key; the first one is the authority's own.
func (a *authority) issue(name string) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	by, byKey := a.cert, a.key
	if by == nil {
		about.IsCA, about.BasicConstraintsValid = true, true
		about.KeyUsage |= x509.KeyUsageCertSign
		by, byKey = about, key
	}
	der, err := x509.CreateCertificate(rand.Reader, about, by, &key.PublicKey, byKey)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// server is the configuration of a server, which requires a client certificate if
// mutual is set.
func (a *authority) server(mutual bool) *tls.Config {
	config := &tls.Config{Certificates: []tls.Certificate{a.issue("server")}}
	if mutual {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AddCert(a.cert)
	}
	return config
}

// write puts ca.pem, client.pem and client.key into a folder.
func (a *authority) write(dir string) {
	a.t.Helper()
	client := a.issue("client")
	key, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem":     {Type: "CERTIFICATE", Bytes: a.cert.Raw},
		"client.pem": {Type: "CERTIFICATE", Bytes: client.Certificate[0]},
		"client.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}
