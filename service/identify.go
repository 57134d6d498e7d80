package service

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/redline-go/redline/record"
)

// maxModules bounds the modules that are kept of a binary; Kubernetes has some 250.
const maxModules = 1024

// describeBinary reads the Go toolchain's build information in the target's binary. A
// target that is not Go, or that we may not read, keeps the fields empty.
func describeBinary(t *record.Target) {
	if t.PID == 0 {
		return
	}
	info, err := buildinfo.ReadFile(executable(t.PID))
	if err != nil {
		return
	}
	t.GoVersion, t.MainPkg, t.Module = info.GoVersion, info.Path, info.Main.Path
	t.Modules = nil
	for _, dep := range info.Deps[:min(len(info.Deps), maxModules)] {
		t.Modules = append(t.Modules, dep.Path)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Revision = s.Value
		case "vcs.modified":
			t.Modified = s.Value == "true"
		}
	}
}

// listener returns the process that listens at the URL's address: `go run` and shells
// put a process between us and the service. It is an error if the address does not
// belong to this host or the process is not visible. prefer is the process to choose if
// several listen there, or else one that it started.
func listener(ctx context.Context, rawURL string, prefer int) (int, error) {
	host, port, err := net.SplitHostPort(dialAddress(rawURL))
	if err != nil {
		return 0, err
	}
	ips, err := lookup(ctx, host)
	if err != nil {
		return 0, err
	}
	if !local(ips) {
		return 0, fmt.Errorf("%s is not an address of this host", host)
	}
	return listeningProcess(ips, port, prefer)
}

// lookupWithin bounds the wait for a name's addresses: a server of names that does not answer holds up no run.
const lookupWithin = 5 * time.Second

// lookup returns the addresses that a host's name stands for.
func lookup(ctx context.Context, host string) ([]net.IP, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, err
	}
	ips := make([]net.IP, len(found))
	for i, a := range found {
		ips[i] = a.IP
	}
	return ips, nil
}

// local reports whether one of some addresses is this machine's.
func local(ips []net.IP) bool {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, ip := range ips {
		if ip.IsLoopback() || ip.IsUnspecified() {
			return true
		}
		for _, a := range own {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
				return true
			}
		}
	}
	return false
}

func executable(pid int) string {
	if path := fmt.Sprintf("/proc/%d/exe", pid); exists(path) {
		return path
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
