package disk

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

// RunFile is in every bundle, whatever else is missing.
const RunFile = "run.json"

// WriteJSON writes one of a bundle's JSON files atomically: a reader sees the
// old file or the whole new one.
//
// Secrets recognised by their form are hidden.
func WriteJSON(dir, file string, v any) error { return WriteRedacted(dir, file, v, nil) }

// WriteRedacted is WriteJSON that also hides the secrets that hide knows. A nil Redactor
// knows only names and forms.
func WriteRedacted(dir, file string, v any, hide *redact.Redactor) error {
	if filepath.Base(file) != file || !strings.HasSuffix(file, ".json") {
		return fmt.Errorf("%q is not the name of a JSON file in a bundle", file)
	}
	var b bytes.Buffer
	if err := EncodeJSON(&b, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
	}
	return Write(dir, file, hide.Document(b.Bytes()))
}

// EncodeJSON writes a value as the JSON files of a bundle are written: indented by two
// blanks, <, > and & as they are, a line break at its end.
func EncodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // people read these files, and no browser parses them as HTML
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Write writes dir/file, for its owner only: a reader sees the old file or the
// whole new one.
func Write(dir, file string, data []byte) error {
	return WriteFile(dir, file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFile writes dir/file in parts, through a temporary file next to it, readable only
// by its owner, as CreateTemp makes it. On any error the old file remains and the
// temporary one is removed, so that a full disk gets its space back.
func WriteFile(dir, file string, write func(io.Writer) error) (err error) {
	path := filepath.Join(dir, file)
	// The name ends in .tmp, so that a reader of the folder that matches by
	// extension never takes a torn file for a whole one.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, WithoutPath(err))
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := buffered(write)(f); err != nil {
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

// WithoutPath strips the temporary file's name from an error; the caller names the
// intended file.
func WithoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Appender appends whole entries to a file. A write that fails half-way (a full disk)
// is undone, so the file always consists of whole entries, and later ones can follow
// once there is room again.
type Appender struct {
	Path string
	f    *os.File
	Size int64 // of the whole entries
	torn bool  // bytes past Size could not be removed yet
}

// NewAppender makes a file, which must not exist, for its owner only.
func NewAppender(path string) (*Appender, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	return &Appender{Path: path, f: f}, nil
}

// Append writes one entry, whole or not at all.
func (a *Appender) Append(entry []byte) error {
	if a.torn {
		if err := a.f.Truncate(a.Size); err != nil {
			return fmt.Errorf("write %s: take back a torn entry: %w", a.Path, WithoutPath(err))
		}
		a.torn = false
	}
	n, err := a.f.WriteAt(entry, a.Size)
	if err != nil {
		// Also when n is 0: os.File forgets bytes written before the error.
		a.torn = a.f.Truncate(a.Size) != nil
		return fmt.Errorf("write %s: %w", a.Path, WithoutPath(err))
	}
	a.Size += int64(n)
	return nil
}

// Close closes the file. What was appended stays.
func (a *Appender) Close() error {
	if err := a.f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", a.Path, WithoutPath(err))
	}
	return nil
}
