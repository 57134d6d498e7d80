// Package document reads a scenario's YAML into a Plan. It continues after a mistake,
// so that a person sees all of them at once, each with its place and a hint.
//
// Unknown keys and wrong units are mistakes, never warnings. Files that the document
// names are read through the fs.FS it is given: from its folder or below.
package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml" // YAML with the position of every node
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/mistake"
)

// Bounds of a scenario file. Data belongs in CSV files; the rest is small,
// and the parser's time grows with the square of the nesting.
const (
	MaxFile    = 256 << 10 // bytes
	maxLines   = 10_000
	maxLine    = 16 << 10 // bytes of one line
	maxNesting = 64
)

// Read reads and parses the scenario file at path. The data files it names lie
// in its folder or below.
func Read(path string) (*scenario.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("scenario %s: it is a directory, not a file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return Parse(os.DirFS(filepath.Dir(path)), path, data)
}

// Parse parses a scenario. name stands for it in errors; fsys holds the data
// files that it names. The error is of type mistake.Errors if the text is at fault.
//
// Variables ($NAME, ${NAME}; $$ is a dollar) are taken from the environment in
// observe.postgres and observe.otlp_token, in target.env, in header values and in the keys of tokens,
// and nowhere else.
func Parse(fsys fs.FS, name string, data []byte) (*scenario.Plan, error) {
	return parse(fsys, name, data, os.LookupEnv)
}

func parse(fsys fs.FS, name string, data []byte, env func(string) (string, bool)) (*scenario.Plan, error) {
	d := &decoder{file: name, fsys: fsys, env: env, plan: &scenario.Plan{Name: planName(name)}, nodes: map[string]ast.Node{}}
	if err := d.bound(data); err != nil {
		return nil, mistake.Errors{err}
	}
	d.lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	root, err := parseYAML(data)
	if err != nil {
		return nil, mistake.Errors{d.syntaxError(err)}
	}
	d.root(root)
	if len(d.errs) > 0 {
		slices.SortStableFunc(d.errs, func(a, b *mistake.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, d.errs
	}
	if err := d.plan.Validate(); err != nil {
		if d.conflict(err) {
			return nil, d.errs
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d.plan, nil
}

// planName is a file's name without folder and extension.
func planName(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// bound refuses texts that would keep the parser busy. It counts brackets
// everywhere, even in strings: no scenario has 64 open ones.
func (d *decoder) bound(data []byte) *mistake.Error {
	whole := func(format string, args ...any) *mistake.Error {
		return &mistake.Error{File: d.file, Msg: fmt.Sprintf(format, args...), Hint: "put data in a CSV file and name it under data"}
	}
	switch {
	case len(data) > MaxFile:
		return whole("the file is over %d bytes", MaxFile)
	case !utf8.Valid(data):
		return &mistake.Error{File: d.file, Msg: "the file is not UTF-8 text"}
	case bytes.IndexByte(data, 0) >= 0:
		return &mistake.Error{File: d.file, Msg: "the file contains a NUL byte, so it is not text"}
	case bytes.Count(data, []byte{'\n'}) > maxLines:
		return whole("the file has over %d lines", maxLines)
	}
	depth := 0
	for number, line := range bytes.Split(data, []byte{'\n'}) {
		if len(line) > maxLine {
			return whole("line %d is over %d bytes", number+1, maxLine)
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
		}
		indicators := 0 // "- - - x" nests once for each
		for _, word := range bytes.Fields(line) {
			if len(word) > 1 && word[0] != '!' && word[0] != '&' || word[0] != '-' && word[0] != '?' && word[0] != '!' && word[0] != '&' {
				break
			}
			indicators++
		}
		if depth > maxNesting || indicators > maxNesting {
			return &mistake.Error{File: d.file, Msg: fmt.Sprintf("line %d nests deeper than %d", number+1, maxNesting)}
		}
	}
	return nil
}

// parseYAML returns the body of the one document; nil when it is empty.
func parseYAML(data []byte) (root ast.Node, err error) {
	defer func() {
		// A text that the library cannot cope with is the text's fault here.
		if p := recover(); p != nil {
			err = fmt.Errorf("not YAML: %v", p)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, errors.New("the file contains more than one document (---)")
		}
		root = doc.Body
	}
	return root, nil
}

// syntaxError places an error of the YAML parser.
func (d *decoder) syntaxError(err error) *mistake.Error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		p := y.GetToken().Position
		return d.errorAt(p.Line, p.Column, 1, y.GetMessage(), "")
	}
	return &mistake.Error{File: d.file, Msg: err.Error()}
}
