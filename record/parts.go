package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/windows"
)

// During a long run its windows and histograms are in several files, each for the slots
// (minutes) from first to last, with values that stand for that many windows:
//
//	journal/15_15.x1.journal
//	journal/0_9.x100.hlog
//
// The run's first slot is written to windows.journal and latency.hlog, which move
// here when they are full. Files are joined to coarser ones as they grow old. The
// coarser file appears whole, by a rename, before the finer ones go; a reader that
// finds both takes the coarser.
const (
	journalFile = "windows.journal"
	partsDir    = "journal"

	journalExt = "journal"
	hlogExt    = "hlog"
)

var partName = regexp.MustCompile(`^(-?\d{1,12})_(-?\d{1,12})\.x(\d{1,5})\.(journal|hlog)$`)

// part is one of these files.
type part struct {
	first, last int64 // slots
	factor      int64
	ext         string
	path        string // in the bundle
	size        int64  // bytes
	points      int    // values, where they were counted
}

func partPath(first, last, factor int64, ext string) string {
	return path.Join(partsDir, fmt.Sprintf("%d_%d.x%d.%s", first, last, factor, ext))
}

// parsePart is the inverse of partPath, from the name without the folder.
func parsePart(name string) (part, bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return part{}, false
	}
	p := part{ext: m[4], path: path.Join(partsDir, name)}
	var errs [3]error
	p.first, errs[0] = strconv.ParseInt(m[1], 10, 64)
	p.last, errs[1] = strconv.ParseInt(m[2], 10, 64)
	p.factor, errs[2] = strconv.ParseInt(m[3], 10, 64)
	return p, errors.Join(errs[:]...) == nil && p.first <= p.last && p.factor >= 1 && p.factor <= windows.MaxFactor
}

// listParts returns the parts of a bundle that count, in order of time, without those
// that a coarser one replaces.
func listParts(dir, ext string) ([]part, error) {
	f, err := os.OpenInRoot(dir, partsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, partsDir), disk.WithoutPath(err))
	}
	defer f.Close()
	entries, err := f.Readdir(MaxFiles + 1)
	if len(entries) > MaxFiles {
		return nil, fmt.Errorf("open %s: more than %d files", filepath.Join(dir, partsDir), MaxFiles)
	}
	if err != nil && len(entries) == 0 {
		return nil, nil // io.EOF: the folder is empty
	}
	var all []part
	for _, e := range entries {
		if p, ok := parsePart(e.Name()); ok && p.ext == ext {
			p.size = e.Size()
			all = append(all, p)
		}
	}
	return current(all), nil
}

// current drops the parts whose slots are in a coarser one, and sorts the others.
func current(all []part) []part {
	slices.SortFunc(all, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.factor, a.factor), cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last))
	})
	var kept []part
	for _, p := range all {
		if _, replaced := covering(kept, p); !replaced {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.factor, a.factor), cmp.Compare(a.path, b.path))
	})
	return kept
}

// covering returns the part of a larger factor that holds all slots of p.
func covering(kept []part, p part) (part, bool) {
	for _, k := range kept {
		if k.factor > p.factor && k.first <= p.first && p.last <= k.last {
			return k, true
		}
	}
	return part{}, false
}

// openJournal reads the windows of a run that was not closed, or is being
// closed, from its journal's parts.
func openJournal(dir string, width time.Duration) (*windows.Table, error) {
	parts, err := listParts(dir, journalExt)
	if err != nil {
		return nil, err
	}
	t := windows.New(width)
	err = readPart(dir, journalFile, 1, t)
	found := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var size int64
	for _, p := range parts {
		if size += p.size; size > MaxJournal {
			return nil, fmt.Errorf("open %s: more than %d bytes", filepath.Join(dir, partsDir), MaxJournal)
		}
		if err := readPart(dir, p.path, p.factor, t); err != nil {
			return nil, err
		}
		found = true
	}
	if !found {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, journalFile), fs.ErrNotExist)
	}
	t.Finish()
	return t, nil
}

func readPart(dir, name string, factor int64, t *windows.Table) error {
	f, _, err := disk.Open(dir, name, MaxJournal)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := windows.ReadJournal(f, t, factor); err != nil {
		return fmt.Errorf("open %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}
