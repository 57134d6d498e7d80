package redact

import (
	"reflect"
	"strings"
	"testing"
)

// TestText has each rule by name and form, and next to it what the rule must
// leave alone.
func TestText(t *testing.T) {
	tests := map[string]string{
		// URLs and DSNs.
		"postgres://u:p@ss@h/db":                        "postgres://u:[redacted]@h/db",
		`postgres://u:p"w'd@h/db`:                       "postgres://u:[redacted]@h/db",
		"redis://:pa/ss@h:6379/0":                       "redis://:[redacted]@h:6379/0",
		"http://127.0.0.1:8080/a?mail=x@example.org":    "http://127.0.0.1:8080/a?mail=x@example.org",
		`["http://a:8080","x@y"]`:                       `["http://a:8080","x@y"]`,
		"https://ghp_0123456789abcdefABCD@github.com/x": "https://[redacted]@github.com/x",
		"http://h/?a=1&access_token=x&b=2":              "http://h/?a=1&access_token=[redacted]&b=2",
		"http://h/cb?uid=42&code=abcdef&state=s":        "http://h/cb?uid=42&code=[redacted]&state=s",
		"?pin=4711&sig=abc&jwt=x&session=s1&pwd=y":      "?pin=[redacted]&sig=[redacted]&jwt=[redacted]&session=[redacted]&pwd=[redacted]",
		"host=h password='a b\\'c' user=u":              "host=h password='[redacted]' user=u",
		"host=h password=ab\"cd user=u":                 "host=h password=[redacted] user=u",
		"token={{users.token}}&key={{k}}":               "token={{users.token}}&key={{k}}",
		"a=1&next=%2Fcb%3Ftoken%3Dabc123%26x%3D1":       "a=1&next=%2Fcb%3Ftoken%3D[redacted]%26x%3D1",

		// Flags and variables.
		"API_KEY=abc":                          "API_KEY=[redacted]",
		"svc --api-key abc --port 80":          "svc --api-key [redacted] --port 80",
		"tool -p hunter2 -v":                   "tool -p [redacted] -v",
		"svc -p 8080 -p /var/lib":              "svc -p 8080 -p /var/lib",
		"PASSWORD_FILE=/run/secrets/pw MODE=x": "PASSWORD_FILE=/run/secrets/pw MODE=x",

		// JSON, whole and cut, plain and in a string.
		`{"user": "u", "Password" : "a\"b"}`:              `{"user": "u", "Password" : "[redacted]"}`,
		`{"pin": 4711, "n": 5}`:                           `{"pin": "[redacted]", "n": 5}`,
		`{"tokens": ["a","b"], "n": 5}`:                   `{"tokens": "[redacted]", "n": 5}`,
		`{"credentials": {"a": {"b": "c"}}, "n": 5}`:      `{"credentials": "[redacted]", "n": 5}`,
		`{"password": "hun`:                               `{"password": "[redacted]`,
		`{"body":"{\"password\":\"hunter2\",\"n\":1}"}`:   `{"body":"{\"password\":\"[redacted]\",\"n\":1}"}`,
		`{'passphrase': 'correct horse'}`:                 `{'passphrase': '[redacted]'}`,
		`{"code": 404, "status_code": 500}`:               `{"code": 404, "status_code": 500}`,
		`{"code": "NOT_FOUND"} {"code":"23505"}`:          `{"code": "NOT_FOUND"} {"code":"23505"}`,
		`{"code": "4/0AX4XfWj"}`:                          `{"code": "[redacted]"}`,
		`{"author": "x", "pinned": true, "sessions": 5}`:  `{"author": "x", "pinned": true, "sessions": 5}`,
		`{"max_tokens_count": 5, "token_type": "bearer"}`: `{"max_tokens_count": 5, "token_type": "bearer"}`,

		// Headers and YAML.
		"Authorization: Bearer abc.def":                        "Authorization: [redacted]",
		"Cookie: a=b; c=d\nHost: h":                            "Cookie: [redacted]\nHost: h",
		"X-Auth-User: bob\nX-Session-Tag: 1":                   "X-Auth-User: [redacted]\nX-Session-Tag: [redacted]",
		"db:\n  password: two words\n  n: 5":                   "db:\n  password: [redacted]\n  n: 5",
		"  - pin: 4711":                                        "  - pin: [redacted]",
		"login failed, password: hunter2 x":                    "login failed, password: [redacted] x",
		"invalid token: unexpected end":                        "invalid token: unexpected end",
		"exit code: 2, session: closed":                        "exit code: 2, session: closed",
		"FATAL: password authentication failed for user \"u\"": "FATAL: password authentication failed for user \"u\"",

		// Forms.
		"got Bearer abcdef123456 and basic authentication": "got Bearer [redacted] and basic authentication",
		"Basic dXNlcjpwYXNz":                                                     "Basic [redacted]",
		"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_ y":                         "x [redacted] y",
		"AKIAIOSFODNN7EXAMPLE":                                                   "[redacted]",
		"xoxb-123456789012-abc glpat-abcdefghijklmnopqrst":                       "[redacted] [redacted]",
		"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx": "[redacted]\nx",
		"-----BEGIN PRIVATE KEY-----\nabc":                                       "[redacted]",
		"-----BEGIN CERTIFICATE-----\nabc":                                       "-----BEGIN CERTIFICATE-----\nabc",

		// What reports are made of.
		"SELECT a FROM t WHERE token = $1 AND t.session = s.id":      "SELECT a FROM t WHERE token = $1 AND t.session = s.id",
		"main.(*Store).Get at store.go:47, p99 12.5 ms, status 401":  "main.(*Store).Get at store.go:47, p99 12.5 ms, status 401",
		"/sync/mutex/wait/total:seconds service=auth,q=p99":          "/sync/mutex/wait/total:seconds service=auth,q=p99",
		"8f14e45fceea167a5a36dedd4bea2543 go1.26.0 linux/amd64 v1.2": "8f14e45fceea167a5a36dedd4bea2543 go1.26.0 linux/amd64 v1.2",
	}
	for in, want := range tests {
		got := Text(in)
		if got != want {
			t.Errorf("Text(%q)\n got %q\nwant %q", in, got, want)
		}
		if again := Text(got); again != got {
			t.Errorf("Text(%q) = %q, and then %q", in, got, again)
		}
	}
}

func TestArgs(t *testing.T) {
	tests := map[string]string{
		"svc --secret s -v --token -x":     "svc --secret [redacted] -v --token -x",
		"svc -p 8080 --pin 4711":           "svc -p 8080 --pin [redacted]",
		"mysql -phunter2 -u root":          "mysql -p[redacted] -u root",
		"svc -path x -p hunter2":           "svc -path x -p [redacted]",
		"curl -u bob:hunter2 http://h/":    "curl -u bob:[redacted] http://h/",
		"svc --passphrase=x --auth-url=u":  "svc --passphrase=[redacted] --auth-url=u",
		"svc -e DB_PASSWORD=x --code-path": "svc -e DB_PASSWORD=[redacted] --code-path",
	}
	for in, want := range tests {
		if got := (*Redactor)(nil).Args(strings.Fields(in)); !reflect.DeepEqual(got, strings.Fields(want)) {
			t.Errorf("Args(%q) = %q, want %q", in, got, want)
		}
	}
	if (*Redactor)(nil).Args(nil) != nil {
		t.Error("no command became one")
	}
}

func TestSecret(t *testing.T) {
	r := New("X-Mine")
	for _, name := range strings.Fields("Authorization Cookie X-Api-Key X-Auth-User X-Session-Tag X-Jwt-Assertion " +
		"Authentication Proxy-Authorization x-mine sessionId DB_PASSWORD pin") {
		if !r.Secret(name) {
			t.Errorf("%s is no secret", name)
		}
	}
	for _, name := range strings.Fields("Accept Content-Type X-Request-Id Host Author X-Pinned Traceparent Idempotency-Key Www-Code uid") {
		if r.Secret(name) {
			t.Errorf("%s is a secret", name)
		}
	}
}
