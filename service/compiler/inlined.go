package compiler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/scratch"
)

// Call is a call that the compiler replaced by the body of the callee.
type Call struct {
	Path   string // absolute
	Line   int    // from 1
	Callee string // as the compiler names it: "strings.HasPrefix", "(*Store).Order"
}

// maxCalls bounds the calls that are kept.
const maxCalls = 200_000

// Inlined compiles the main package in dir with further flags of go build, and returns the calls
// that were inlined in packages, given as import paths. -m is replayed from the build
// cache, so that asking again costs little. An error holds the compiler's own last lines.
func Inlined(ctx context.Context, dir string, flags []string, packages ...string) ([]Call, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("ask the compiler: %w", err)
	}
	folder, err := scratch.New("compiler")
	if err != nil {
		return nil, fmt.Errorf("ask the compiler: %w", err)
	}
	defer folder.Remove()
	args := append([]string{"build", "-o", filepath.Join(folder.Path, "target")}, flags...)
	for _, p := range packages {
		args = append(args, "-gcflags="+p+"=-m")
	}
	text, err := guard.CombinedOutput(ctx, Command(dir, folder.Path, append(args, ".")...), syscall.SIGINT)
	if err != nil {
		return nil, fmt.Errorf("ask the compiler: %w: %s", err, lastLines(string(text)))
	}
	return readInlined(strings.NewReader(string(text)), dir)
}

var inlining = regexp.MustCompile(`^([^:]+\.go):(\d+):\d+: inlining call to (.+)$`)

// readInlined reads the compiler's -m; it skips lines about other things.
func readInlined(r io.Reader, dir string) (calls []Call, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() && len(calls) < maxCalls {
		m := inlining.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		line, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, fmt.Errorf("compiler's remarks: %.80q: %w", lines.Text(), err)
		}
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		calls = append(calls, Call{path, line, m[3]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("compiler's remarks: %w", err)
	}
	return calls, nil
}
