package process

import (
	"os"
	"testing"
	"time"

	"github.com/redline-go/redline/observe/pseudofile"
)

func TestParseStat(t *testing.T) {
	const tail = " S 1 42 42 0 -1 4194560 1000 7 3 8 250 50 9 8 20 -5 11 0 5000 123 2000 18446744073709551615"
	want := stat{state: 'S', parent: 1, minor: 1000, major: 3, user: 250, system: 50, reaped: 17, threads: 11, start: 5000, rss: 2000}
	for _, name := range []string{"(app)", "(a) S 9 9 (b)", "()", "(\n)"} {
		if got, err := parseStat([]byte("42 " + name + tail)); err != nil || got != want {
			t.Errorf("parseStat with name %q = %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, bad := range []string{"", "42", "42 (app)", "42 (app) ", "42 (app) S 1 42", "42 (app) S x" +
		tail[4:], "42 (app) S 99999999999999999999999" + tail[4:]} {
		if got, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("parseStat(%q) = %+v", bad, got)
		}
	}
}

func TestParseHostStat(t *testing.T) {
	text := "cpu  100 1 50 1000 5 2 3 4 60 0\ncpu0 50 1 25 500 5 1 1 2 0 0\ncpu1 50 0 25 500 0 1 2 2 0 0\nintr 5 cpu\n"
	if h, ok := parseHostStat([]byte(text)); !ok || h != (hostStat{busy: 156, steal: 4, cpus: 2}) {
		t.Errorf("parseHostStat = %+v, %v", h, ok)
	}
	if _, ok := parseHostStat([]byte("ctxt 5\n")); ok {
		t.Error("a stat file without CPUs is taken")
	}
}

func TestTally(t *testing.T) {
	var sum tally
	sum.add(1, 100, false) // old: only what it adds counts
	sum.add(2, 7, true)    // born since: all of it
	sum.next()
	sum.add(1, 150, false)
	sum.next() // 2 has ended; its share stays
	if sum.total != 57 {
		t.Errorf("total %d, want 57", sum.total)
	}
	sum.add(2, 30, false) // the id again, after it was forgotten
	sum.add(1, 20, false) // the id of 1 is another's
	if sum.total != 77 {
		t.Errorf("total %d, want 77", sum.total)
	}
}

// The ratio follows the ticks of the last second, and no time is lost.
func TestRatio(t *testing.T) {
	var r ratio
	const ms = uint64(time.Millisecond)
	total, user, system := uint64(0), uint64(0), uint64(0)
	for i := range 41 {
		r.add(time.Duration(i)*100*time.Millisecond, total, user, system)
		total += 100 * ms
		if i < 20 {
			user += 10
		} else {
			system += 10
		}
	}
	if sum := r.user + r.system; sum != float64(4000*ms) {
		t.Errorf("user and system sum to %v, want 4 s", sum)
	}
	// Half a second's worth lags behind the change, by the second's average.
	if r.user < 2.4e9 || r.user > 2.6e9 {
		t.Errorf("user %v, want 2 s and the lag of half a second", r.user)
	}
	if len(r.ticks) > 12 {
		t.Errorf("%d readings kept", len(r.ticks))
	}
}

// FuzzParse feeds every parser: none may panic or find figures without digits.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"42/stat", "42/status", "42/schedstat", "42/io", "stat"} {
		text, err := os.ReadFile("testdata/linux-6.18/proc/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("42 (x) "))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			t.Skip("longer than any file read")
		}
		digits := false
		for _, b := range text {
			digits = digits || ('0' <= b && b <= '9')
		}
		_, errStat := parseStat(text)
		_, _, sched := parseSchedstat(text)
		_, io := pseudofile.Keyed(text, "read_bytes")
		_, host := parseHostStat(text)
		if !digits && (errStat == nil || sched || io || host) {
			t.Errorf("figures from %q", text)
		}
	})
}
