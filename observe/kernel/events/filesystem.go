package events

import (
	"bytes"
	"slices"
)

// Types of file systems, as in mountinfo, by whether the kernel's tracepoints
// report their syncs. Others have no disk below them, or lie on top of one that is
// listed.
var (
	telling = []string{"ext2", "ext3", "ext4", "f2fs", "overlay"}
	silent  = []string{"xfs", "btrfs", "zfs", "bcachefs", "jfs", "ntfs3", "nfs", "nfs4", "cifs", "ceph", "9p",
		"virtiofs", "fuse", "fuseblk"}
)

// mounted parses /proc/<pid>/mountinfo (proc_pid_mountinfo(5)): whether there is
// a file system whose syncs are reported, and the types of those that report none.
func mounted(mountinfo []byte) (tells bool, blind []string) {
	for line := range bytes.Lines(mountinfo) {
		_, rest, ok := bytes.Cut(line, []byte(" - "))
		if !ok {
			continue
		}
		kind, _, _ := bytes.Cut(rest, []byte(" "))
		name := string(kind)
		tells = tells || slices.Contains(telling, name)
		if slices.Contains(silent, name) && !slices.Contains(blind, name) {
			blind = append(blind, name)
		}
	}
	slices.Sort(blind)
	return tells, blind
}
