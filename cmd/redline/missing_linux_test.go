package main

// redline without the means to observe: no /proc, a sandbox or an old kernel without
// some system calls, a user without privileges. The load is measured in full, and
// each source that sees nothing says what is missing, what that costs and what
// would enable it, in a run and in doctor.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix" // numbers of system calls

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/run"
)

// recent are system calls that a sandbox refuses or an old kernel lacks.
func recent() string {
	var list []string
	for _, number := range []int{
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV,
		unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_IO_URING_SETUP, unix.SYS_OPENAT2, unix.SYS_STATX,
	} {
		list = append(list, fmt.Sprint(number))
	}
	return strings.Join(list, ",")
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	clone3 := fmt.Sprint(",", unix.SYS_CLONE3) // with EPERM Go could start no process: no sandbox answers that
	n := becomeNobody(t)
	url := profiled(t)
	for name, c := range map[string]struct {
		by      func(t *testing.T, args ...string) result
		missing map[string]string // words of the reason and the remedy, by source
		sees    []string
	}{
		"no /proc": {
			func(t *testing.T, args ...string) result { return invokeConfined(t, "proc", args...) },
			map[string]string{"process": "/proc is not mounted", "container": "/proc is not mounted",
				"netstat": "/proc is not mounted", "sockets": "mount -t proc", "events": "/proc is not mounted"},
			[]string{"profiles"},
		},
		"a sandbox": {
			func(t *testing.T, args ...string) result {
				t.Helper()
				return invokeConfined(t, fmt.Sprintf("refuse=%d:%s", unix.EPERM, recent()), args...)
			},
			map[string]string{"events": "seccomp profile"},
			[]string{"profiles", "process", "netstat", "sockets"},
		},
		"an old kernel": {
			func(t *testing.T, args ...string) result {
				t.Helper()
				return invokeConfined(t, fmt.Sprintf("refuse=%d:%s", unix.ENOSYS, recent()+clone3), args...)
			},
			map[string]string{"events": "Linux 5.11"},
			[]string{"profiles", "process", "netstat", "sockets"},
		},
		"an ordinary user": {
			func(t *testing.T, args ...string) result {
				return n.invoke(t, append(args, "--pid", fmt.Sprint(os.Getpid()))...)
			},
			map[string]string{"events": "as root"},
			[]string{"profiles", "process", "netstat"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			bundle := filepath.Join(n.dir, strings.Map(func(r rune) rune {
				if r == '/' || r == ' ' {
					return '-'
				}
				return r
			}, name))
			r := c.by(t, "run", url, "-c", "2", "-d", "2s", "--warmup", "0s", "--pprof", url+"/debug/pprof", "-o", bundle, "--json")
			if !ran(r) {
				t.Fatalf("exit %d: the load was fine\n%s", r.code, r.stderr)
			}
			s := summaryOf(t, r)
			if s.State != record.Complete || s.Load.Requests == 0 || s.Load.Errors > 0 || s.Load.Latency.P99 == 0 {
				t.Errorf("%s: %+v", s.State, s.Load)
			}
			health := map[string]record.SourceHealth{}
			for _, h := range s.Sources {
				health[h.Name] = h
				if !h.OK && !h.NotAsked && h.Name != "traces" && !strings.Contains(h.Why, "(to enable: ") {
					t.Errorf("%s does not say what would enable it: %s", h.Name, h.Why)
				}
			}
			for source, why := range c.missing {
				if h := health[source]; h.OK || !strings.Contains(h.Why, why) {
					t.Errorf("%s does not say %q: %+v", source, why, h)
				}
			}
			for _, source := range c.sees {
				if h := health[source]; !h.OK {
					t.Errorf("%s is lost with the others: %s", source, h.Why)
				}
			}
			if len(s.NotJudged) == 0 {
				t.Error("it is not said which causes could not be judged")
			}
			r = c.by(t, "doctor", url)
			if !ran(r) {
				t.Errorf("doctor: exit %d\n%s", r.code, r.stderr)
			}
			said := strings.Join(strings.Fields(r.stdout), " ")
			for source, why := range c.missing {
				doc := ""
				for _, s := range run.Sources(observe.Subject{}) {
					if d := s.Describe(); d.Name == source {
						doc = d.Doc
					}
				}
				if !strings.Contains(said, why) || !strings.Contains(said, "missing: "+doc) || doc == "" {
					t.Errorf("doctor does not say %q and what %s would see:\n%s", why, source, r.stdout)
				}
			}
		})
	}
}
