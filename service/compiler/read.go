package compiler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Bounds on a compiler's remarks on one file; generated files reach some
// megabytes.
const (
	maxLine    = 1 << 20
	maxRemarks = 200_000
	maxFlow    = 8
)

// File holds the compiler's remarks on one source file.
type File struct {
	Package string // as the compiler names it: "main" for any main package
	Path    string // absolute
	Remarks []Placed
}

// Placed is a remark with its position, both from 1.
type Placed struct {
	Line, Column int
	code.Remark
}

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type diagnostic struct {
	Range   struct{ Start position } `json:"range"`
	Code    string                   `json:"code"`
	Message string                   `json:"message"`
	Related []struct {
		Location struct {
			URI   string                   `json:"uri"`
			Range struct{ Start position } `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	} `json:"relatedInformation"`
}

// read reads one file of the compiler's remarks. It skips remarks of other kinds than
// this package's. A line that is too long or not JSON is an error with its number.
func read(r io.Reader) (File, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var header struct {
		Version *int   `json:"version"`
		Package string `json:"package"`
		File    string `json:"file"`
	}
	if !lines.Scan() {
		return File{}, cmpErr(lines.Err(), io.ErrUnexpectedEOF)
	}
	if err := json.Unmarshal(lines.Bytes(), &header); err != nil {
		return File{}, fmt.Errorf("compiler's remarks: line 1: %w", err)
	}
	if header.Version == nil || *header.Version != 0 {
		return File{}, fmt.Errorf("compiler's remarks: not of version 0: %.80q", lines.Text())
	}
	f := File{Package: header.Package, Path: header.File}
	for n := 2; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var d diagnostic
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return File{}, fmt.Errorf("compiler's remarks: line %d: %w", n, err)
		}
		if remark, ok := d.remark(); ok && len(f.Remarks) < maxRemarks {
			f.Remarks = append(f.Remarks, Placed{d.Range.Start.Line, d.Range.Start.Character, remark})
		}
	}
	if err := lines.Err(); err != nil {
		return File{}, fmt.Errorf("compiler's remarks: %w", err)
	}
	return f, nil
}

func cmpErr(err, otherwise error) error {
	if err == nil {
		err = otherwise
	}
	return fmt.Errorf("compiler's remarks: %w", err)
}

// remark turns a diagnostic into a remark; ok is false for other kinds, and for
// the echo without text that follows each escape.
func (d diagnostic) remark() (r code.Remark, ok bool) {
	switch d.Code {
	case "escape", "escapes":
		return code.Remark{Kind: code.Escapes, Text: d.Message, Flow: d.flow()}, d.Message != ""
	case "cannotInlineFunction":
		return code.Remark{Kind: code.NotInlined, Text: d.Message}, d.Message != ""
	case "isInBounds":
		return code.Remark{Kind: code.BoundsCheck, Text: "the index is checked at run time"}, true
	case "isSliceInBounds":
		return code.Remark{Kind: code.BoundsCheck, Text: "the slice's bounds are checked at run time"}, true
	}
	return code.Remark{}, false
}

// flow describes the steps by which a value escapes. The compiler writes each as
// "from X (why)" between headings that name its destination; the headings name its own
// temporaries and are left out.
func (d diagnostic) flow() []string {
	var steps []string
	for _, r := range d.Related {
		text := strings.TrimSpace(strings.TrimPrefix(r.Message, "escflow:"))
		step, ok := strings.CutPrefix(text, "from ")
		if !ok || strings.HasSuffix(step, "(spill)") || len(steps) == maxFlow {
			continue
		}
		steps = append(steps, fmt.Sprintf("%s at %s:%d", step, path.Base(r.Location.URI), r.Location.Range.Start.Line))
	}
	return steps
}
