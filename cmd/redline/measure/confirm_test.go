package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere is an address that nobody has (RFC 5737). The tests end before they send it
// a packet.
const elsewhere = "http://203.0.113.5:9/"

// TestConfirmedHosts is the plan of a run that may go elsewhere.
func TestConfirmedHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(file, []byte("requests: [{get: '"+elsewhere+"'}]\nhosts: [203.0.113.5]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		target string
		yes    bool
		ok     bool
	}{"named": {file, false, true}, "yes": {elsewhere, true, true}, "neither": {elsewhere, false, false}} {
		var f Flags
		cmd := RunCommand()
		cmd.SetContext(t.Context())
		var said strings.Builder
		cmd.SetErr(&said)
		cmd.SetIn(strings.NewReader("y\n")) // as from a pipe, which is no user
		f.Yes = c.yes
		plan, err := f.Plan(cmd, []string{c.target})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (len(plan.Hosts) != 1 || plan.Hosts[0] != "203.0.113.5") {
			t.Errorf("%s: hosts %q", name, plan.Hosts)
		}
		if c.yes != strings.Contains(said.String(), "confirmed") {
			t.Errorf("%s says %q", name, said.String())
		}
	}
}
