package container

import (
	"bytes"

	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record/series"
)

// memoryFiles are the names of one version; empty where it has no such file.
type memoryFiles struct{ used, limit, high, inactive string }

var (
	memoryV2 = memoryFiles{"/memory.current", "/memory.max", "/memory.high", "inactive_file"}
	memoryV1 = memoryFiles{"/memory.usage_in_bytes", "/memory.limit_in_bytes", "", "total_inactive_file"}
)

// memoryFiles returns the names that the mounted version has: Documentation/admin-
// guide/cgroup-v2.rst and cgroup-v1/memory.rst of the kernel.
func (h *hierarchy) memoryFiles() memoryFiles {
	if h.v2 {
		return memoryV2
	}
	return memoryV1
}

// used returns the bytes charged to the target's own group; ok is false outside
// any group, because the root's figures are those of the whole host.
func (h *hierarchy) used(read readFile) (n uint64, ok bool) {
	if h.root() {
		return 0, false
	}
	text, err := read(h.own() + h.memoryFiles().used)
	if err != nil {
		return 0, false
	}
	n, _, ok = pseudofile.Number(text)
	return n, ok
}

// inactive returns the bytes of page cache of the target's own group that were
// not used recently.
func (h *hierarchy) inactive(read readFile) (n uint64, ok bool) {
	if h.root() {
		return 0, false
	}
	text, err := read(h.own() + "/memory.stat")
	if err != nil {
		return 0, false
	}
	return pseudofile.Keyed(text, h.memoryFiles().inactive)
}

// unlimitedV1 is cgroup v1's value for no limit: the largest page-aligned int64.
// Anything near it is no limit of a real machine.
const unlimitedV1 = 1 << 62

// bound returns the tightest limit in the files of that name, and its level.
func (h *hierarchy) bound(file string, read readFile) (n float64, level string, ok bool) {
	if file == "" {
		return 0, "", false
	}
	return h.tightest(func(dir string) (float64, bool) {
		text, err := read(dir + file)
		if err != nil || bytes.HasPrefix(text, []byte("max")) {
			return 0, false
		}
		n, _, fine := pseudofile.Number(text)
		return float64(n), fine && n < unlimitedV1
	})
}

// memoryEvents are the series of memory.events, which counts events at
// the limits of a group and of its descendants.
var memoryEvents = [...]struct{ key, series string }{
	{"high", series.CgroupMemoryHighs}, {"max", series.CgroupMemoryMaxes}, {"oom", series.CgroupOOMs},
}

// events calls count with the counts so far of events at a level's limits.
func (h *hierarchy) events(level string, read readFile, count func(name string, total uint64)) {
	if !h.v2 {
		if text, err := read(level + "/memory.failcnt"); err == nil {
			if n, _, ok := pseudofile.Number(text); ok {
				count(series.CgroupMemoryMaxes, n)
			}
		}
		return
	}
	text, err := read(level + "/memory.events")
	if err != nil {
		return
	}
	for _, e := range memoryEvents {
		if n, ok := pseudofile.Keyed(text, e.key); ok {
			count(e.series, n)
		}
	}
}

// kills returns how many processes of the target's own group the kernel ended
// for lack of memory; ok is false before Linux 4.13.
func (h *hierarchy) kills(read readFile) (n uint64, ok bool) {
	file := "/memory.oom_control"
	if h.v2 {
		file = "/memory.events"
	}
	if h.root() {
		return 0, false
	}
	text, err := read(h.own() + file)
	if err != nil {
		return 0, false
	}
	return pseudofile.Keyed(text, "oom_kill")
}
