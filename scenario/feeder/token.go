package feeder

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5" // the maintained JWT library

	"github.com/redline-go/redline/scenario/mistake"
)

// Bounds of a feeder of tokens. Tokens are signed before the load, on all
// CPUs: on two of them 200,000 of HS256 took 0.8 s; RS256 with 2048 bits takes
// some 0.9 ms of a CPU each.
const (
	maxSlowTokens = 100_000   // of methods with a public key
	maxTokenBytes = 256 << 20 // of all tokens of a feeder
)

// TokenMethods are the algorithms of tokens.
var TokenMethods = []string{"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "EdDSA"}

// Tokens is a scenario's description of its tokens.
type Tokens struct {
	Alg    string // one of TokenMethods
	Key    []byte // the secret of HS..., PEM of the others
	KeyID  string // kid of the header; empty for none
	TTL    time.Duration
	Issued time.Time
}

// PrivateKey parses the key. Its errors quote nothing of it.
func (s *Tokens) PrivateKey() (crypto.PrivateKey, error) {
	switch s.Alg[:2] {
	case "HS":
		return s.Key, nil
	case "RS":
		return jwt.ParseRSAPrivateKeyFromPEM(s.Key)
	case "ES":
		return jwt.ParseECPrivateKeyFromPEM(s.Key)
	}
	return jwt.ParseEdPrivateKeyFromPEM(s.Key)
}

// Claims holds each token's claims, with the feeder whose rows fill its placeholders.
type Claims struct {
	Tables map[string]*Table // the feeders that placeholders may name
	feeder string            // "" when there are no placeholders
	Tree   map[string]any    // by name; texts with placeholders are *Renderer
}

// Read decodes the claims of a JSON object.
func (c *Claims) Read(r io.Reader) error {
	dec := json.NewDecoder(r)
	dec.UseNumber()
	if err := dec.Decode(&c.Tree); err != nil {
		return err
	}
	return compileTexts(c.Tree, c.Tables)
}

// Has reports whether the claims set one themselves.
func (c *Claims) Has(name string) bool {
	_, own := c.Tree[name]
	return own
}

// FindFeeder finds the one feeder that the placeholders of the claims name.
func (c *Claims) FindFeeder(text string, data map[string]*Table) error {
	for _, placeholder := range Placeholder.FindAllString(text, -1) {
		feeder, _, _ := strings.Cut(strings.TrimSpace(placeholder[2:len(placeholder)-2]), ".")
		t := data[feeder]
		switch {
		case t == nil: // checkTemplate reports it better
		case t.Sequence != nil || t.Random != nil:
			return mistake.Newf("use a feeder with rows", "feeder %s produces numbers during the load, but tokens are signed "+
				"before it", feeder)
		case t.Token:
			return mistake.Newf("", "a token cannot hold a token (feeder %s)", feeder)
		case c.feeder != "" && c.feeder != feeder:
			return mistake.Newf("put the columns into one feeder",
				"a token is signed for each row of one feeder, and its claims name %s and %s",
				c.feeder, feeder)
		default:
			c.feeder = feeder
		}
	}
	return nil
}

// compileTexts replaces the texts of a tree that hold placeholders by renderers.
func compileTexts(value any, tables map[string]*Table) (err error) {
	compiled := func(v any) any {
		text, ok := v.(string)
		if !ok || !strings.Contains(text, "{{") {
			err = errors.Join(err, compileTexts(v, tables))
			return v
		}
		r, e := CompileTemplate(Template(text), tables)
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

// Sign makes the feeder: one column, with a token for each row of the claims'
// feeder.
func (s *Tokens) Sign(key crypto.PrivateKey, c Claims) (*Table, error) {
	rows := 1
	if c.feeder != "" {
		rows = len(c.Tables[c.feeder].Rows)
	}
	if rows > maxSlowTokens && s.Alg[:2] != "HS" {
		return nil, mistake.Newf("use HS256, or fewer rows", "%s would sign %d tokens, at most %d are allowed", s.Alg, rows, maxSlowTokens)
	}
	t := &Table{Columns: []string{"value"}, Rows: make([][]string, rows), Token: true, with: c.feeder}
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

// signRows signs the tokens of the rows from first to limit.
func (s *Tokens) signRows(key crypto.PrivateKey, c Claims, to [][]string, first, limit int) error {
	at := NewCursor(c.Tables, "", 0)
	feeder := slices.Index(Names(c.Tables), c.feeder)
	for i := range to {
		if feeder >= 0 {
			at.feeders[feeder].row = first + i
		}
		all := jwt.MapClaims{"iat": s.Issued.Unix(), "exp": s.Issued.Add(s.TTL).Unix()}
		maps.Copy(all, filled(c.Tree, at).(map[string]any))
		token := jwt.NewWithClaims(jwt.GetSigningMethod(s.Alg), all)
		if s.KeyID != "" {
			token.Header["kid"] = s.KeyID
		}
		text, err := token.SignedString(key)
		if err != nil {
			return fmt.Errorf("a token cannot be signed with %s: %w", s.Alg, err)
		}
		if limit -= len(text); limit < 0 {
			return mistake.Newf("use fewer rows or claims", "the tokens take over %d bytes", maxTokenBytes)
		}
		to[i] = []string{text}
	}
	return nil
}
