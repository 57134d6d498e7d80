package operations

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
)

// Write writes the counts so far, one item per line:
//
//	op ID KIND FIGURES "TEXT"
//	duplicates ID CALLS
//	at ID STACK FIGURES
//	stack STACK
//	frame LINE "FUNCTION" "FILE"
//
// FIGURES are calls, errors, ns, longest ns, rows, opened connections, calls without a
// deadline, and ns that connections were held. Those of callers count only the calls
// whose stack was taken. Duplicates are calls that began while one like them was under
// way (Identify); the line is missing where there are none. Frames follow their stack,
// innermost first. Operation 0 stands for all beyond the bounds.
func Write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 32<<10)
	all.mu.RLock()
	count := all.count
	all.mu.RUnlock()
	for id := 0; id < count; id++ {
		all.mu.RLock()
		s := all.shapes[id]
		all.mu.RUnlock()
		fmt.Fprintf(b, "op %d %d %s %s\n", id, s.kind, s.figures.text(), strconv.Quote(s.text))
		if n := atomic.LoadInt64(&s.duplicates); n > 0 {
			fmt.Fprintf(b, "duplicates %d %d\n", id, n)
		}
	}
	all.cellMu.RLock()
	lines := make([]string, 0, len(all.cells))
	for key, c := range all.cells {
		lines = append(lines, fmt.Sprintf("at %d %d %s\n", key>>16, key&0xffff, c.text()))
	}
	all.cellMu.RUnlock()
	for _, line := range lines {
		_, _ = b.WriteString(line)
	}
	all.stackMu.RLock()
	stacks := all.stacks
	all.stackMu.RUnlock()
	for id, pcs := range stacks {
		if id > 0 {
			fmt.Fprintf(b, "stack %d\n", id)
			writeFrames(b, pcs)
		}
	}
	return b.Flush()
}

func (f *figures) text() string {
	n := [...]*int64{&f.calls, &f.errors, &f.nanos, &f.longest, &f.rows, &f.opened, &f.undated, &f.held}
	words := make([]string, len(n))
	for i, p := range n {
		words[i] = strconv.FormatInt(atomic.LoadInt64(p), 10)
	}
	return strings.Join(words, " ")
}

// writeFrames leaves out the hooks and the functions that they wrap.
func writeFrames(b *bufio.Writer, pcs []uintptr) {
	if len(pcs) == 0 {
		return
	}
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		if f.Function != "" && !ours(f.Function) {
			fmt.Fprintf(b, "frame %d %s %s\n", f.Line, strconv.Quote(f.Function), strconv.Quote(f.File))
		}
		if !more {
			return
		}
	}
}

func ours(function string) bool {
	dot := strings.LastIndexByte(function, '.')
	return strings.HasPrefix(function[dot+1:], "redline") || strings.Contains(function, "/redlineprobe/operations.")
}
