package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
)

// MissesFile lists, next to the fixtures, the cases that the diagnosis is known
// to miss.
const MissesFile = "misses.yaml"

// Misses are the reasons, by the name of the case, why the diagnosis misses it.
// They are listed so that a test fails when one is no longer missed, as well as
// when a new one is.
type Misses map[string]string

// ReadMisses reads the list next to the fixtures; without a list no case is known
// to be missed.
func ReadMisses(fixtures string) (Misses, error) {
	path := filepath.Join(fixtures, MissesFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	misses := Misses{}
	if err := yaml.Unmarshal(data, &misses); err != nil {
		return nil, fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, true))
	}
	for name, why := range misses {
		if why == "" {
			return nil, fmt.Errorf("%s: %s is missed without a reason", path, name)
		}
	}
	return misses, nil
}
