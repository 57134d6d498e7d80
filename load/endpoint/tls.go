package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/redline-go/redline/scenario"
)

// sessions is how many hosts' sessions a configuration keeps for resumption. An
// endpoint is one host.
const sessions = 1

// ClientTLS makes the TLS of connections to host. The zero scenario.TLS checks
// the server against the system's roots.
//
// TLS 1.0 and 1.1 are refused, as RFC 8996 requires.
func ClientTLS(host string, p *scenario.Plan) (*tls.Config, error) {
	from := p.TLS
	c := &tls.Config{
		ServerName:         host,
		InsecureSkipVerify: from.Insecure,
		MinVersion:         tls.VersionTLS12,
		// Clients resume. Without a cache each new connection would cost the target a full
		// handshake.
		ClientSessionCache: tls.NewLRUClientSessionCache(sessions),
	}
	if from.ServerName != "" {
		c.ServerName = from.ServerName
	}
	if len(from.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(from.CA) {
			return nil, fmt.Errorf("%s contains no PEM certificate", named(from.CAFile, "tls.ca"))
		}
	}
	switch hasCert, hasKey := len(from.Cert) > 0, len(from.Key) > 0; {
	case hasCert != hasKey:
		return nil, errors.New("a client certificate needs both tls.cert and tls.key")
	case hasCert:
		pair, err := tls.X509KeyPair(from.Cert, from.Key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s make no client certificate: %w",
				named(from.CertFile, "tls.cert"), named(from.KeyFile, "tls.key"), err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// named is a file's name, or the plan's key for it when it has none.
func named(file, key string) string {
	if file == "" {
		return key
	}
	return file
}
