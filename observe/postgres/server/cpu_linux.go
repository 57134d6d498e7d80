package server

import (
	"strings"
	"time"

	"github.com/prometheus/procfs" // parses /proc/PID/stat of the backend and, in each reading, of the postmaster

	"github.com/redline-go/redline/observe"
)

// tick is USER_HZ, in which the kernel reports reaped children.
const tick = 10 * time.Millisecond

// sameHost finds the postmaster through our backend's pid. A process of that
// pid need not be our backend (the server may be in a container or elsewhere),
// so its name and its start must agree with the server's view.
func sameHost(backend int, started time.Time) (*CPU, string) {
	const elsewhere = "they are not on this host, or in a container"
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err.Error()
	}
	proc, err := fs.Proc(backend)
	if err != nil {
		return nil, elsewhere
	}
	stat, err := proc.Stat()
	if err != nil || !strings.HasPrefix(stat.Comm, "postgres") || stat.PPID <= 1 {
		return nil, elsewhere
	}
	// Within seconds: the boot time is in whole seconds, and forking takes a while.
	born, err := stat.StartTime()
	if err != nil || time.Duration(float64(time.Second)*born-float64(started.UnixNano())).Abs() > 3*time.Second {
		return nil, elsewhere
	}
	postmaster, err := fs.Proc(stat.PPID)
	if err != nil {
		return nil, elsewhere
	}
	return &CPU{
		Postmaster:  stat.PPID,
		ProcessTime: observe.CPUTime,
		Reaped: func() (time.Duration, error) {
			st, err := postmaster.Stat()
			return time.Duration(st.CUTime+st.CSTime) * tick, err
		},
	}, ""
}
