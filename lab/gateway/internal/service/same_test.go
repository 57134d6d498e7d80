package service_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/redline-go/redline/lab/gateway/internal/middleware"
	"github.com/redline-go/redline/lab/gateway/remedy"
)

// reads are requests whose answers depend on the seed alone. They use users
// that no other test writes to.
func reads() []call {
	calls := []call{
		{method: "GET", path: "/healthz"},
		{method: "GET", path: "/nowhere"},
		{method: "DELETE", path: "/api/v1/order"},
		{method: "GET", path: "/api/v1/order?uid=1"},
		{method: "GET", path: "/api/v1/order?uid=2", user: 1},
		{method: "GET", path: "/api/v1/order?uid=01", user: 1},
		{method: "GET", path: "/api/v1/order", user: 1},
		{method: "GET", path: "/api/v1/order?uid=1", user: 1, header: [2]string{"X-Real-Ip", "not an address"}},
		get(999_999, "order"), get(999_999, "balance"),
		{method: "POST", path: "/api/v1/orders", user: 1, body: "{"},
		{method: "POST", path: "/api/v1/orders", user: 1, body: strings.Repeat(" ", middleware.BodyLimit+1)},
		{method: "POST", path: "/api/v1/orders/0/reverse", user: 1},
		{method: "POST", path: "/api/v1/orders/x/reverse", user: 1},
	}
	for user := int64(1); user <= 12; user++ {
		calls = append(calls, get(user, "order"), get(user, "order"), get(user, "balance"))
	}
	return calls
}

// varying are the parts of a written order's body that differ from one to the
// next.
var varying = regexp.MustCompile(`"id":\d+|"order_no":"\w+"|"(at|created_at|updated_at|reversed_at)":"[^"]+"`)

// transcript is what a service answers to the reads, and to a write and its
// reversal by a user of this test.
func transcript(g *gateway) []answer {
	var all []answer
	for _, c := range reads() {
		all = append(all, g.do(c))
	}
	const writer = 390
	made := g.do(create(writer, "", 3))
	latest := g.do(get(writer, "order"))
	if latest.body != made.body {
		g.t.Errorf("an order reads otherwise than it was made:\n%s\n%s", made.body, latest.body)
	}
	id := g.want(200, 0, get(writer, "order")).Data.ID
	for _, a := range []answer{made, latest, g.do(reverse(writer, id)), g.do(get(writer, "order"))} {
		a.body = varying.ReplaceAllString(a.body, "-")
		all = append(all, a)
	}
	return all
}

// TestSameJSON holds the promise that no switch changes an answer: every
// setting answers with the same status and bytes as the naive one.
func TestSameJSON(t *testing.T) {
	naive := transcript(open(t, remedy.Naive(), nil))
	for i, a := range naive[:len(reads())] {
		if c := reads()[i]; a.status == 200 && strings.Contains(c.path, "order?") && (len(a.body) < 1000 || len(a.body) > 2048) {
			t.Errorf("%s: the body has %d bytes, want 1 to 2 KB", c.path, len(a.body))
		}
	}
	settings := map[string]map[string]string{"sound": remedy.Sound(), "sound, uncached": remedy.SoundUncached()}
	for _, r := range remedy.Remedies() {
		env := remedy.Naive()
		env[r.Env] = r.On
		settings["naive with "+r.Name] = env
	}
	for _, f := range remedy.Faults() {
		settings["fault "+f.Name] = maps.Clone(f.Env)
	}
	for name, env := range settings {
		t.Run(name, func(t *testing.T) {
			for i, a := range transcript(open(t, env, nil)) {
				if a.status != naive[i].status || a.body != naive[i].body {
					t.Errorf("answer %d: %d %s\nnaive answers: %d %s", i, a.status, a.body, naive[i].status, naive[i].body)
				}
				if got := a.header.Get("Content-Type"); got != "application/json; charset=utf-8" {
					t.Errorf("answer %d: content type %q", i, got)
				}
			}
		})
	}
}
