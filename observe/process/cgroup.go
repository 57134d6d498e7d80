package process

import (
	"bytes"
	"path"
	"strings"
)

// hierarchy is the place of the target in one tree of control groups.
type hierarchy struct {
	v2 bool
	// levels are directories, from the target's own group up to the root of
	// the mount.
	levels []string
}

// newHierarchy places a group (as in /proc/<pid>/cgroup) under a mount, whose
// root is the group that the mount point shows. It returns nil when the group
// lies outside what is mounted, as seen from inside a container.
func newHierarchy(v2 bool, mountPoint, mountRoot, group string) *hierarchy {
	if strings.HasPrefix(group, "/..") {
		return nil // above the root of redline's cgroup namespace: no path leads there
	}
	group = path.Clean("/" + group)
	relative, ok := strings.CutPrefix(group+"/", strings.TrimSuffix(mountRoot, "/")+"/")
	if !ok {
		return nil
	}
	h := &hierarchy{v2: v2}
	for relative = strings.Trim(relative, "/"); relative != "" && relative != "."; relative = path.Dir(relative) {
		h.levels = append(h.levels, path.Join(mountPoint, relative))
	}
	h.levels = append(h.levels, mountPoint)
	return h
}

// own is the target's own group.
func (h *hierarchy) own() string { return h.levels[0] }

// root reports whether the target is in no group of its own.
func (h *hierarchy) root() bool { return len(h.levels) == 1 }

// quota returns the CPUs that the tightest level allows and that level; ok is
// false when none limits.
func (h *hierarchy) quota(read func(string) ([]byte, error)) (cpus float64, level string, ok bool) {
	for _, dir := range h.levels {
		limit, limited := h.levelQuota(dir, read)
		if limited && (!ok || limit < cpus) {
			cpus, level, ok = limit, dir, true
		}
	}
	return cpus, level, ok
}

func (h *hierarchy) levelQuota(dir string, read func(string) ([]byte, error)) (cpus float64, ok bool) {
	if h.v2 {
		text, err := read(dir + "/cpu.max")
		if err != nil {
			return 0, false
		}
		return parseCPUMax(text)
	}
	text, err := read(dir + "/cpu.cfs_quota_us")
	if err != nil {
		return 0, false
	}
	quota, _, fine := number(text) // -1, unlimited, is no number
	if !fine {
		return 0, false
	}
	if text, err = read(dir + "/cpu.cfs_period_us"); err != nil {
		return 0, false
	}
	period, _, fine := number(text)
	if !fine || period == 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// parseCPUMax parses cpu.max (Documentation/admin-guide/cgroup-v2.rst of the
// kernel): "max 100000" or "150000 100000", quota and period in us.
func parseCPUMax(text []byte) (cpus float64, ok bool) {
	quota, rest, ok := number(text)
	if !ok {
		return 0, false
	}
	period, _, ok := number(rest)
	if !ok || period == 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// throttled parses cpu.stat: periods throttled and ns of it.
func (h *hierarchy) throttled(text []byte) (periods, ns uint64, ok bool) {
	periods, ok = keyed(text, "nr_throttled")
	if !ok {
		return 0, 0, false // the root of v2 has no such line
	}
	if h.v2 {
		us, ok := keyed(text, "throttled_usec")
		return periods, us * 1000, ok
	}
	ns, ok = keyed(text, "throttled_time")
	return periods, ns, ok
}

// unlimitedV1 is what cgroup v1 calls no limit: the largest page-aligned int64.
// Anything near it is no limit of a real machine.
const unlimitedV1 = 1 << 62

// memory returns the bytes in use by the target's own group and the tightest
// limit; limited is false without one, ok is false outside any group.
func (h *hierarchy) memory(read func(string) ([]byte, error)) (used, limit uint64, limited, ok bool) {
	usedFile, limitFile := "/memory.usage_in_bytes", "/memory.limit_in_bytes"
	if h.v2 {
		usedFile, limitFile = "/memory.current", "/memory.max"
	}
	if h.root() {
		return 0, 0, false, false // its figures are the whole host's
	}
	text, err := read(h.own() + usedFile)
	if err != nil {
		return 0, 0, false, false
	}
	used, _, ok = number(text)
	for _, dir := range h.levels {
		text, err := read(dir + limitFile)
		if err != nil || bytes.HasPrefix(text, []byte("max")) {
			continue
		}
		if n, _, fine := number(text); fine && n < unlimitedV1 && (!limited || n < limit) {
			limit, limited = n, true
		}
	}
	return used, limit, limited, ok
}
