package service

import (
	"bytes"
	"debug/buildinfo"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Bounds on a target's unread gctrace lines: some seconds of the busiest collector.
const (
	gcQueue = 1024
	gcWidth = 400 // bytes per line; the runtime's have about 150
)

const (
	probeModule = "github.com/redline-go/redline/probe"
	// probePackage is the one that a program imports to have the probe.
	probePackage = probeModule + "/auto"
	gcSetting    = "gctrace="
)

// gcLines is a target's standard error. It keeps the lines of the collector
// (GODEBUG=gctrace=1). Those that redline asked for do not reach next, the kept end of the
// output, where they would take the place of the target's own lines.
type gcLines struct {
	next  io.Writer
	asked bool // whether redline asked for the lines

	mu      sync.Mutex
	partial []byte // of the line that is being written, up to gcWidth
	lines   []gcLine
}

type gcLine struct {
	came time.Time
	text string
}

// Write takes the target's output. The runtime writes a line in pieces.
func (g *gcLines) Write(p []byte) (int, error) {
	rest := p
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		if err := g.piece(rest[:end]); err != nil {
			return 0, err
		}
		rest = rest[end:]
	}
	return len(p), nil
}

// piece takes a line's piece, or its end.
func (g *gcLines) piece(p []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.partial)
	g.partial = append(g.partial, p[:min(len(p), gcWidth-before)]...)
	whole := p[len(p)-1] == '\n'
	might := mightBeGC(g.partial)
	if whole {
		defer func() { g.partial = g.partial[:0] }()
	}
	// The end of a longer line is not in partial: its beginning was passed on before.
	if might && bytes.HasSuffix(g.partial, []byte("\n")) && bytes.Contains(g.partial, []byte(" ms clock, ")) {
		g.keep(strings.TrimRight(string(g.partial), "\r\n"))
		if g.asked {
			return nil
		}
	}
	if g.asked && might && !whole && len(g.partial) < gcWidth {
		return nil // held back until its kind is known
	}
	if g.asked && mightBeGC(g.partial[:before]) && before < gcWidth {
		p = append(g.partial[:before:before], p...) // with the part that was held back
	}
	_, err := g.next.Write(p)
	return err
}

// mightBeGC reports whether a line that begins so may be one of gctrace:
// "gc 12 @0.3s ...". An empty one may become one.
func mightBeGC(line []byte) bool {
	const begin = "gc "
	if len(line) <= len(begin) {
		return strings.HasPrefix(begin, string(line))
	}
	return bytes.HasPrefix(line, []byte(begin)) && line[len(begin)] >= '0' && line[len(begin)] <= '9'
}

func (g *gcLines) keep(text string) {
	if len(g.lines) == gcQueue { // unread: the newest are worth more
		g.lines = append(g.lines[:0], g.lines[gcQueue/2:]...)
	}
	g.lines = append(g.lines, gcLine{time.Now(), text})
}

// read returns the oldest line that was not read yet.
func (g *gcLines) read() (came time.Time, line string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.lines) == 0 {
		return time.Time{}, "", false
	}
	first := g.lines[0]
	g.lines = g.lines[1:]
	return first.came, first.text, true
}

// gcTrace returns the setting that makes a command's runtime print its collections; added
// is its environment in addition to redline's own. It returns nil if they must not be
// printed: a program with the probe reports more at less cost, and the go command would
// print the compiler's collections.
func gcTrace(command, added []string) (*gcLines, []string) {
	path, err := exec.LookPath(command[0])
	if err != nil || filepath.Base(path) == "go" {
		return nil, added
	}
	if info, err := buildinfo.ReadFile(path); err == nil {
		for _, dep := range info.Deps {
			if dep.Path == probeModule {
				return nil, added
			}
		}
	}
	settings := os.Getenv("GODEBUG")
	for _, pair := range added {
		if value, ok := strings.CutPrefix(pair, "GODEBUG="); ok {
			settings = value
		}
	}
	if strings.Contains(","+settings, ","+gcSetting) {
		return &gcLines{}, added // as the user wants it
	}
	return &gcLines{asked: true}, append(added, "GODEBUG="+strings.Trim(settings+",gctrace=1", ","))
}
