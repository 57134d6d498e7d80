package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redline-go/redline/redact"
)

// The JSON files of a bundle, by name, for ReadJSON and WriteJSON.
const (
	StatementsFile = "statements.json"
	AnatomyFile    = "anatomy.json"
	FindingsFile   = "findings.json"
	SummaryFile    = "summary.json"

	runFile = "run.json"
)

// WriteJSON writes one of a bundle's JSON files atomically: a reader sees the
// old file or the whole new one.
//
// Secrets known by their form are hidden in it.
func WriteJSON(dir, file string, v any) error { return writeJSON(dir, file, v, nil) }

func writeJSON(dir, file string, v any, hide *redact.Redactor) error {
	if filepath.Base(file) != file || !strings.HasSuffix(file, ".json") {
		return fmt.Errorf("%q is not the name of a JSON file in a bundle", file)
	}
	var b bytes.Buffer
	if err := EncodeJSON(&b, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
	}
	return writeAtomic(dir, file, hide.Document(b.Bytes()))
}

// EncodeJSON writes a value as the JSON files of a bundle are written.
func EncodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // people read these files, and no browser parses them as HTML
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeAtomic writes dir/file through a temporary file next to it.
func writeAtomic(dir, file string, data []byte) error {
	return writeAtomicFunc(dir, file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeAtomicFunc does the same for a file that is written in parts. It is
// its owner's alone, as CreateTemp makes it. On any error the old file stands and
// the temporary one is gone, so that a full disk gets its space back.
func writeAtomicFunc(dir, file string, write func(io.Writer) error) (err error) {
	path := filepath.Join(dir, file)
	// The name ends in .tmp, so that a reader of the folder that matches by
	// extension never takes a torn file for a whole one.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, withoutPath(err))
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	// Some file systems report a full disk only here.
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// withoutPath strips the temporary file's name from an error; the file that
// was meant is named by the caller.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// appendFile appends whole entries to a file. A write that fails half way (a
// full disk) is taken back, so that the file's content is always a run of
// whole entries, and later ones can follow when there is room again.
type appendFile struct {
	path string
	f    *os.File
	size int64 // of the whole entries
	torn bool  // bytes past size could not be taken back yet
}

func createAppend(path string) (*appendFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	return &appendFile{path: path, f: f}, nil
}

func (a *appendFile) append(entry []byte) error {
	if a.torn {
		if err := a.f.Truncate(a.size); err != nil {
			return fmt.Errorf("write %s: take back a torn entry: %w", a.path, withoutPath(err))
		}
		a.torn = false
	}
	n, err := a.f.WriteAt(entry, a.size)
	if err != nil {
		// Also when n is 0: os.File forgets bytes written before the error.
		a.torn = a.f.Truncate(a.size) != nil
		return fmt.Errorf("write %s: %w", a.path, withoutPath(err))
	}
	a.size += int64(n)
	return nil
}

func (a *appendFile) close() error {
	if err := a.f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", a.path, withoutPath(err))
	}
	return nil
}
