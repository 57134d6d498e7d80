package process

import (
	"errors"
	"io/fs"
	"time"

	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record/series"
)

// privilege ends a sentence about a file that only its owner may read.
const privilege = "run redline as the target's user or as root"

// io reads /proc/<pid>/io (proc_pid_io(5)): read_bytes and write_bytes are the bytes that
// reached storage; rchar and wchar, which count sockets too, are not used.
func (s *state) io() {
	t := &s.tree
	ok := false
	at, _ := s.bracket.Read(s.clock, func() error {
		for _, m := range t.members {
			text, err := s.files.Read(s.path(m.pid, "/io"))
			switch {
			case errors.Is(err, fs.ErrPermission):
				s.say("storage I/O of process %d: permission denied (%s)", m.pid, privilege)
			case pseudofile.Gone(err): // ended since the members were listed
			case err != nil:
				s.say("storage I/O of process %d: %v", m.pid, err)
			default:
				read, fine := pseudofile.Keyed(text, "read_bytes")
				written, alsoFine := pseudofile.Keyed(text, "write_bytes")
				if fine && alsoFine {
					t.read.add(m.pid, read, false)
					t.write.add(m.pid, written, false)
					ok = true
				}
			}
		}
		return nil
	})
	if !ok {
		return
	}
	t.read.next()
	t.write.next()
	s.meter.Count(series.ProcessReadBytes, "", at, float64(t.read.total))
	s.meter.Count(series.ProcessWriteBytes, "", at, float64(t.write.total))
}

// descriptors delivers the descriptors of the process that is nearest to its limit of open
// files: each process has its own limit, so sums over several would hide the one that runs
// out.
func (s *state) descriptors(edge time.Duration) {
	var open, limit uint64
	known := false
	for _, m := range s.tree.members {
		p, err := s.fs.Proc(m.pid)
		if err != nil {
			continue // ended since
		}
		// Since Linux 6.2 the size of /proc/<pid>/fd is the number. Before that the directory
		// is listed, which takes milliseconds for a process with 100,000 descriptors.
		n, err := p.FileDescriptorsLen()
		if errors.Is(err, fs.ErrPermission) {
			s.say("descriptors of process %d: permission denied (%s)", m.pid, privilege)
		}
		if err != nil {
			continue
		}
		limits, err := p.Limits()
		// A limit of 0 may be set while descriptors are open; it allows no division.
		if err != nil || limits.OpenFiles == 0 {
			continue
		}
		if !known || float64(n)/float64(limits.OpenFiles) > float64(open)/float64(limit) {
			open, limit, known = uint64(n), limits.OpenFiles, true
		}
	}
	if known {
		s.meter.Gauge(series.ProcessFDs, "", edge, float64(open))
		s.meter.Gauge(series.ProcessFDLimit, "", edge, float64(limit))
	}
}
