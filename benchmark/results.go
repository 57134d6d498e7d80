// Package benchmark is how the benches of this project run, and what they leave in
// docs/: figures as JSON, and the tables made of them as Markdown next to it, with a
// last part that people write. It knows nothing of what was measured.
package benchmark

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Table returns the name of the Markdown next to a file of figures.
func Table(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) + ".md" }

// remarks begins the part of the tables' file that is written by hand.
const remarks = "## Remarks\n"

// Write stores figures in file and tables next to it. Remarks that are below
// the tables are kept.
func Write(file string, figures []byte, tables string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := Store(file, append(figures, '\n')); err != nil {
		return err
	}
	before, err := os.ReadFile(Table(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return Store(Table(file), []byte(tables+byHand(string(before))))
}

// Store writes a file whole or not at all: it may hold the figures of hours.
func Store(file string, data []byte) error {
	temp := file + ".tmp"
	if err := os.WriteFile(temp, data, 0o644); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return os.Rename(temp, file)
}

// byHand returns the part that new tables keep.
func byHand(before string) string {
	if at := strings.Index(before, remarks); at >= 0 {
		return before[at:]
	}
	return remarks + "\nNone yet. What stands here is kept when the tables are made again.\n"
}

// Revision is the commit that the checkout of a folder is at, "-dirty" with
// changes; empty outside of git.
func Revision(dir string) string {
	out, err := exec.Command("git", "-C", dir, "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
