package drafts

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Journal is a store that appends what it is given to a file, and knows the latest by name.
type Journal struct {
	out    io.Writer
	latest sync.Map // of []byte, by name
}

// OpenJournal opens the journal in a folder. A durable one survives a power cut.
func OpenJournal(dir string, durable bool) (*Journal, error) {
	f, err := os.OpenFile(filepath.Join(dir, "drafts.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{out: f}
	if durable {
		j.out = settled{f}
	}
	return j, nil
}

// settled is a file whose writes return when they are done.
type settled struct{ file *os.File }

func (s settled) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err == nil {
		err = s.file.Sync()
	}
	return n, err
}

type line struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

// Get returns the latest of a name.
func (j *Journal) Get(name string) ([]byte, error) {
	data, ok := j.latest.Load(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data.([]byte), nil
}

// Put appends a line, in one write.
func (j *Journal) Put(name string, data []byte) error {
	text, err := json.Marshal(line{name, data})
	if err != nil {
		return err
	}
	if _, err := j.out.Write(append(text, '\n')); err != nil {
		return err
	}
	j.latest.Store(name, data)
	return nil
}
