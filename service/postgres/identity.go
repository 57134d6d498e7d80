package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// identity is the user as whom the server runs. PostgreSQL refuses to run as root.
type identity struct {
	name     string
	attr     *syscall.SysProcAttr
	uid, gid int // owner of the data directory; -1: as created
}

// own hands a path to the identity when that differs from this process.
func (id identity) own(path string) error {
	if id.uid < 0 {
		return nil
	}
	return os.Chown(path, id.uid, id.gid)
}

// foreign reports whether the file system sees the server as another user.
func (id identity) foreign() bool { return id.uid >= 0 }

// reaches reports whether everyone may enter every folder up to path, which a
// foreign identity needs.
func (id identity) reaches(path string) bool {
	if !id.foreign() {
		return true
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

func (id identity) String() string { return fmt.Sprintf("as %s", id.name) }
