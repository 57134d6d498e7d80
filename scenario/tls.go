package scenario

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/redline-go/redline/scenario/file"
	"github.com/redline-go/redline/scenario/mistake"
)

// CheckRoots checks that a PEM file holds certificates of authorities.
func CheckRoots(data []byte) error {
	if err := CheckPEM("CERTIFICATE")(data); err != nil {
		return err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return errors.New("the file's certificates cannot be parsed")
	}
	return nil
}

// CheckPEM returns a check for a block whose type ends in want. Its errors quote
// nothing of the file.
func CheckPEM(want string) func([]byte) error {
	return func(data []byte) error {
		for rest := data; ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				return mistake.Newf("it begins with -----BEGIN "+want+"-----", "the file holds no PEM block of a %s", want)
			}
			if bytes.HasSuffix([]byte(block.Type), []byte(want)) {
				return nil
			}
		}
	}
}

// Validate checks a TLS, files included.
func (t *TLS) Validate() error {
	switch {
	case len(t.Cert) > 0 && len(t.Key) == 0:
		return mistake.Conflictf("tls.cert", "add its key", "a client certificate needs its key")
	case len(t.Key) > 0 && len(t.Cert) == 0:
		return mistake.Conflictf("tls.key", "add its cert", "a key needs its certificate")
	case t.Insecure && len(t.CA) > 0:
		return mistake.Conflictf("tls.insecure", "keep one", "insecure does not verify the server, so ca has no effect")
	}
	if len(t.Cert) > 0 {
		if _, err := tls.X509KeyPair(t.Cert, t.Key); err != nil {
			return mistake.Conflictf("tls.key", "", "certificate and key are not a pair: %v", err)
		}
	}
	return nil
}

func (t *TLS) isZero() bool {
	return t.CAFile == "" && t.CertFile == "" && t.KeyFile == "" && t.ServerName == "" && !t.Insecure
}

// DescriptorHint says how a descriptor set is made.
const DescriptorHint = "make it with protoc --include_imports --descriptor_set_out=FILE"

// apply reads the files that flags name.
func (t *TLS) apply(f Flags) error {
	for _, one := range []struct {
		flag, name string
		to         *string
		data       *[]byte
		check      func([]byte) error
	}{
		{"--cacert", f.CACert, &t.CAFile, &t.CA, CheckRoots},
		{"--cert", f.Cert, &t.CertFile, &t.Cert, CheckPEM("CERTIFICATE")},
		{"--key", f.Key, &t.KeyFile, &t.Key, CheckPEM("PRIVATE KEY")},
	} {
		if one.name == "" {
			continue
		}
		data, err := file.ReadFlag(one.flag, one.name, file.MaxPEM)
		if err != nil {
			return err
		}
		if err := one.check(data); err != nil {
			return fmt.Errorf("%s: %s: %w", one.flag, one.name, err)
		}
		*one.to, *one.data = one.name, data
	}
	if f.ServerName != "" {
		t.ServerName = f.ServerName
	}
	t.Insecure = t.Insecure || f.Insecure
	return nil
}
