package container

import (
	"path"
	"strings"
)

// hierarchy is the position of the target in one tree of control groups.
type hierarchy struct {
	v2 bool
	// levels are directories, from the target's own group up to the root of
	// the mount.
	levels []string
	// top is set if the root of the mount is the host's and not a group: its
	// figures are those of the whole host. In a container it is the container's group.
	top bool
}

// readFile returns a file, valid until the next call.
type readFile func(path string) ([]byte, error)

// newHierarchy places a group (as in /proc/<pid>/cgroup) under a mount, whose
// root is the group that the mount point shows. It returns nil when the group
// lies outside the mounted part, as seen from inside a container.
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
func (h *hierarchy) root() bool { return h.top && len(h.levels) == 1 }

// tightest returns the lowest value of any level, and that level; ok is false
// if no level has a value.
func (h *hierarchy) tightest(value func(dir string) (float64, bool)) (least float64, level string, ok bool) {
	for _, dir := range h.levels {
		if v, has := value(dir); has && (!ok || v < least) {
			least, level, ok = v, dir, true
		}
	}
	return least, level, ok
}
