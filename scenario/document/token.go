package document

import (
	"bytes"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/file"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/scalar"
)

// defaultTTL is how long tokens live unless the scenario says so.
const defaultTTL = time.Hour

// token decodes a feeder of signed tokens: one for each row of the feeder that
// placeholders in the claims name, or a single one.
func (d *decoder) token(n ast.Node, name string) *feeder.Table {
	s := feeder.Tokens{Alg: "HS256", TTL: defaultTTL, Issued: time.Now()}
	before := len(d.errs)
	var keyAt, claimsAt ast.Node
	seen := d.mapping(n, "jwt", []key{
		{name: "alg", decode: func(d *decoder, n ast.Node) { parsed(d, n, "alg", &s.Alg, scalar.OneOf(feeder.TokenMethods...)) }},
		{name: "key", decode: func(d *decoder, n ast.Node) {
			text, _, _ := d.expanded(n, "key")
			s.Key, keyAt = []byte(text), n
		}},
		{name: "key_file", decode: func(d *decoder, n ast.Node) {
			data, _ := d.read(n, "key_file", file.MaxPEM)
			s.Key, keyAt = bytes.TrimRight(data, "\r\n"), n
		}},
		{name: "kid", decode: func(d *decoder, n ast.Node) { parsed(d, n, "kid", &s.KeyID, scalar.ParseText) }},
		{name: "claims", decode: func(_ *decoder, n ast.Node) { claimsAt = n }},
		{name: "ttl", decode: func(d *decoder, n ast.Node) { parsed(d, n, "ttl", &s.TTL, scalar.ParsePositive) }},
		{name: "issued_at", decode: func(d *decoder, n ast.Node) { parsed(d, n, "issued_at", &s.Issued, parseInstant) }},
	})
	switch {
	case len(d.errs) > before:
		return nil
	case seen["key"] != nil && seen["key_file"] != nil:
		d.fail(seen["key_file"], "keep one", "key and key_file exclude each other")
	case keyAt == nil:
		d.fail(n, "add key: $JWT_KEY, or key_file: key.pem", "the jwt has no key")
	case len(s.Key) == 0:
		d.fail(keyAt, "", "the key is empty")
	}
	d.plan.Hide(string(s.Key))
	if len(d.errs) > before {
		return nil
	}
	private, err := s.PrivateKey()
	if err != nil {
		d.fail(keyAt, "", "the key is not one of %s: %v", s.Alg, err)
		return nil
	}
	c, ok := d.claims(claimsAt, name)
	if !ok {
		return nil
	}
	t, err := s.Sign(private, c)
	if err != nil {
		d.fail(n, "", "jwt: %v", err)
		return nil
	}
	if !c.Has("exp") && seen["issued_at"] == nil {
		t.TTL = s.TTL
	}
	return t
}

// tokenOrder sorts feeders of tokens after those that they refer to.
func tokenOrder(entry *ast.MappingValueNode) int {
	var values []*ast.MappingValueNode
	switch n := entry.Value.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	for _, v := range values {
		if k, ok := v.Key.(*ast.StringNode); ok && k.Value == "jwt" {
			return 1
		}
	}
	return 0
}

func parseInstant(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, mistake.Newf("write it as 2026-01-31T08:00:00Z", "%.40q is not a time", text)
	}
	return t, nil
}

// claims decodes the claims of a feeder of tokens. The texts in the tree that
// hold placeholders are *Renderer.
func (d *decoder) claims(n ast.Node, name string) (feeder.Claims, bool) {
	c := feeder.Claims{Tables: map[string]*feeder.Table{}, Tree: map[string]any{}}
	for other, t := range d.plan.Data {
		if t == nil {
			return c, false // its mistake is noted
		}
		if len(t.Rows) > 0 && !t.Token {
			c.Tables[other] = t
		}
	}
	switch n.(type) {
	case nil, *ast.NullNode:
		return c, true
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		d.unfit(n, "claims", "keys with values", "")
		return c, false
	}
	var b bytes.Buffer
	if err := d.writeJSON(&b, n); err != nil {
		return c, false
	}
	if err := c.FindFeeder(b.String(), d.plan.Data); err != nil {
		d.failErr(n, "claims of "+name, err)
		return c, false
	}
	before := len(d.errs)
	d.checkTemplate(n, feeder.Template(b.String()), feeder.CompileTemplate)
	if len(d.errs) > before {
		return c, false
	}
	if err := c.Read(&b); err != nil {
		d.fail(n, "", "claims: %v", err)
		return c, false
	}
	return c, true
}
