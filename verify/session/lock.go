package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockFile says which process runs a session. The kernel drops its lock when that
// process ends, however it ends. The file stays: if it were removed and created
// again, one name could stand for two locks.
const lockFile = "session.lock"

// holder is the content of the lock file, for whoever comes second.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host,omitempty"` // the directory may be on a shared file system
	Since time.Time `json:"since"`
}

func (h holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	text := fmt.Sprintf("process %d, since %s", h.PID, h.Since.Format(time.DateTime))
	if own, err := os.Hostname(); err == nil && h.Host != "" && h.Host != own {
		text += fmt.Sprintf(", on %.80q", h.Host)
	}
	return text
}

// Hold reserves a directory for this process until the Closer is closed, with the lock that sessions
// use: for data that is kept there line by line and may be continued later. If another process holds
// it, the error names that process.
func Hold(dir string) (io.Closer, error) { return lock(dir) }

// lock reserves the session in dir for this process until the file is closed. If
// another process holds it, the error names that process.
func lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	// Hazard: a session's directory may lie where others write, and a link
	// planted as the lock could name anything.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		var by holder
		data, _ := io.ReadAll(io.LimitReader(f, 4096))
		_ = json.Unmarshal(data, &by) // it is empty if that process has just begun
		f.Close()
		return nil, fmt.Errorf("session: %s is under way: %s holds it (hint: wait for its end, or -o another directory)", dir, by)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("session: lock %s: %w", path, err)
	}
	by := holder{PID: os.Getpid(), Since: time.Now()}
	by.Host, _ = os.Hostname() // without it, only the process is named
	data, err := json.Marshal(by)
	if err == nil {
		_, err = f.WriteAt(append(data, '\n'), 0)
	}
	if err = errors.Join(err, f.Truncate(int64(len(data)+1))); err != nil {
		f.Close()
		return nil, fmt.Errorf("session: lock %s: %w", path, err)
	}
	return f, nil
}
