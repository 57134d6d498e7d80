package scenario

import (
	"bytes"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/golang-jwt/jwt/v5" // the maintained JWT library
)

// Bounds of a feeder of tokens. Tokens are signed before the load, on all
// CPUs: on two of them 200,000 of HS256 took 0.8 s; RS256 with 2048 bits takes
// some 0.9 ms of a CPU each.
const (
	maxSlowTokens = 100_000   // of methods with a public key
	maxTokenBytes = 256 << 20 // of all tokens of a feeder
	defaultTTL    = time.Hour
)

// jwtMethods are the algorithms of tokens.
var jwtMethods = []string{"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "EdDSA"}

// tokenSource is a scenario's description of its tokens.
type tokenSource struct {
	alg    string
	key    []byte
	kid    string
	claims ast.Node
	ttl    time.Duration
	issued time.Time
}

// token decodes a feeder of signed tokens: one for each row of the feeder that
// the claims hold placeholders of, or a single one.
func (d *decoder) token(n ast.Node, name string) *Table {
	s := tokenSource{alg: "HS256", ttl: defaultTTL, issued: time.Now()}
	before := len(d.errs)
	var keyAt ast.Node
	seen := d.mapping(n, "jwt", []key{
		{name: "alg", decode: func(d *decoder, n ast.Node) { scalar(d, n, "alg", &s.alg, oneOf(jwtMethods...)) }},
		{name: "key", decode: func(d *decoder, n ast.Node) {
			text, _, _ := d.expanded(n, "key")
			s.key, keyAt = []byte(text), n
		}},
		{name: "key_file", decode: func(d *decoder, n ast.Node) {
			data, _ := d.read(n, "key_file", maxPEM)
			s.key, keyAt = bytes.TrimRight(data, "\r\n"), n
		}},
		{name: "kid", decode: func(d *decoder, n ast.Node) { scalar(d, n, "kid", &s.kid, notEmpty) }},
		{name: "claims", decode: func(_ *decoder, n ast.Node) { s.claims = n }},
		{name: "ttl", decode: func(d *decoder, n ast.Node) { scalar(d, n, "ttl", &s.ttl, positiveDuration) }},
		{name: "issued_at", decode: func(d *decoder, n ast.Node) { scalar(d, n, "issued_at", &s.issued, parseInstant) }},
	})
	switch {
	case len(d.errs) > before:
		return nil
	case seen["key"] != nil && seen["key_file"] != nil:
		d.fail(seen["key_file"], "keep one", "key and key_file exclude each other")
	case keyAt == nil:
		d.fail(n, "add key: $JWT_KEY, or key_file: key.pem", "the jwt has no key")
	case len(s.key) == 0:
		d.fail(keyAt, "", "the key is empty")
	}
	d.plan.secrets = append(d.plan.secrets, string(s.key))
	if len(d.errs) > before {
		return nil
	}
	private, err := s.privateKey()
	if err != nil {
		d.fail(keyAt, "", "the key is not one of %s: %v", s.alg, err)
		return nil
	}
	c, ok := d.claims(s.claims, name)
	if !ok {
		return nil
	}
	t, err := s.sign(private, c)
	if err != nil {
		d.fail(n, "", "jwt: %v", err)
		return nil
	}
	if _, own := c.tree["exp"]; !own && seen["issued_at"] == nil {
		t.ttl = s.ttl
	}
	return t
}

// tokenOrder sorts feeders of tokens behind those that they refer to.
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
		return t, mistakef("write it as 2026-01-31T08:00:00Z", "%.40q is not a time", text)
	}
	return t, nil
}

// privateKey parses the key. Its errors hold nothing of it.
func (s *tokenSource) privateKey() (crypto.PrivateKey, error) {
	switch s.alg[:2] {
	case "HS":
		return s.key, nil
	case "RS":
		return jwt.ParseRSAPrivateKeyFromPEM(s.key)
	case "ES":
		return jwt.ParseECPrivateKeyFromPEM(s.key)
	}
	return jwt.ParseEdPrivateKeyFromPEM(s.key)
}

// claims holds each token's claims, with the feeder whose rows fill its placeholders.
type claims struct {
	plan   *Plan  // the feeders that placeholders may name
	feeder string // "" when there are no placeholders
	tree   map[string]any
}

// claims decodes the claims of a feeder of tokens. The texts in the tree that
// hold placeholders are *Renderer.
func (d *decoder) claims(n ast.Node, name string) (claims, bool) {
	c := claims{plan: &Plan{Data: map[string]*Table{}}, tree: map[string]any{}}
	for other, t := range d.plan.Data {
		if t == nil {
			return c, false // its mistake is noted
		}
		if len(t.Rows) > 0 && !t.token {
			c.plan.Data[other] = t
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
	if err := c.findFeeder(b.String(), d.plan.Data); err != nil {
		d.failErr(n, "claims of "+name, err)
		return c, false
	}
	before := len(d.errs)
	d.checkTemplate(n, Template(b.String()), CompileTemplate)
	if len(d.errs) > before {
		return c, false
	}
	dec := json.NewDecoder(&b)
	dec.UseNumber()
	if err := dec.Decode(&c.tree); err != nil {
		d.fail(n, "", "claims: %v", err)
		return c, false
	}
	if err := compileTexts(c.tree, c.plan); err != nil {
		d.fail(n, "", "claims: %v", err)
		return c, false
	}
	return c, true
}

// findFeeder finds the one feeder that the placeholders of the claims name.
func (c *claims) findFeeder(text string, data map[string]*Table) error {
	for _, placeholder := range placeholderForm.FindAllString(text, -1) {
		feeder, _, _ := strings.Cut(strings.TrimSpace(placeholder[2:len(placeholder)-2]), ".")
		t := data[feeder]
		switch {
		case t == nil: // checkTemplate reports it better
		case t.Sequence != nil || t.Random != nil:
			return mistakef("use a feeder with rows", "feeder %s gives numbers during the load, and tokens are signed before", feeder)
		case t.token:
			return mistakef("", "a token cannot hold a token (feeder %s)", feeder)
		case c.feeder != "" && c.feeder != feeder:
			return mistakef("put the columns into one feeder", "a token is signed for each row of one feeder, and its claims name %s and %s", c.feeder, feeder)
		default:
			c.feeder = feeder
		}
	}
	return nil
}

// compileTexts replaces the texts of a tree that hold placeholders by renderers.
func compileTexts(value any, p *Plan) (err error) {
	compiled := func(v any) any {
		text, ok := v.(string)
		if !ok || !strings.Contains(text, "{{") {
			err = errors.Join(err, compileTexts(v, p))
			return v
		}
		r, e := CompileTemplate(Template(text), p)
		err = errors.Join(err, e)
		return r
	}
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = compiled(v[name])
		}
	case []any:
		for i := range v {
			v[i] = compiled(v[i])
		}
	}
	return err
}

// filled returns a value with its renderers replaced by the texts of a row.
func filled(value any, at *Cursor) any {
	switch v := value.(type) {
	case *Renderer:
		return string(v.Append(nil, at))
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, one := range v {
			m[name] = filled(one, at)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, one := range v {
			l[i] = filled(one, at)
		}
		return l
	}
	return value
}

// sign makes the feeder: one column, with a token for each row of the claims'
// feeder.
func (s *tokenSource) sign(key crypto.PrivateKey, c claims) (*Table, error) {
	rows := 1
	if c.feeder != "" {
		rows = len(c.plan.Data[c.feeder].Rows)
	}
	if rows > maxSlowTokens && s.alg[:2] != "HS" {
		return nil, mistakef("use HS256, or fewer rows", "%s would sign %d tokens, at most %d are allowed", s.alg, rows, maxSlowTokens)
	}
	t := &Table{Columns: []string{"value"}, Rows: make([][]string, rows), token: true, with: c.feeder}
	workers := min(runtime.GOMAXPROCS(0), rows)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		from, to := rows*w/workers, rows*(w+1)/workers
		wg.Go(func() { errs[w] = s.signRows(key, c, t.Rows[from:to], from, maxTokenBytes/workers) })
	}
	wg.Wait()
	return t, errors.Join(errs...)
}

// signRows signs the tokens of the rows from first on.
func (s *tokenSource) signRows(key crypto.PrivateKey, c claims, to [][]string, first, limit int) error {
	at := NewCursor(c.plan, 0)
	feeder := slices.Index(feederNames(c.plan), c.feeder)
	for i := range to {
		if feeder >= 0 {
			at.feeders[feeder].row = first + i
		}
		all := jwt.MapClaims{"iat": s.issued.Unix(), "exp": s.issued.Add(s.ttl).Unix()}
		maps.Copy(all, filled(c.tree, at).(map[string]any))
		token := jwt.NewWithClaims(jwt.GetSigningMethod(s.alg), all)
		if s.kid != "" {
			token.Header["kid"] = s.kid
		}
		text, err := token.SignedString(key)
		if err != nil {
			return fmt.Errorf("a token cannot be signed with %s: %w", s.alg, err)
		}
		if limit -= len(text); limit < 0 {
			return mistakef("use fewer rows or claims", "the tokens take over %d bytes", maxTokenBytes)
		}
		to[i] = []string{text}
	}
	return nil
}
