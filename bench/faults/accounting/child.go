package accounting

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// childEnv makes this binary a server that its parent stops or kills: protocol,
// fault, size of a message and ledger, by lines.
const childEnv = "REDLINE_FAULTS_SERVER"

// Serve must be called first by every main whose binary may be started as a server.
// It returns at once if this process was not; otherwise it serves until its standard
// input ends, as happens when the parent ends.
func Serve() {
	spec, ok := os.LookupEnv(childEnv)
	if !ok {
		return
	}
	if err := serveSpec(strings.Split(spec, "\n")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveSpec(spec []string) error {
	sized, err := strconv.Atoi(spec[2])
	if err != nil {
		return err
	}
	file, err := os.OpenFile(spec[3], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s, err := newServer(spec[0], spec[1], sized, file)
	if err != nil {
		return err
	}
	fmt.Println(s.listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.end()
	return nil
}

// child is a server in a process of its own.
type child struct {
	command *exec.Cmd
	stdin   io.Closer
	ledger  string
	address string
}

func startChild(ctx context.Context, protocol, fault string, sized int, folder string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{ledger: filepath.Join(folder, "ledger")}
	c.command = exec.CommandContext(ctx, self)
	c.command.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{protocol, fault, strconv.Itoa(sized), c.ledger}, "\n"))
	c.command.Stderr = os.Stderr
	if c.stdin, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = c.command.Process.Kill()
		_ = c.command.Wait()
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	c.address = strings.TrimSpace(line)
	return c, nil
}

// strike stops or kills the process.
func (c *child) strike(fault string) {
	sig := syscall.SIGKILL
	if fault == processStopped {
		sig = syscall.SIGSTOP
	}
	_ = c.command.Process.Signal(sig) // if it is already gone, that is just as good
}

// end kills the process and counts what it noted.
func (c *child) end() (requests, answers int64, err error) {
	_ = c.command.Process.Kill()
	_ = c.command.Wait() // killed: that is no error
	_ = c.stdin.Close()
	noted, err := os.ReadFile(c.ledger)
	return int64(bytes.Count(noted, []byte{eventRequest})), int64(bytes.Count(noted, []byte{eventAnswer})), err
}

// certified is TLS with a self-signed certificate.
func certified(protocol string) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	next := "http/1.1"
	if protocol == "h2" {
		next = "h2"
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{next}}, nil
}
