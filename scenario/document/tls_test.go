package document

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/file"
	"github.com/redline-go/redline/scenario/protocol"
)

// testPair makes a certificate and its key, in PEM.
func testPair(t testing.TB) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
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

const secureText = `
tls: {ca: cert.pem, cert: cert.pem, key: key.pem, server_name: gateway.test}
requests: [{get: "https://127.0.0.1:8443/"}]
`

func TestTLS(t *testing.T) {
	p := mustPlan(t, secureText)
	if c := p.TLS; c.CAFile != "cert.pem" || len(c.CA) == 0 || len(c.Cert) == 0 || len(c.Key) == 0 ||
		c.ServerName != "gateway.test" || c.Insecure {
		t.Errorf("%+v", c)
	}
	if text := string(p.Redacted()); strings.Contains(text, "PRIVATE") || strings.Contains(text, "BEGIN") ||
		!strings.Contains(text, `"key":"key.pem"`) {
		t.Errorf("recorded: %s", text)
	}
	big := testFiles(t)
	big["cert.pem"].Data = append(big["cert.pem"].Data, make([]byte, file.MaxPEM)...)
	if _, err := parse(big, "f.yaml", []byte(secureText), wholeEnv); err == nil || !strings.Contains(err.Error(), "is over 1048576 bytes") {
		t.Errorf("a file over the bound: %v", err)
	}
}

func TestTLSFlags(t *testing.T) {
	dir := t.TempDir()
	cert, key := testPair(t)
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flags := scenario.Flags{CACert: file("ca.pem", cert), Cert: file("c.pem", cert), Key: file("k.pem", key), ServerName: "x.test"}
	p, err := scenario.FromURL("https://127.0.0.1/", flags)
	if err != nil || len(p.TLS.Key) == 0 || p.TLS.ServerName != "x.test" || p.Protocol != protocol.HTTP1 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := scenario.FromURL("https://127.0.0.1/", scenario.Flags{Insecure: true, HTTP2: true}); err != nil ||
		!p.TLS.Insecure || p.Protocol != protocol.HTTP2 {
		t.Errorf("%+v, %v", p, err)
	}
	for name, bad := range map[string]scenario.Flags{
		"no file": {CACert: filepath.Join(dir, "no.pem")}, "no PEM": {CACert: file("x", []byte("x"))}, "no key": {Cert: flags.Cert},
		"a folder": {CACert: dir}, "insecure with roots": {CACert: flags.CACert, Insecure: true}, "schema": {DescriptorSet: flags.Cert},
	} {
		if _, err := scenario.FromURL("https://127.0.0.1/", bad); err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "BEGIN PRIVATE") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := scenario.FromURL("http://127.0.0.1/", scenario.Flags{Insecure: true}); err == nil {
		t.Error("insecure without TLS")
	}
}
