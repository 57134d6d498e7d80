package service

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
)

// serving starts the service at an address, and waits until it answers.
func serving(t *testing.T, address string) *process {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "svc")
	if err := Build(t.Context(), module(t, service), binary); err != nil {
		t.Fatal(err)
	}
	o := options(t, address, scenario.Target{Exec: []string{"/bin/sh", "-c", "ADDR=" + address + " exec " + binary}, Dir: t.TempDir()})
	p := startIn(t, o)
	if err := waitReady(t.Context(), o, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestListenerAtTheAddress: another process at the same port, but at another address, is not the target.
func TestListenerAtTheAddress(t *testing.T) {
	own, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	other := strings.Replace(own.Addr().String(), "127.0.0.1", "127.0.0.2", 1)
	p := serving(t, other)
	for address, want := range map[string]int{own.Addr().String(): os.Getpid(), other: p.pid()} {
		if pid, err := listener(t.Context(), "http://"+address, 0); err != nil || pid != want {
			t.Errorf("at %s listens process %d, %v; want %d", address, pid, err, want)
		}
	}
}

// TestPIDIsTheUsers: the process that the user names is observed, also where another one holds the socket.
func TestPIDIsTheUsers(t *testing.T) {
	address := freeAddress(t)
	p := serving(t, address)
	svc, err := Start(t.Context(), options(t, address, scenario.Target{PID: os.Getpid()}))
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	if got := svc.Info().PID; got != os.Getpid() {
		t.Errorf("process %d is observed, want %d, which was named; %d serves", got, os.Getpid(), p.pid())
	}
}

// TestReadyOverTLS: readiness is asked for as the load connects, with its certificate authority.
func TestReadyOverTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	o := options(t, server.Listener.Addr().String(), scenario.Target{PID: os.Getpid(), Ready: server.URL, ReadyTimeout: 10 * time.Second})
	o.TLS = &tls.Config{RootCAs: trusted}
	svc, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	svc.End()
}

// TestRunningTargetGetsTheTimeThatItIsGiven: an own ready_timeout holds for it too; without one it is there at once or never.
func TestRunningTargetGetsTheTimeThatItIsGiven(t *testing.T) {
	for given, want := range map[time.Duration]string{20 * time.Millisecond: "for 20ms", 0: "for 1s"} {
		o := options(t, freeAddress(t), scenario.Target{PID: os.Getpid(), ReadyTimeout: given})
		var late *NotReady
		if err := waitReady(t.Context(), o, nil); !errors.As(err, &late) || !strings.HasSuffix(late.What, want) {
			t.Errorf("%v: %v, want %q", given, err, want)
		}
	}
}

// TestProbeOfABuildIsWaitedFor: a service may answer before its probe has started.
func TestProbeOfABuildIsWaitedFor(t *testing.T) {
	o := options(t, freeAddress(t), scenario.Target{Exec: []string{"sleep", "600"}, Dir: t.TempDir()})
	target := &Target{ring: filepath.Join(t.TempDir(), "ring"), proc: startIn(t, o)}
	target.info.How = "build"
	time.AfterFunc(readyInterval/2, func() { _ = os.WriteFile(target.ring, nil, 0o600) }) // the next look finds it
	if !target.probed(t.Context()) {
		t.Error("the probe came after the service's first answer, and is taken for absent")
	}
	target.info.How, target.ring = "exec", target.ring+"-of-none"
	if target.probed(t.Context()) {
		t.Error("a command without a probe has one")
	}
}
