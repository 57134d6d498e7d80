package document

import (
	"slices"
	"testing"
)

func TestHosts(t *testing.T) {
	const requests = "requests: [{get: 'http://127.0.0.1/'}]\n"
	p := mustPlan(t, requests+"hosts: [shop.example, 10.0.0.7, '[2001:DB8::1]', Stage-1.example.]")
	if want := []string{"shop.example", "10.0.0.7", "2001:db8::1", "Stage-1.example."}; !slices.Equal(p.Hosts, want) {
		t.Errorf("%q", p.Hosts)
	}
	for _, wrong := range []string{"http://shop.example", "shop.example:80", "*.example", "10.0.0.0/8", "''",
		"'a b'", "{{host}}", "u:p@h"} {
		if _, err := parse(testFiles(t), "f.yaml", []byte(requests+"hosts: [\""+wrong+"\"]"), wholeEnv); err == nil {
			t.Errorf("%s is taken for a host", wrong)
		}
	}
}
