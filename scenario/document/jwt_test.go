package document

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/redline-go/redline/scenario/feeder"
)

const tokenText = `
data:
  access: {jwt: {alg: HS256, key: $TOKEN, kid: k1, claims: {sub: "{{user.id}}", roles: [reader, "of {{user.name}}"], n: 3, iss: lab}, ttl: 2h}}
  user: {file: users.csv}
  one: {jwt: {key: $TOKEN, claims: {sub: all, exp: 4102444800}}}
  other: {rows: [a, b]}
requests: [{get: "http://127.0.0.1:8080/{{user.id}}/{{user.name}}", headers: {Authorization: "Bearer {{access}}", X-One: "{{one}}", X-Other: "{{other}}"}}]
`

func claimsOf(t *testing.T, token, key string) jwt.MapClaims {
	t.Helper()
	c := jwt.MapClaims{}
	parsed, err := jwt.ParseWithClaims(token, c, func(*jwt.Token) (any, error) { return []byte(key), nil },
		jwt.WithValidMethods([]string{"HS256"}))
	if err != nil || !parsed.Valid {
		t.Fatalf("%s: %v", token, err)
	}
	return c
}

// TestTokensBelongToUsers follows a cursor over several rounds: the token is
// always that of the user in the URL, whatever the seed.
func TestTokensBelongToUsers(t *testing.T) {
	p := mustPlan(t, tokenText)
	u, err := feeder.CompileURL(p.Requests[0].URL, p.Data)
	if err != nil {
		t.Fatal(err)
	}
	h, err := feeder.CompileHeader("{{access}}", p.Data)
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]bool{}
	for seed := range uint64(10) {
		c := p.NewCursor(seed)
		for range 5 {
			claims := claimsOf(t, string(h.Append(nil, c)), "hunter2")
			path := fmt.Sprintf("/%s/%s", claims["sub"], strings.TrimPrefix(claims["roles"].([]any)[1].(string), "of "))
			if url := string(u.Append(nil, c)); !strings.HasSuffix(url, path) {
				t.Fatalf("seed %d: %s with claims %v", seed, url, claims)
			}
			users[path] = true
			c.Next()
		}
	}
	if len(users) != 3 {
		t.Errorf("users %v", users)
	}
	first := p.Data["access"].Rows[0][0]
	if claims := claimsOf(t, first, "hunter2"); claims["n"] != 3.0 || claims["iss"] != "lab" ||
		claims["exp"].(float64)-claims["iat"].(float64) != 7200 {
		t.Errorf("claims %v", claims)
	}
	parsed, _, err := jwt.NewParser().ParseUnverified(first, jwt.MapClaims{})
	if err != nil || parsed.Header["kid"] != "k1" {
		t.Errorf("header %v, %v", parsed.Header, err)
	}
	if rows := p.Data["one"].Rows; len(rows) != 1 || claimsOf(t, rows[0][0], "hunter2")["exp"] != 4102444800.0 {
		t.Errorf("%v", rows)
	}
	if text := string(p.Redacted()); strings.Contains(text, "hunter2") || strings.Contains(text, first) || strings.Contains(text, "k1") {
		t.Errorf("recorded: %s", text)
	}
}

func TestTokenMethods(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	files := testFiles(t)
	files["rsa.pem"] = files["key.pem"]
	fresh := *files["key.pem"]
	fresh.Data = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	files["rsa.pem"] = &fresh
	text := func(alg, key string) string {
		return fmt.Sprintf("data: {user: {file: users.csv}, t: {jwt: {alg: %s, key_file: %s, issued_at: "+
			"2026-01-01T00:00:00Z, claims: {sub: '{{user.id}}'}}}}\nrequests: [{get: 'http://h/'}]", alg, key)
	}
	p, err := parse(files, "f.yaml", []byte(text("RS256", "rsa.pem")), wholeEnv)
	if err != nil {
		t.Fatal(err)
	}
	at := jwt.WithTimeFunc(func() time.Time { return time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC) })
	for i, row := range p.Data["t"].Rows {
		token, err := jwt.Parse(row[0], func(*jwt.Token) (any, error) { return &private.PublicKey, nil },
			jwt.WithValidMethods([]string{"RS256"}), at)
		if err != nil || token.Claims.(jwt.MapClaims)["sub"] != fmt.Sprint(i+1) {
			t.Errorf("row %d: %v, %v", i, token, err)
		}
	}
	p, err = parse(files, "f.yaml", []byte(text("ES256", "key.pem")), wholeEnv)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(files["key.pem"].Data)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jwt.Parse(p.Data["t"].Rows[2][0], func(*jwt.Token) (any,
		error) {
		return &key.(*ecdsa.PrivateKey).PublicKey, nil
	}, at); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{text("RS256", "key.pem"), text("EdDSA", "rsa.pem"), text("ES256", "cert.pem")} {
		if _, err := parse(files, "f.yaml", []byte(bad), wholeEnv); err == nil || !strings.Contains(err.Error(), "the key is not one of") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestTokenErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{jwt: {claims: {sub: x}}}":                              "the jwt has no key",
		"{jwt: {key: x, key_file: key.pem}}":                     "exclude each other",
		"{jwt: {key: $NO_SUCH}}":                                 "is not set in the environment",
		"{jwt: {key: ''}}":                                       "the key is empty",
		"{jwt: {alg: none, key: x}}":                             "is not known here",
		"{jwt: {key: x, claims: {sub: '{{usr.id}}'}}}":           `did you mean "user"?`,
		"{jwt: {key: x, claims: {sub: '{{user.uid}}'}}}":         `has no column "uid"`,
		"{jwt: {key: x, claims: {sub: '{{n}}'}}}":                "produces numbers during the load",
		"{jwt: {key: x, claims: {sub: '{{user.id}}{{other}}'}}}": "for each row of one feeder",
		"{jwt: {key: x, claims: {sub: '{{a}}'}}}":                "cannot hold a token",
		"{jwt: {key: x, claims: [sub]}}":                         "claims is a list",
		"{jwt: {key: x, claims: {sub: '{{user'}}}":               "has no closing",
		"{jwt: {key: x, ttl: 5}}":                                "has no unit",
		"{jwt: {key: x, issued_at: now}}":                        "is not a time",
		"{jwt: {key: x, claims: {sub: &a b}}}":                   "anchors, aliases and tags are not supported",
		"{jwt: {key: x}, rows: [1]}":                             "more than one source",
	} {
		_, err := plan(t, "data: {a: {jwt: {key: x}}, b: "+text+", user: {file: users.csv}, n: {sequence: {from: 1, to: 2}}, other: [1]}")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.yaml:1:") {
			t.Errorf("%s: %v", text, err)
		}
	}
	// The mistake of the feeder that claims name is the only one.
	_, err := plan(t, "data: {user: {file: no.csv}, t: {jwt: {key: x, claims: {sub: '{{user.id}}'}}}}")
	if err == nil || strings.Count(err.Error(), "f.yaml:") != 1 {
		t.Errorf("%v", err)
	}
	// A count ends the load before any token does.
	if _, err := plan(t, "load: {requests: 5}\ndata: {t: {jwt: {key: x}}}"); err != nil {
		t.Error(err)
	}
}
