package container

import (
	"os"
	"path/filepath"
	"testing"
)

func TestParsePressure(t *testing.T) {
	for text, want := range map[string]pressure{
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n": {12000, 5000, true, true},
		"some avg10=0.00 total=12\n":  {some: 12000, hasSome: true}, // before Linux 5.13 the CPU has no full line
		"full avg10=0.00 total=5\n":   {full: 5000, hasFull: true},
		"some avg10=0.00\n":           {},
		"some total=\nfull total=x\n": {},
		"":                            {},
	} {
		if got := parsePressure([]byte(text)); got != want {
			t.Errorf("parsePressure(%q) = %+v, want %+v", text, got, want)
		}
	}
}

func TestParseThrottling(t *testing.T) {
	tests := []struct {
		v2   bool
		text string
		want throttling
	}{
		{true, "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1500\n", throttling{10, 4, 1_500_000}},
		{false, "nr_periods 10\nnr_throttled 4\nthrottled_time 1500\n", throttling{10, 4, 1500}},
		{true, "usage_usec 9\nuser_usec 5\n", throttling{}}, // the root counts no periods
		{true, "nr_periods 10\nnr_throttled 4\nthrottled_time 1500\n", throttling{}},
	}
	for _, test := range tests {
		got, ok := (&hierarchy{v2: test.v2}).parseThrottling([]byte(test.text))
		if got != test.want || ok != (test.want != throttling{}) {
			t.Errorf("version 2 %v, %q: %+v, %v", test.v2, test.text, got, ok)
		}
	}
}

func TestParseCPUMax(t *testing.T) {
	for text, want := range map[string]float64{"150000 100000\n": 1.5, "max 100000\n": 0, "": 0, "100000": 0, "100000 0": 0} {
		if cpus, ok := parseCPUMax([]byte(text)); cpus != want || ok != (want > 0) {
			t.Errorf("parseCPUMax(%q) = %v, %v", text, cpus, ok)
		}
	}
}

func TestHierarchy(t *testing.T) {
	tests := []struct{ mountRoot, group, own string }{
		{"/", "/", "/m"},
		{"/", "/pod/app", "/m/pod/app"},
		{"/docker/abc", "/docker/abc", "/m"},
		{"/docker/abc", "/docker/abc/sub", "/m/sub"},
		{"/docker/abc", "/docker/abcd", ""}, // another container
		{"/docker/abc", "/", ""},
		{"/", "/../other", ""}, // seen from inside a namespace
	}
	for _, test := range tests {
		h := newHierarchy(true, "/m", test.mountRoot, test.group)
		switch {
		case h == nil && test.own != "":
			t.Errorf("group %s under mount of %s is not found", test.group, test.mountRoot)
		case h != nil && (h.own() != test.own || h.levels[len(h.levels)-1] != "/m"):
			t.Errorf("group %s under mount of %s: %v", test.group, test.mountRoot, h.levels)
		}
	}
}

// FuzzParse feeds every parser: none may panic or find figures without digits.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/v2/sys/fs/cgroup/pod/*", "testdata/v2/sys/fs/cgroup/pod/app/*",
		"testdata/linux-6.18-v1/proc/pressure/*", "testdata/linux-6.18-v1/sys/fs/cgroup/*/redline-fixture/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil { // else a directory
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			t.Skip("longer than any file read")
		}
		digits := false
		for _, b := range text {
			digits = digits || ('0' <= b && b <= '9')
		}
		p := parsePressure(text)
		found := p.hasSome || p.hasFull
		if cpus, ok := parseCPUMax(text); ok {
			found = true
			if !(cpus >= 0) {
				t.Errorf("%v CPUs from %q", cpus, text)
			}
		}
		read := func(string) ([]byte, error) { return text, nil }
		for _, v2 := range []bool{false, true} {
			h := &hierarchy{v2: v2, levels: []string{"/m/a", "/m"}}
			_, throttled := h.parseThrottling(text)
			_, _, quota := h.quota(read)
			_, used := h.used(read)
			_, _, bound := h.bound(h.memoryFiles().limit, read)
			_, inactive := h.inactive(read)
			_, kills := h.kills(read)
			h.events("/m", read, func(string, uint64) { found = true })
			found = found || throttled || quota || used || bound || inactive || kills
		}
		if !digits && found {
			t.Errorf("figures from %q", text)
		}
	})
}
