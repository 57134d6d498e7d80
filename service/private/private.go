// Package private makes folders from which redline executes or compiles what lies there: nobody but this user and root can
// change them.
package private

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Mode keeps a folder for its user alone.
const Mode fs.FileMode = 0o700

// Folder makes a folder, and returns an error if others than this user and root can change it. What is executed from it
// runs with this user's rights, and whoever can write to a folder above it can substitute another.
//
// Hazard: under sudo a user's cache is in the home of the user who called it, unless HOME is root's. That is another
// user's folder.
func Folder(dir string) error {
	if err := os.MkdirAll(dir, Mode); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if why := Shared(info); why != "" {
			return fmt.Errorf("%s is not safe to execute from: %s %s (hint: XDG_CACHE_HOME names a folder of your own, chmod go-w "+
				"closes this one)", dir, at, why)
		}
		if at == filepath.Dir(at) {
			return os.Chmod(real, Mode)
		}
	}
}

// Shared says why another user can change the file of info; "" when none can.
func Shared(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "has no owner"
	}
	return shared(info.Mode(), st.Uid, st.Gid, uint32(os.Geteuid()))
}

// shared is Shared for a file's mode and ids, and a user. A group with the id of the file's owner is that user's own, as most
// distributions make one for each; their umask lets it write.
func shared(mode fs.FileMode, uid, gid, user uint32) string {
	writable := mode.Perm() & 0o002
	if gid != uid || uid == 0 {
		writable = mode.Perm() & 0o022
	}
	switch {
	case uid != 0 && uid != user:
		return fmt.Sprintf("belongs to user %d", uid)
	case mode&fs.ModeSymlink != 0:
		return ""
	case writable != 0 && mode&fs.ModeSticky == 0:
		return fmt.Sprintf("can be written by others (%v)", mode)
	}
	return ""
}
