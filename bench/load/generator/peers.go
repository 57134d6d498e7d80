//go:build linux

package generator

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// PeerNames are the tools that redline is compared with.
func PeerNames() []string {
	return []string{"wrk", "h2load", "ab", "k6", "hey", "fortio", "ghz"}
}

// systemPeers are those that a distribution packages: the flag by which each prints
// its version, and the name of its package in Debian.
var systemPeers = map[string]struct{ flag, pkg string }{
	"wrk": {"-v", "wrk"}, "h2load": {"--version", "nghttp2-client"}, "ab": {"-V", "apache2-utils"},
}

// FindPeers looks for each peer, by name, and returns the versions of those that it
// found. Peers that are not wanted or not available are skipped, with the reason in
// Why. If build is false none is built that is not in the cache.
func FindPeers(ctx context.Context, wanted []string, build bool, say func(format string, args ...any)) (
	peers map[string]*Tool, versions map[string]string,
) {
	peers, versions = map[string]*Tool{}, map[string]string{}
	for _, t := range []*Tool{wrk(), h2load(), ab(), k6(), hey(), fortio(), ghz()} {
		peers[t.Name] = t
		if !slices.Contains(wanted, t.Name) {
			t.Why = "not among -peers"
			continue
		}
		version, err := t.find(ctx, build, say)
		if err != nil {
			t.Why = err.Error()
			say("%s is skipped: %v", t.Name, err)
			continue
		}
		versions[t.Name] = version
	}
	return peers, versions
}

// find sets the tool's program and returns its version.
func (t *Tool) find(ctx context.Context, build bool, say func(format string, args ...any)) (version string, err error) {
	system, packaged := systemPeers[t.Name]
	if !packaged {
		t.Path, err = install(ctx, t.Name, build, say)
		return pinned[t.Name].version, err
	}
	if t.Path, err = exec.LookPath(t.Name); err != nil {
		t.Path = ""
		return "", fmt.Errorf("not installed (hint: apt-get install %s)", system.pkg)
	}
	return Version(t.Path, system.flag), nil
}

var version = regexp.MustCompile(`\d+\.\d+[.\w-]*`)

// Version asks a program from PATH for its version; empty if it prints none.
func Version(path, flag string) string {
	// wrk exits 1 after it printed its version.
	out, _ := exec.Command(path, flag).CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")
	return version.FindString(line)
}
