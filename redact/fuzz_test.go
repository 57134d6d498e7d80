package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// planted is a value that no random text holds by chance.
const planted = "Zq7xW-planted_8Kd3vTn2"

// forms are texts that hold the planted value where a rule finds it, at least
// one per rule.
var forms = []string{
	"password=" + planted, "?token=" + planted + "&a=1", `"secret": "` + planted + `"`, `"pin":["a","` + planted + `"]`,
	`"credentials":{"x":{"y":"` + planted + `"}}`, "\npassword: " + planted + "\n", "Authorization: Bearer " + planted,
	"Bearer " + planted, "postgres://u:" + planted + "@h/db", "http://u:a\"b@c" + planted + "@h/", " --api-key " + planted,
	" -p " + planted, "eyJhbGciOiJIUzI1NiJ9." + planted + "." + planted, "ghp_0123456789abcdefghij" +
		strings.ReplaceAll(strings.ReplaceAll(planted, "-", ""), "_", ""),
	"-----BEGIN PRIVATE KEY-----\n" + planted + "\n-----END PRIVATE KEY-----", `{\"passphrase\":\"` + planted + `\"}`,
	"X-Auth-User: " + planted, "password='a " + planted + "'", "code=" + planted, "jwt=" + planted,
}

// FuzzForms: whatever stands around a secret, as long as it is apart from it, the
// secret is hidden, what is hidden stays, and nothing panics or takes long.
func FuzzForms(f *testing.F) {
	for i := range forms {
		f.Add("before ", " after", uint8(i))
	}
	f.Add("://a:b", "@", uint8(0))
	f.Add(`{"a":"`, `"}`, uint8(3))
	f.Add(`'`, `"`, uint8(9))
	f.Fuzz(func(t *testing.T, before, after string, which uint8) {
		if strings.Contains(before+after, planted) {
			t.Skip("the text holds the value by itself")
		}
		text := before + "\n" + forms[int(which)%len(forms)] + "\n" + after
		clean := Text(text)
		if strings.Contains(clean, planted) {
			t.Errorf("Text(%q) = %q", text, clean)
		}
		stable(t, text, clean, Text)
	})
}

// FuzzValues: a learnt value is hidden in any text, also encoded.
func FuzzValues(f *testing.F) {
	for i := range uint8(8) {
		f.Add("GET /a?x=", " HTTP/1.1", "hunter2-horse", i)
	}
	f.Add("", "", "a=b,c d\"e/f", uint8(2))
	f.Fuzz(func(t *testing.T, before, after, secret string, how uint8) {
		secret = strings.TrimSpace(secret)
		if len(secret) <= loneUntil || !learnable(secret) || strings.Contains(before+after, secret) || strings.ContainsAny(secret, "\r\n") {
			t.Skip("not a value that is learnt")
		}
		r := New()
		r.Learn(secret)
		form := secret
		switch quoted, _ := json.Marshal(secret); how % 6 {
		case 1:
			form = url.QueryEscape(secret)
		case 2:
			form = string(quoted[1 : len(quoted)-1])
		case 3:
			form = base64.StdEncoding.EncodeToString([]byte(secret))
		case 4:
			form = strings.TrimRight(base64.URLEncoding.EncodeToString([]byte("user:"+secret)), "=")
		case 5:
			form = url.PathEscape(secret)
		}
		text := before + form + after
		clean := r.Sweep(text)
		if how%6 != 4 && strings.Contains(clean, form) || how%6 == 4 && len(secret) > 12 && strings.Contains(clean, form) {
			t.Errorf("Sweep(%q) = %q with %q learnt", text, clean, secret)
		}
		stable(t, text, r.Text(text), r.Text)
		data := []byte(text)
		if r.Values(data); len(data) != len(text) || how%6 == 0 && strings.Contains(string(data), secret) {
			t.Errorf("Values(%q) = %q", text, data)
		}
	})
}

// FuzzLines: however a program's output is cut into pieces, the lines are those
// of the whole without secrets.
func FuzzLines(f *testing.F) {
	f.Add("a\npassword=hunter2\nb", uint8(3))
	f.Add("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nrest", uint8(7))
	f.Fuzz(func(t *testing.T, text string, piece uint8) {
		give := func(step int) string {
			var b strings.Builder
			l := (*Redactor)(nil).Writer(&b)
			for rest := text; rest != ""; {
				n := min(step, len(rest))
				l.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			l.Flush()
			return b.String()
		}
		if whole, pieces := give(len(text)+1), give(int(piece%16)+1); whole != pieces {
			t.Errorf("%q in pieces of %d became %q, whole %q", text, piece%16+1, pieces, whole)
		}
	})
}

// FuzzDocument: what was JSON stays JSON with the same keys and figures.
func FuzzDocument(f *testing.F) {
	f.Add(`{"a": "password=x", "b": [1, 2.50, "Bearer abcdef123456"], "c": {"eyJhbGciOiJIUzI1NiJ9": null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		clean := (*Redactor)(nil).Document([]byte(text))
		if json.Valid([]byte(text)) && !json.Valid(clean) {
			t.Errorf("%q became %q", text, clean)
		}
	})
}

func stable(t *testing.T, text, clean string, hide func(string) string) {
	t.Helper()
	if again := hide(clean); again != clean {
		t.Errorf("%q became %q, and then %q", text, clean, again)
	}
}

// TestLinear looks for texts on which a rule looks again and again at the rest.
// One that is quadratic takes minutes of CPU; the others take milliseconds.
func TestLinear(t *testing.T) {
	r := New()
	r.Learn("aaaaaaaaaaaaaaaaaaab")
	for _, unit := range []string{"://a:", "password=", `"pin":"`, "code=1&", "a", `\`, "{", "pin: x ", "eyJ", "-p ",
		"-----BEGIN PRIVATE KEY-----", "Bearer ", `'`, "token: ", "%3D", "/*", "$$"} {
		text := strings.Repeat(unit, (1<<17)/len(unit))
		before := used(t)
		r.Text(text)
		SQL(text)
		took := used(t) - before
		if took > 30*time.Second {
			t.Errorf("%d bytes of %q took %v", len(text), unit, took)
		}
		t.Logf("%q: %v", unit, took.Round(time.Millisecond))
	}
}

// used is the CPU time of this process so far: a busy host takes none of it.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
