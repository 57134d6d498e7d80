package notify

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"sync"
)

// Diary is a file of alerts, one a line.
type Diary struct {
	mu   sync.Mutex
	file *os.File
	buf  *bufio.Writer
	enc  *json.Encoder
}

// OpenDiary opens or makes a diary.
func OpenDiary(path string) (*Diary, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	d := &Diary{file: f, buf: bufio.NewWriterSize(f, 64<<10)}
	d.enc = json.NewEncoder(d.buf)
	return d, nil
}

// Write adds an alert.
func (d *Diary) Write(a Alert) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.enc.Encode(a)
}

// Flush brings all alerts to the disk. It does not hold up Write while the disk works.
func (d *Diary) Flush() error {
	d.mu.Lock()
	err := d.buf.Flush()
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return d.file.Sync()
}

// Close flushes and closes the file.
func (d *Diary) Close() error {
	return errors.Join(d.Flush(), d.file.Close())
}
