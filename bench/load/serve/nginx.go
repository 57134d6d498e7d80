//go:build linux

// Package serve holds the servers that the bench puts load on: nginx, a gRPC echo, and
// one that stalls on schedule.
package serve

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"

	"github.com/redline-go/redline/bench/load/process"
	"github.com/redline-go/redline/service/port"
)

// Nginx is the server of the comparison: one process that answers "ok".
type Nginx struct {
	*process.Server
	// Addresses of its listeners, host:port.
	Plain, TLS, H2C, H2 string
}

// nginxConf fixes the TLS 1.3 cipher suite: OpenSSL and Go would otherwise choose
// different ones.
var nginxConf = template.Must(template.New("").Parse(`
daemon off;
master_process off;
pid {{.Dir}}/nginx.pid;
error_log {{.Dir}}/error.log error;
worker_rlimit_nofile {{.Files}};
events { worker_connections {{.Files}}; }
http {
	access_log off;
	keepalive_requests 1000000000;
	keepalive_timeout 600s;
	client_body_temp_path {{.Dir}}/body;
	proxy_temp_path {{.Dir}}/proxy;
	fastcgi_temp_path {{.Dir}}/fastcgi;
	uwsgi_temp_path {{.Dir}}/uwsgi;
	scgi_temp_path {{.Dir}}/scgi;
	default_type text/plain;
	ssl_certificate {{.Dir}}/cert.pem;
	ssl_certificate_key {{.Dir}}/key.pem;
	ssl_protocols TLSv1.3;
	ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
	server { listen {{.Plain}} backlog=4096; location / { return 200 "ok"; } }
	server { listen {{.TLS}} ssl; location / { return 200 "ok"; } }
	server { listen {{.H2C}} http2; http2_max_concurrent_streams 256; location / { return 200 "ok"; } }
	server { listen {{.H2}} ssl http2; http2_max_concurrent_streams 256; location / { return 200 "ok"; } }
}
`))

// nginxFiles is how many descriptors nginx may use: the memory section opens
// 15,000 connections.
const nginxFiles = 20000

// FindNginx looks in PATH, and where Debian puts it.
func FindNginx() (string, error) {
	for _, name := range []string{"nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("nginx is not installed (hint: REDLINE_SETUP=bench scripts/setup.sh)")
}

// StartNginx starts nginx with its files below dir, and waits until it listens.
func StartNginx(core int, dir string) (*Nginx, error) {
	path, err := FindNginx()
	if err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(4)
	if err != nil {
		return nil, err
	}
	n := &Nginx{Plain: addresses[0], TLS: addresses[1], H2C: addresses[2], H2: addresses[3]}
	if err := writeCertificate(dir); err != nil {
		return nil, fmt.Errorf("certificate for nginx: %w", err)
	}
	var conf bytes.Buffer
	err = nginxConf.Execute(&conf, struct {
		*Nginx
		Dir   string
		Files int
	}{n, dir, nginxFiles})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, conf.Bytes(), 0o600); err != nil {
		return nil, err
	}
	if n.Server, err = process.Start(core, nil, path, "-p", dir, "-c", file); err != nil {
		return nil, err
	}
	for _, address := range addresses {
		if err := awaitListening(n.Server, address); err != nil {
			n.End()
			return nil, err
		}
	}
	return n, nil
}

// awaitListening polls: nginx in the foreground has no other sign of readiness.
func awaitListening(s *process.Server, address string) error {
	deadline := time.After(5 * time.Second)
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.Exited:
			return fmt.Errorf("%s ended at its start%s", s.Cmd.Path, process.LastLine(s.Log.Bytes()))
		case <-deadline:
			return fmt.Errorf("%s does not listen: %w", s.Cmd.Path, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// freeAddresses returns loopback addresses without a listener.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		address, err := port.Reserve("127.0.0.1")
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

// writeCertificate makes cert.pem and key.pem for 127.0.0.1, valid for a day.
func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
