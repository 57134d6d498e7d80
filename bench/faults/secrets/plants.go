package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// carriers are the places where a user could have a secret; each gets its own. The
// service shows those of its half of the list, see testdata/service.go.txt.
var carriers = []string{
	// What a scenario and the command line say.
	"url userinfo", "query token", "query code", "query sig", "header authorization", "header x-auth",
	"header x-session", "header x-jwt-assertion",
	"header authentication", "header redacted", "header from env", "cookie", "body json", "body json array",
	"body yaml", "body form", "request name",
	"check equals", "check header", "ready url", "jwt key", "feeder column", "feeder token", "tls key",
	"otlp token", "replay path", "replay query",
	"exec -p", "exec flag", "exec flag=", "exec url", "exec env", "sh -c", "args after --", "wrong scenario", "wrong url", "wrong dsn",
	"env given", "env inherited", "env inherited short", "env dsn", "dsn url", "dsn keywords", "history dsn", "export url", "env-a",
	// What the service shows.
	"redirect location", "set-cookie", "error body", "answer body", "pprof label by name", "pprof label by form", "pprof label by value",
	"trace task", "trace log", "trace log by value", "trace region", "stderr pair", "stderr keyword dsn",
	"stderr nested json", "stderr json in json",
	"stderr header", "stderr query", "stderr jwt", "stderr aws key", "stderr slack", "stderr yaml",
	"stderr private key", "stderr url", "stderr flag",
	"stderr cut line", "stderr cut url", "span service", "span name", "span status", "span attribute",
	"span error type", "span attribute by value",
	"span sql comment", "span sql literal", "span url",
	// What the database shows.
	"sql literal", "sql escaped literal", "sql dollar quote", "sql comment", "sql number", "sql role password", "sql application name",
}

// byValue are plants that are also in the target's environment under the name of a
// secret: only by that can redline recognize them if nothing else marks them.
var byValue = []string{"pprof label by value", "trace log by value", "span attribute by value", "sql application name"}

// plants are the secrets by place.
type plants map[string]string

// sow makes a secret for each place. Most are such as people choose, without a
// recognizable form.
func sow(seed uint64) plants {
	random := rand.New(rand.NewPCG(seed, 12))
	word := func(n int) string {
		const letters = "bcdfghjkmnpqrstvwxz"
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		return string(b)
	}
	all := plants{}
	for _, carrier := range carriers {
		switch carrier {
		case "stderr jwt", "feeder token":
			header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))
			all[carrier] = header + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"`+word(8)+`"}`)) + "." + word(20)
		case "stderr aws key":
			all[carrier] = "AKIA" + strings.ToUpper(word(16))
		case "stderr slack":
			all[carrier] = "xoxb-" + fmt.Sprint(1e11+random.Int64N(1e11)) + "-" + word(12)
		case "sql number":
			all[carrier] = fmt.Sprint(4_000_000_000_000_000 + random.Int64N(1e15))
		case "env inherited short":
			all[carrier] = word(6)
		case "span error type":
			all[carrier] = base64.StdEncoding.EncodeToString([]byte("user:" + word(11)))
		default:
			all[carrier] = word(9) + fmt.Sprint(10+random.IntN(90)) + word(4)
		}
	}
	return all
}

// traces are the texts that betray a secret: itself, and its forms in a URL, in
// base64 and in hexadecimal.
func traces(secret string) []string {
	all := []string{secret, url.QueryEscape(secret), hex.EncodeToString([]byte(secret))}
	for before := range 3 {
		padded := append(make([]byte, before), secret...)
		whole := base64.RawStdEncoding.EncodeToString(padded)
		from, to := []int{0, 2, 3}[before], len(padded)/3*4
		if to-from >= 8 {
			all = append(all, whole[from:to], strings.NewReplacer("+", "-", "/", "_").Replace(whole[from:to]))
		}
	}
	// Half of it is half a secret.
	if len(secret) >= 15 && !strings.Contains(secret, ".") {
		all = append(all, secret[:10])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
