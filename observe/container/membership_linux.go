package container

import (
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/procfs" // mountinfo, cgroup and limits files with their escapes and versions
)

// membership is the target's position in the control groups of the host: version 1
// (a tree per controller), version 2 (one tree), or both at once.
type membership struct {
	cpu, memory, pressure *hierarchy // nil if there is none
}

// find looks up the groups of a process under the mounts that redline
// itself sees, because those are the paths it can open.
func find(fs procfs.FS, root string, pid int) (membership, error) {
	var c membership
	self, err := fs.Self()
	if err != nil {
		return c, fmt.Errorf("find /proc/self: %w", err)
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return c, fmt.Errorf("read the mounts: %w", err)
	}
	proc, err := fs.Proc(pid)
	if err != nil {
		return c, fmt.Errorf("find process %d: %w", pid, err)
	}
	groups, err := proc.Cgroups()
	if err != nil {
		return c, fmt.Errorf("read the cgroups of process %d: %w", pid, err)
	}
	hierarchyOf := func(controller string) *hierarchy {
		for _, group := range groups {
			v2 := group.HierarchyID == 0
			if v2 != (controller == "") || (!v2 && !slices.Contains(group.Controllers, controller)) {
				continue
			}
			for _, m := range mounts {
				_, holds := m.SuperOptions[controller]
				if v2 && m.FSType == "cgroup2" || !v2 && m.FSType == "cgroup" && holds {
					if h := newHierarchy(v2, root+m.MountPoint, m.Root, group.Path); h != nil {
						h.top = isTop(v2, root+m.MountPoint)
						return h
					}
				}
			}
		}
		return nil
	}
	unified := hierarchyOf("")
	c.cpu, c.memory, c.pressure = hierarchyOf("cpu"), hierarchyOf("memory"), unified
	if c.cpu == nil { // a controller is in one of the two versions only
		c.cpu = unified
	}
	if c.memory == nil {
		c.memory = unified
	}
	return c, nil
}

// isTop reports whether a directory is the root of the host's tree of groups. The
// root of a mount does not say: in a namespace of control groups it is "/" for
// any container. The kernel has a file for groups only (version 2), and one for
// the root only (version 1).
func isTop(v2 bool, dir string) bool {
	if v2 {
		_, err := os.Stat(dir + "/cgroup.type")
		return err != nil
	}
	_, err := os.Stat(dir + "/release_agent")
	return err == nil
}
