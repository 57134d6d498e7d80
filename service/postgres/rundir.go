package postgres

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/redline-go/redline/service/scratch"
)

// newRunDir makes the folder of one cluster for a server of the given identity.
func newRunDir(id identity) (*scratch.Folder, error) {
	d, err := scratch.New("postgres")
	if err != nil {
		return nil, err
	}
	if id.foreign() {
		// The server passes through this folder to its data, but reads nothing in it.
		err = os.Chmod(d.Path, 0o711)
	}
	data := filepath.Join(d.Path, "data")
	if err == nil {
		err = os.Mkdir(data, 0o700)
	}
	if err == nil {
		err = id.own(data)
	}
	if err != nil {
		_ = d.Remove()
		return nil, fmt.Errorf("prepare the run directory: %w", err)
	}
	return d, nil
}

// data is the folder of the cluster's data.
func (c *cluster) data() string { return filepath.Join(c.dir.Path, "data") }
