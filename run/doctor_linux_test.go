package run

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
)

// unhurried waits for a machine that is busy with other tests.
var unhurried = patience{open: time.Hour, ask: time.Hour}

func TestDoctor(t *testing.T) {
	c, err := Patient{}.checkup(t.Context(), unhurried)
	if err != nil {
		t.Fatal(err)
	}
	states := checked(t, c)
	if states["process"] != Sees && states["process"] != Partly || !c.Works() {
		t.Errorf("its own process is not seen: %v", states)
	}
	for _, name := range []string{"runtime", "postgres", "traces"} {
		if states[name] != NotAsked {
			t.Errorf("%s is %q without a target", name, states[name])
		}
	}
	if os.Getuid() != 0 && states["events"] != Blind {
		t.Errorf("eBPF is %q as user %d", states["events"], os.Getuid())
	}
}

// checked asserts what holds of any checkup, and returns the states.
func checked(t *testing.T, c *Checkup) map[string]SourceState {
	t.Helper()
	states := map[string]SourceState{}
	for _, s := range c.Sources {
		states[s.Name] = s.State
		switch s.State {
		case Sees:
			if s.Why != "" {
				t.Errorf("%s sees everything and says why not: %q", s.Name, s.Why)
			}
		case Partly:
			if s.Why == "" || len(s.Series) == 0 {
				t.Errorf("%+v does not say what is partly seen", s)
			}
		case Blind, NotAsked:
			if s.Why == "" || s.Enable == "" || len(s.Series) > 0 {
				t.Errorf("%+v does not say what would enable it", s)
			}
		default:
			t.Errorf("%s has state %q", s.Name, s.State)
		}
		if s.Doc == "" || s.Needs == "" || s.Cost == "" || !slices.IsSorted(s.Series) {
			t.Errorf("%+v", s)
		}
	}
	if want := len(Sources(observe.Subject{})); len(c.Sources) != want || len(states) != want {
		t.Errorf("%d sources, %d names, want %d", len(c.Sources), len(states), want)
	}
	names := map[string]bool{}
	for _, check := range c.Machine {
		if check.Name == "" || check.Value == "" || names[check.Name] || check.OK == (check.Advice != "") {
			t.Errorf("%+v", check)
		}
		names[check.Name] = true
	}
	return states
}

// A service that serves pprof itself is found by its URL, and so is its process.
func TestDoctorMeetsAService(t *testing.T) {
	subject := startService(t)
	url := strings.TrimSuffix(subject.Pprof, "/debug/pprof")
	c, err := Patient{URL: url}.checkup(t.Context(), unhurried)
	if err != nil {
		t.Fatal(err)
	}
	states := checked(t, c)
	for _, name := range []string{"process", "netstat", "profiles", "traces"} {
		if states[name] == Blind || states[name] == NotAsked {
			t.Errorf("%s is %q", name, states[name])
		}
	}
	if states["runtime"] != Blind || !strings.HasPrefix(c.Target, "process ") || !c.Machine[0].OK {
		t.Errorf("runtime %q, target %q, %+v", states["runtime"], c.Target, c.Machine[0])
	}
	nobody := Patient{URL: "http://127.0.0.1:1", Postgres: "postgres://user:hunter2@127.0.0.1:1/db"}
	c, err = nobody.checkup(t.Context(), patience{open: time.Hour, ask: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	states = checked(t, c)
	if c.Machine[0].OK || states["postgres"] != Blind || states["process"] != Blind {
		t.Errorf("nothing is there, and the checkup says %+v, %v", c.Machine[0], states)
	}
	for _, s := range c.Sources {
		if strings.Contains(s.Why+s.Enable, "hunter2") {
			t.Errorf("%s shows the password", s.Name)
		}
	}
}

func TestDoctorAsAnOrdinaryUser(t *testing.T) {
	unprivileged(t, "^TestDoctor")
}

func TestMachine(t *testing.T) {
	if host := record.HostInfo(); host.OS == "linux" && len(machine(t.Context())) < 8 {
		t.Errorf("%+v", machine(t.Context()))
	}
}
