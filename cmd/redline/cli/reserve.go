package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/verify/session"
)

// Reserve reserves the directory that will hold a result, before anything is built
// or started for it: that of -o, or a new one below runs/. The caller must release
// it, which removes the directory if nothing was kept.
func Reserve(out, name string) (*disk.Reservation, error) {
	if out == "" {
		return disk.ReserveNew(filepath.Join("runs", time.Now().Format("20060102-150405")+"-"+name))
	}
	reservation, err := disk.Reserve(out)
	var taken *disk.TakenError
	if !errors.As(err, &taken) {
		return reservation, err
	}
	if _, statErr := os.Stat(filepath.Join(out, session.File)); statErr == nil {
		return nil, fmt.Errorf("%s holds a session already (hint: --resume continues it, -o with another directory begins a new one)", out)
	}
	return nil, err
}
