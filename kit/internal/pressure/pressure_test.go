package pressure

import (
	"runtime"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestSharesBetweenReads(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after fstest.MapFS
		want          Reading
	}{
		{
			name: "version 2, of its own group",
			before: fstest.MapFS{
				"proc/self/cgroup":          file("0::/svc\n"),
				"proc/pressure/cpu":         file("some avg10=0 avg60=0 avg300=0 total=0\n"),
				"sys/fs/cgroup/svc/cpu.max": file("max 100000\n"),
				"sys/fs/cgroup/svc/cpu.pressure": file("some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 " +
					"avg60=0.00 avg300=0.00 total=0\n"),
				"sys/fs/cgroup/svc/cpu.stat": file("usage_usec 1\nnr_periods 10\nnr_throttled 2\nthrottled_usec 9\n"),
			},
			after: fstest.MapFS{
				"proc/self/cgroup":  file("0::/svc\n"),
				"proc/pressure/cpu": file("some avg10=0 avg60=0 avg300=0 total=1000000\n"),
				"sys/fs/cgroup/svc/cpu.pressure": file("some avg10=0.00 avg60=0.00 avg300=0.00 total=1250000\nfull avg10=0.00 " +
					"avg60=0.00 avg300=0.00 total=990000\n"),
				"sys/fs/cgroup/svc/cpu.stat": file("usage_usec 1\nnr_periods 20\nnr_throttled 6\nthrottled_usec 9\n"),
			},
			want: Reading{Waiting: 0.25, Throttled: 0.4},
		},
		{
			name: "version 1, and the machine's pressure",
			before: fstest.MapFS{
				"proc/self/cgroup":                   file("5:memory:/m\n2:cpu,cpuacct:/svc\n0::/\n"),
				"proc/pressure/cpu":                  file("some avg10=0 avg60=0 avg300=0 total=5\n"),
				"sys/fs/cgroup/cpu/svc/cpu.stat":     file("nr_periods 1\nnr_throttled 0\nthrottled_time 0\n"),
				"sys/fs/cgroup/cpu.stat":             file("usage_usec 7\n"),
				"sys/fs/cgroup/cpuacct/svc/cpu.stat": file("nr_periods 9\nnr_throttled 9\n"),
			},
			after: fstest.MapFS{
				"proc/pressure/cpu":              file("some avg10=0 avg60=0 avg300=0 total=500005\n"),
				"sys/fs/cgroup/cpu/svc/cpu.stat": file("nr_periods 5\nnr_throttled 1\nthrottled_time 9\n"),
			},
			want: Reading{Machine: 0.5, Throttled: 0.25},
		},
		{
			name: "version 2, of the root group, which is the machine",
			before: fstest.MapFS{
				"proc/self/cgroup":           file("0::/\n"),
				"proc/pressure/cpu":          file("some avg10=0 avg60=0 avg300=0 total=5\n"),
				"sys/fs/cgroup/cpu.pressure": file("some avg10=0 avg60=0 avg300=0 total=5\n"),
			},
			after: fstest.MapFS{"proc/pressure/cpu": file("some avg10=0 avg60=0 avg300=0 total=750005\n")},
			want:  Reading{Machine: 0.75},
		},
		{
			name:   "nothing there",
			before: fstest.MapFS{}, after: fstest.MapFS{},
		},
		{
			name: "nonsense",
			before: fstest.MapFS{
				"proc/self/cgroup":  file(":::\n\nx"),
				"proc/pressure/cpu": file("some total=many\n"),
			},
			after: fstest.MapFS{"proc/pressure/cpu": file("some")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var used time.Duration
				r := newReader(c.before, func() time.Duration { return used })
				r.root = c.after
				time.Sleep(time.Second)
				used = time.Second / 2
				c.want.Busy = 0.5 / float64(runtime.GOMAXPROCS(0))
				if got := r.Read(); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if got := r.Read(); got != (Reading{}) {
					t.Errorf("at the same moment: %+v", got)
				}
			})
		})
	}
}

// TestUnreadableForAMoment: a file that could not be read once is not taken for one that began anew, nor the time without it
// for none.
func TestUnreadableForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(waited, throttled string) fstest.MapFS {
			return fstest.MapFS{
				"proc/self/cgroup":               file("0::/svc\n"),
				"sys/fs/cgroup/svc/cpu.max":      file("max 100000\n"),
				"sys/fs/cgroup/svc/cpu.pressure": file("some avg10=0 avg60=0 avg300=0 total=" + waited + "\n"),
				"sys/fs/cgroup/svc/cpu.stat":     file("nr_periods " + throttled + "\n"),
			}
		}
		r := newReader(at("9000000", "900\nnr_throttled 800"), func() time.Duration { return 0 })
		for _, step := range []struct {
			files fstest.MapFS
			want  Reading
		}{
			{fstest.MapFS{}, Reading{}},
			{at("9500000", "920\nnr_throttled 805"), Reading{Waiting: 0.25, Throttled: 0.25}}, // of two seconds
			{at("10000000", "930\nnr_throttled 805"), Reading{Waiting: 0.5}},
		} {
			time.Sleep(time.Second)
			r.root = step.files
			if got := r.Read(); got != step.want {
				t.Errorf("got %+v, want %+v", got, step.want)
			}
		}
	})
}

func TestReadHere(t *testing.T) {
	r := New()
	started := processTime()
	for processTime()-started < 20*time.Millisecond {
		// Use CPU until the system has counted some.
		if runtime.GOOS == "windows" || runtime.GOOS == "plan9" || runtime.GOOS == "js" {
			t.Skip("the CPU time of a process is not read on " + runtime.GOOS)
		}
	}
	got := r.Read()
	if got.Busy <= 0 || got.Busy > 1 {
		t.Errorf("busy %v after 20 ms of CPU", got.Busy)
	}
	if s := got.Short(); s < got.Busy || s > 1 {
		t.Errorf("%+v: short %v", got, s)
	}
}

// TestAStrangersWaitIsNotOurs: on a busy machine a process that itself waits for
// nothing is not short of CPU.
func TestAStrangersWaitIsNotOurs(t *testing.T) {
	r := Reading{Machine: 0.95, Busy: 0.1}
	if r.Short() != 0.1 || r.Denied() != 0.95 {
		t.Errorf("short %v, denied %v", r.Short(), r.Denied())
	}
}
