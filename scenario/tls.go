package scenario

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// tls decodes how to connect to https, grpcs and wss.
func (d *decoder) tls(n ast.Node) {
	t := &d.plan.TLS
	pemFile := func(name string, file *string, data *[]byte, check func([]byte) error) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) {
			*data, *file = d.read(n, name, maxPEM)
			if err := check(*data); *data != nil && err != nil {
				d.failErr(n, name, err)
			}
		}}
	}
	before := len(d.errs)
	seen := d.mapping(n, "tls", []key{
		pemFile("ca", &t.CAFile, &t.CA, checkRoots),
		pemFile("cert", &t.CertFile, &t.Cert, checkPEM("CERTIFICATE")),
		pemFile("key", &t.KeyFile, &t.Key, checkPEM("PRIVATE KEY")),
		{name: "server_name", decode: func(d *decoder, n ast.Node) { scalar(d, n, "server_name", &t.ServerName, notEmpty) }},
		{name: "insecure", decode: func(d *decoder, n ast.Node) { scalar(d, n, "insecure", &t.Insecure, parseBool) }},
	})
	d.remember("tls", seen)
	if len(d.errs) > before {
		return
	}
	if err := t.validate(); err != nil {
		d.conflict(err)
	}
}

// checkRoots checks that a PEM file holds certificates of authorities.
func checkRoots(data []byte) error {
	if err := checkPEM("CERTIFICATE")(data); err != nil {
		return err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return errors.New("the file's certificates cannot be parsed")
	}
	return nil
}

// checkPEM returns a check for a block whose type ends in want. Its errors
// hold nothing of the file.
func checkPEM(want string) func([]byte) error {
	return func(data []byte) error {
		for rest := data; ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				return mistakef("it begins with -----BEGIN "+want+"-----", "the file holds no PEM block of a %s", want)
			}
			if bytes.HasSuffix([]byte(block.Type), []byte(want)) {
				return nil
			}
		}
	}
}

// validate checks a TLS, files included.
func (t *TLS) validate() error {
	switch {
	case len(t.Cert) > 0 && len(t.Key) == 0:
		return conflictf("tls.cert", "add its key", "a client certificate needs its key")
	case len(t.Key) > 0 && len(t.Cert) == 0:
		return conflictf("tls.key", "add its cert", "a key needs its certificate")
	case t.Insecure && len(t.CA) > 0:
		return conflictf("tls.insecure", "keep one", "insecure does not verify the server, so ca has no effect")
	}
	if len(t.Cert) > 0 {
		if _, err := tls.X509KeyPair(t.Cert, t.Key); err != nil {
			return conflictf("tls.key", "", "certificate and key are not a pair: %v", err)
		}
	}
	return nil
}

func (t *TLS) isZero() bool {
	return t.CAFile == "" && t.CertFile == "" && t.KeyFile == "" && t.ServerName == "" && !t.Insecure
}

// grpc decodes where the schema of a gRPC plan comes from.
func (d *decoder) grpc(n ast.Node) {
	g := &d.plan.GRPC
	d.remember("grpc", d.mapping(n, "grpc", []key{
		{name: "descriptor_set", decode: func(d *decoder, n ast.Node) {
			g.Descriptor, g.DescriptorFile = d.read(n, "descriptor_set", maxDescriptor)
			if g.DescriptorFile != "" && len(g.Descriptor) == 0 {
				d.fail(n, descriptorHint, "descriptor_set: the file is empty")
			}
		}},
	}))
}

const descriptorHint = "make it with protoc --include_imports --descriptor_set_out=FILE"

// apply reads the files that flags name.
func (t *TLS) apply(f Flags) error {
	for _, file := range []struct {
		flag, name string
		to         *string
		data       *[]byte
		check      func([]byte) error
	}{
		{"--cacert", f.CACert, &t.CAFile, &t.CA, checkRoots},
		{"--cert", f.Cert, &t.CertFile, &t.Cert, checkPEM("CERTIFICATE")},
		{"--key", f.Key, &t.KeyFile, &t.Key, checkPEM("PRIVATE KEY")},
	} {
		if file.name == "" {
			continue
		}
		data, err := readFlag(file.flag, file.name, maxPEM)
		if err != nil {
			return err
		}
		if err := file.check(data); err != nil {
			return fmt.Errorf("%s: %s: %w", file.flag, file.name, err)
		}
		*file.to, *file.data = file.name, data
	}
	if f.ServerName != "" {
		t.ServerName = f.ServerName
	}
	t.Insecure = t.Insecure || f.Insecure
	return nil
}
