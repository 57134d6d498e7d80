package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Bounds on files.
const (
	maxDescriptors = 4096
	maxDatabases   = 8
)

// magic begins each database file (https://www.sqlite.org/fileformat2.html, 1.3).
const magic = "SQLite format 3\x00"

// file is a database that a process has open.
type file struct {
	path string // as the process knows it; for its base name
	open string // where to open it
	wal  string // the same of its write-ahead log; "" without one
	why  string // why it must not be read; "" when it may
}

// find returns the databases that a process has open, and those among closed, paths as the process knows them, that it had open.
func find(pid int, closed []string) ([]file, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	owner, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	fds, err := os.Open(filepath.Join(dir, "fd"))
	if err != nil {
		return nil, err
	}
	defer fds.Close()
	names, err := fds.Readdirnames(maxDescriptors)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	byPath := map[string]string{}
	for _, name := range names {
		at := filepath.Join(dir, "fd", name)
		if target, err := os.Readlink(at); err == nil && filepath.IsAbs(target) {
			byPath[target] = at
		}
	}
	for _, path := range closed {
		for _, path := range []string{path, path + "-wal"} {
			if at := filepath.Join(dir, "root", path); byPath[path] == "" && regular(at) {
				byPath[path] = at
			}
		}
	}
	var list []file
	for path, at := range byPath {
		why, ok := readable(at, owner)
		if !ok {
			continue
		}
		if len(list) == maxDatabases {
			break
		}
		list = append(list, file{path: path, open: at, wal: byPath[path+"-wal"], why: why})
	}
	return list, nil
}

// regular reports whether a path is a regular file itself: what was a database may be a link by now, to anything.
func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// readable reports whether a descriptor leads to a database, and why that must not be
// read.
func readable(at string, process os.FileInfo) (why string, ok bool) {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() < headerSize {
		return "", false
	}
	mine, known := info.Sys().(*syscall.Stat_t)
	its, knownToo := process.Sys().(*syscall.Stat_t)
	if !known || !knownToo || mine.Uid != its.Uid && mine.Uid != uint32(os.Getuid()) {
		return "the file belongs to another user than the target's", looksLike(at)
	}
	return "", looksLike(at)
}

// looksLike reports whether a file begins as a database does: "SQLite format 3" and a
// zero (https://www.sqlite.org/fileformat2.html, 1.3).
func looksLike(at string) bool {
	f, err := openRegular(at)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = f.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// openRegular opens a regular file, and never blocks on one of another kind.
func openRegular(at string) (*os.File, error) {
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, fmt.Errorf("%s is not a regular file", at)
	}
	return f, nil
}

// Sizes of the formats' fixed parts.
const (
	headerSize    = 100
	walHeaderSize = 32
	walFrameSize  = 24
	// maxFrames frames of a log are read: 1 GiB of pages of 4 KiB. Pages committed
	// after them are not seen.
	maxFrames = 1 << 18
)

// pages is a database's content: its file, and the newer pages in its log.
type pages struct {
	file, log *os.File // log is nil without a write-ahead log
	// size is the database's in bytes, with the pages that are only in the log; page
	// is that of a page.
	size, page int64
	inLog      map[int64]int64 // page number, from 0, to its offset in the log
	wal        bool            // the journal mode
}

// openPages opens a database without a lock: even a shared one would hold up a writer of
// the target (https://www.sqlite.org/lockingv3.html). Its pages may thus be torn; plans
// need only those of the schema and the statistics, and SQLite reports a torn one.
func openPages(f file) (p *pages, err error) {
	p = &pages{inLog: map[int64]int64{}}
	if p.file, err = openRegular(f.open); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	head := make([]byte, headerSize)
	if _, err = p.file.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	// The field has 16 bits, so 1 stands for 65536 (fileformat2.html, 1.3.2).
	if p.page = int64(binary.BigEndian.Uint16(head[16:])); p.page == 1 {
		p.page = 65536
	}
	if p.page < 512 || p.page&(p.page-1) != 0 {
		return nil, fmt.Errorf("pages of %d bytes", p.page)
	}
	info, err := p.file.Stat()
	if err != nil {
		return nil, err
	}
	// Byte 18 is the write version: 1 for a rollback journal, 2 for a write-ahead log (1.3.3).
	p.size, p.wal = info.Size(), head[18] == 2
	if f.wal == "" {
		return p, nil
	}
	if p.log, err = openRegular(f.wal); err != nil {
		return nil, err
	}
	return p, p.readLog()
}

// readLog finds the pages of the committed transactions in the log: frames whose salts
// are the header's, up to the last one that ends a transaction.
func (p *pages) readLog() error {
	head := make([]byte, walHeaderSize)
	if _, err := p.log.ReadAt(head, 0); err != nil {
		if errors.Is(err, io.EOF) {
			return nil // nothing was written yet
		}
		return fmt.Errorf("read the log: %w", err)
	}
	// The magic's last bit says in which byte order the checksums are. They are not
	// verified: a frame that is half written is torn, which openPages accepts.
	if m := binary.BigEndian.Uint32(head); m&^1 != 0x377f0682 {
		return nil // never begun, or reset
	}
	if int64(binary.BigEndian.Uint32(head[8:])) != p.page {
		return errors.New("the log's pages have another size than the database's")
	}
	// A frame's header: page number from 1, the database's size in pages if a transaction
	// ends here or else 0, and the salts, which identify frames of an earlier round of the
	// log, because it is overwritten from its start (fileformat2.html, 4.1).
	frame, pending := make([]byte, walFrameSize), map[int64]int64{}
	for i := range int64(maxFrames) {
		at := walHeaderSize + i*(walFrameSize+p.page)
		if _, err := p.log.ReadAt(frame, at); err != nil || string(frame[8:16]) != string(head[16:24]) {
			break
		}
		pending[int64(binary.BigEndian.Uint32(frame))-1] = at + walFrameSize
		if size := int64(binary.BigEndian.Uint32(frame[4:])); size > 0 {
			p.size = size * p.page
			for page, offset := range pending {
				p.inLog[page] = offset
			}
			clear(pending)
		}
	}
	return nil
}

// ReadAt reads the file as if the write-ahead log were checkpointed into it and the journal
// mode were not WAL, so that SQLite looks for no log.
func (p *pages) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) && off < p.size {
		page, within := off/p.page, off%p.page
		part := b[n:min(len(b), n+int(min(p.page-within, p.size-off)))]
		from, at := p.file, off
		if offset, ok := p.inLog[page]; ok {
			from, at = p.log, offset+within
		}
		k, err := from.ReadAt(part, at)
		if err != nil {
			return n + k, err
		}
		for i := range part {
			// Bytes 18 and 19 are the versions to write and to read.
			if o := off + int64(i); o == 18 || o == 19 {
				part[i] = 1
			}
		}
		n, off = n+k, off+int64(k)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// close closes the files.
func (p *pages) close() {
	_ = p.file.Close()
	if p.log != nil {
		_ = p.log.Close()
	}
}
