package loadtest

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
	"testing"
	"time"
)

// Certificate names the defect of a server's certificate.
type Certificate int

// Certificates of ServeTLS.
const (
	Valid      Certificate = iota // for 127.0.0.1, by the authority that is returned
	SelfSigned                    // by itself
	Expired                       // an hour ago
	WrongName                     // for another host
)

// ServeTLS is Serve over TLS. It returns the certificate of the authority to
// trust, in PEM. The protocols are those that the server offers by ALPN, none if
// there are none.
func ServeTLS(t testing.TB, kind Certificate, b Behaviour, protocols ...string) (address string, authority []byte) {
	t.Helper()
	root, rootKey := certificate(t, nil, nil, kind)
	pair := tls.Certificate{Certificate: [][]byte{root.Raw}, PrivateKey: rootKey}
	if kind == SelfSigned {
		root, _ = certificate(t, nil, nil, kind) // one that it is not by
	} else {
		leaf, key := certificate(t, root, rootKey, kind)
		pair = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: protocols}
	address = serve(t, b, func(c net.Conn) net.Conn { return tls.Server(c, config) })
	return address, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw})
}

// certificate makes a server's certificate, or one that is its own authority
// when there is none.
func certificate(t testing.TB, by *x509.Certificate, byKey *ecdsa.PrivateKey, kind Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redline's tests"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if by == nil {
		about.IsCA, about.BasicConstraintsValid = true, true
		about.KeyUsage |= x509.KeyUsageCertSign
		by, byKey = about, key
	} else {
		about.SerialNumber = big.NewInt(2)
		switch kind {
		case Expired:
			about.NotAfter = time.Now().Add(-time.Hour)
		case WrongName:
			about.IPAddresses, about.DNSNames = nil, []string{"elsewhere.test"}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, about, by, &key.PublicKey, byKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}
