package process

import (
	"fmt"
	"slices"

	"github.com/prometheus/procfs" // mountinfo, cgroup and limits files with their escapes and versions
)

// container is the target's place in the control groups of the host: version 1
// (a tree per controller), version 2 (one tree), or both at once.
type container struct {
	cpu, memory, pressure *hierarchy // nil where there is none
	// throttling is the level whose quota is tightest: only its own cpu.stat
	// counts the throttling that its quota causes.
	throttling string
}

// findContainer looks up the groups of a process under the mounts that redline
// itself sees, since those are the paths it can open.
func findContainer(fs procfs.FS, root string, pid int) (container, error) {
	var c container
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
	find := func(controller string) *hierarchy {
		for _, group := range groups {
			v2 := group.HierarchyID == 0
			if v2 != (controller == "") || (!v2 && !slices.Contains(group.Controllers, controller)) {
				continue
			}
			for _, m := range mounts {
				_, holds := m.SuperOptions[controller]
				if v2 && m.FSType == "cgroup2" || !v2 && m.FSType == "cgroup" && holds {
					if h := newHierarchy(v2, root+m.MountPoint, m.Root, group.Path); h != nil {
						return h
					}
				}
			}
		}
		return nil
	}
	unified := find("")
	c.cpu, c.memory, c.pressure = find("cpu"), find("memory"), unified
	if c.cpu == nil { // a controller is in one of the two versions only
		c.cpu = unified
	}
	if c.memory == nil {
		c.memory = unified
	}
	return c, nil
}
