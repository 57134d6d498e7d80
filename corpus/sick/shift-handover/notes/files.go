package notes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const shelves = 32

// Files is a store of one file per note, which outlives a loss of power.
type Files struct{ dir string }

// OpenFiles makes or opens a store in a folder.
func OpenFiles(dir string) (*Files, error) {
	for i := range shelves {
		if err := os.MkdirAll(filepath.Join(dir, shelf(i)), 0o700); err != nil {
			return nil, fmt.Errorf("notes: %w", err)
		}
	}
	return &Files{dir}, nil
}

func shelf(i int) string { return fmt.Sprintf("%02x", i%shelves) }

func (f *Files) path(id string) (string, error) {
	if id == "" || len(id) > 64 || strings.ContainsAny(id, `/\.`) {
		return "", fmt.Errorf("notes: %q is no id", id)
	}
	sum := 0
	for _, c := range []byte(id) {
		sum = sum*31 + int(c)
	}
	return filepath.Join(f.dir, shelf(sum&0xffff), id+".json"), nil
}

// Save implements Store: whoever reads meets the old note or the new one.
func (f *Files) Save(ctx context.Context, n Note) error {
	path, err := f.path(n.ID)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(n); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return replace(path, text.Bytes())
}

func replace(path string, text []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, temp.Close(), os.Remove(temp.Name()))
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return temp.Close()
}

// Load implements Store.
func (f *Files) Load(_ context.Context, id string) (n Note, err error) {
	path, err := f.path(id)
	if err != nil {
		return n, ErrUnknown
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, ErrUnknown
	}
	if err != nil {
		return n, fmt.Errorf("notes: %w", err)
	}
	return n, json.Unmarshal(text, &n)
}
