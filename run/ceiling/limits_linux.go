package ceiling

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix" // limits of the process
)

// ReadLimits reads the kernel's limits: Documentation/networking/ip-sysctl.rst and
// nf_conntrack-sysctl.rst of the kernel.
func ReadLimits() Limits {
	l := Limits{
		Backlog: number("net/core/somaxconn", 0), SynBacklog: number("net/ipv4/tcp_max_syn_backlog", 0),
		Buffers: number("net/ipv4/tcp_mem", 2) * int64(os.Getpagesize()),
		Socket:  number("net/ipv4/tcp_rmem", 1) + number("net/ipv4/tcp_wmem", 1),
	}
	if first, last := number("net/ipv4/ip_local_port_range", 0), number("net/ipv4/ip_local_port_range", 1); last > first {
		l.Ports = last - first + 1
	}
	if l.MostConntrack = number("net/netfilter/nf_conntrack_max", 0); l.MostConntrack > 0 {
		l.Conntrack = max(0, l.MostConntrack-number("net/netfilter/nf_conntrack_count", 0))
	}
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		l.Files, l.MostFiles = int64(min(files.Cur, 1<<62)), int64(min(files.Max, 1<<62))
	}
	return l
}

// number returns a field of a sysctl; 0 if there is none.
func number(name string, field int) int64 {
	text, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if field >= len(fields) {
		return 0
	}
	n, err := strconv.ParseInt(fields[field], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
