package observe

import (
	"fmt"
	"os"
)

// Unseen returns the reason why process pid is not visible below proc, the mount point of
// procfs ("/proc"): err is the error of reading it, nil if pid is 0.
func Unseen(proc string, pid int, err error) *Unsupported {
	switch {
	case !Mounted(proc):
		return &Unsupported{
			What:   proc + " is not mounted, so redline cannot read any process",
			Enable: "mount it where redline runs (mount -t proc proc /proc); in a sandbox, let it have the host's",
		}
	case pid <= 0:
		return &Unsupported{
			What: "the target's process is not known",
			Enable: "start it with --exec or --build, or name it with --pid, on the host that runs redline; only its user " +
				"and root can see a socket's owner",
		}
	}
	return &Unsupported{
		What:   fmt.Sprintf("process %d cannot be read", pid),
		Enable: "name a process that runs on this host, in a PID namespace that redline sees",
		Err:    err,
	}
}

// Mounted reports whether a directory of a kernel file system has entries: sandboxes leave
// an empty one if the mount is missing.
func Mounted(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	return err == nil && len(names) > 0
}
