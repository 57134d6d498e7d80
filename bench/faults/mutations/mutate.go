package mutations

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// mutator damages the bundle in dir. outside is a folder next to it that must be
// neither read nor written.
type mutator struct {
	*rand.Rand
	dir, outside string
	light        bool // nothing grows larger than a test has time for
}

// most bounds how often something is repeated.
func (m *mutator) most(n int) int {
	if m.light {
		return min(n, 8)
	}
	return n
}

// damage damages one file in one way, sometimes more, and says how.
func (m *mutator) damage() string {
	var reported []string
	for {
		reported = append(reported, m.once())
		if m.IntN(4) > 0 {
			return strings.Join(reported, "; ")
		}
	}
}

func (m *mutator) once() string {
	name := m.file()
	if name == "" {
		return "nothing is left"
	}
	path := filepath.Join(m.dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return name + ": " + err.Error()
	}
	var what string
	switch k := m.IntN(10); {
	case k < 3:
		data, what = m.bytes(data)
	case k < 7:
		data, what = m.form(name, data)
	case k < 8:
		return m.whole()
	default:
		what, err = m.kind(path, data)
		return fmt.Sprintf("%s %s %v", name, what, err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err.Error()
	}
	return name + " " + what
}

// file picks a regular file of the bundle; each kind is equally likely, however many
// files there are of it.
func (m *mutator) file() string {
	kinds := map[string][]string{}
	filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name, _ := filepath.Rel(m.dir, path)
			kind, _, _ := strings.Cut(name, "-w")
			kinds[kind] = append(kinds[kind], name)
		}
		return nil
	})
	var names []string
	for kind := range kinds {
		names = append(names, kind)
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names) // so that the same seed makes the same trial
	files := kinds[names[m.IntN(len(names))]]
	return files[m.IntN(len(files))]
}

// bytes damages data without knowing what it is.
func (m *mutator) bytes(data []byte) ([]byte, string) {
	if len(data) == 0 {
		return []byte(hostile), "filled"
	}
	at := m.IntN(len(data))
	to := at + m.IntN(len(data)-at) + 1
	switch m.IntN(7) {
	case 0:
		n := 1 << m.IntN(8)
		for range n {
			data[m.IntN(len(data))] ^= 1 << m.IntN(8)
		}
		return data, fmt.Sprintf("with %d bits flipped", n)
	case 1:
		return data[:at], fmt.Sprintf("cut at %d", at)
	case 2:
		return slices.Insert(data, m.IntN(len(data)), slices.Clone(data[at:to])...), fmt.Sprintf("with bytes %d to %d twice", at, to)
	case 3:
		return slices.Delete(data, at, to), fmt.Sprintf("without bytes %d to %d", at, to)
	case 4:
		for i := at; i < min(to, at+64); i++ {
			data[i] = 0xff
		}
		return data, fmt.Sprintf("with ones at %d", at)
	case 5:
		other, err := os.ReadFile(filepath.Join(m.dir, m.file()))
		if err != nil {
			return nil, "emptied"
		}
		return append(data[:at], other...), fmt.Sprintf("followed at %d by another file", at)
	}
	for i := at; i < min(to, at+4096); i++ {
		data[i] = byte(m.Uint32())
	}
	return data, fmt.Sprintf("with noise at %d", at)
}

// kind puts something else in a file's place.
func (m *mutator) kind(path string, data []byte) (string, error) {
	if err := os.Remove(path); err != nil {
		return "", err
	}
	secret := filepath.Join(m.outside, "secret")
	switch m.IntN(10) {
	case 0:
		return "missing", nil
	case 1:
		return "a folder", os.MkdirAll(filepath.Join(path, "sub"), 0o755)
	case 2:
		return "a pipe", syscall.Mkfifo(path, 0o644)
	case 3:
		return "a link out", os.Symlink(secret, path)
	case 4:
		return "a link to a device", os.Symlink("/dev/zero", path)
	case 5:
		return "a link to itself", os.Symlink(filepath.Base(path), path)
	case 6:
		if up, err := filepath.Rel(filepath.Dir(path), secret); err == nil {
			return "a relative link out", os.Symlink(up, path)
		}
	case 7:
		parent := filepath.Dir(path)
		if parent == m.dir {
			return "a link to what is not there", os.Symlink(filepath.Join(m.outside, "made"), path)
		}
		os.RemoveAll(parent)
		return "in a folder that is a link out", os.Symlink(m.outside, parent)
	case 8:
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return "", err
		}
		return "sparse", os.Truncate(path, 1<<(20+m.IntN(11)))
	}
	if os.Getuid() == 0 && syscall.Mknod(path, syscall.S_IFCHR|0o644, 1<<8|5) == nil { // as /dev/zero
		return "a device", nil
	}
	return "gone", nil
}
