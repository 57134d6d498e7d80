package redline_test

import (
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Bounds on what a reader takes in at once, and the least that comments say.
const (
	mostColumns  = 140 // a tab counts as four
	mostFiles    = 15  // of a package, without its tests
	mostBody     = 60  // lines of a function
	mostMedian   = 110 // lines of the median file
	leastComment = 0.2 // lines with a comment per line with code
)

// ours reports whether a file is the project's to shape: no generated code, and no
// specimen of the corpus where exempt is set.
func (s source) ours(exempt bool) bool {
	return !ast.IsGenerated(s.file) && !(exempt && s.foreign())
}

// rows returns the lines that may be as long as they need: the rows of tables, and
// the inside of raw strings.
//
// A table is a composite literal of a slice, array or map with two elements or more.
// Its rows are those elements that have one line each, alone on it.
func (s source) rows() map[int]bool {
	line := func(p token.Pos) int { return s.set.Position(p).Line }
	free := map[int]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if table(n) {
				begins := map[int]int{line(n.Lbrace): 2, line(n.Rbrace): 2}
				for _, e := range n.Elts {
					begins[line(e.Pos())]++
				}
				for _, e := range n.Elts {
					if l := line(e.Pos()); begins[l] == 1 && l == line(e.End()) {
						free[l] = true
					}
				}
			}
		case *ast.BasicLit:
			if from, to := line(n.Pos()), line(n.End()); n.Kind == token.STRING && from != to {
				for l := from; l <= to; l++ {
					free[l] = true
				}
			}
		}
		return true
	})
	return free
}

// table reports whether a literal is a table. One without a type of its own lies in
// another, and is taken for a table too: its rows are lines of one element each.
func table(n *ast.CompositeLit) bool {
	switch n.Type.(type) {
	case *ast.ArrayType, *ast.MapType, nil:
		return len(n.Elts) > 1
	}
	return false
}

// columns returns how wide a line is drawn.
func columns(line string) int {
	return utf8.RuneCountInString(line) + 3*(len(line)-len(strings.TrimLeft(line, "\t")))
}

func TestLinesFitAScreen(t *testing.T) {
	for _, s := range sources(t) {
		if !s.ours(false) {
			continue
		}
		text, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		rows := s.rows()
		for i, line := range strings.Split(string(text), "\n") {
			if n := columns(line); n > mostColumns && !rows[i+1] {
				t.Errorf("%s:%d has %d columns, at most %d outside of tables", s.path, i+1, n, mostColumns)
			}
		}
	}
}

func TestPackagesHoldOneNoun(t *testing.T) {
	files := map[string]int{}
	for _, s := range sources(t) {
		if !s.test() && s.ours(true) {
			files[s.dir()]++
		}
	}
	for dir, n := range files {
		if n > mostFiles {
			t.Errorf("%s has %d files, at most %d: split it along its nouns", dir, n, mostFiles)
		}
	}
}

func TestFunctionsStayShort(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || !s.ours(true) {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1; n > mostBody {
				t.Errorf("%s %s has %d lines, at most %d", s.path, f.Name.Name, n, mostBody)
			}
		}
	}
}

func TestTheMedianFileIsShort(t *testing.T) {
	var lines []int
	for _, s := range sources(t) {
		if !s.test() && s.ours(true) {
			// Less the empty one that LineCount sees behind the last newline.
			lines = append(lines, s.set.File(s.file.Pos()).LineCount()-1)
		}
	}
	slices.Sort(lines)
	if median := lines[len(lines)/2]; median > mostMedian {
		t.Errorf("the median file has %d lines, at most %d", median, mostMedian)
	}
}

// TestSubtleRoomsAreCommented: where what is right is not to be seen from the code,
// comments say why.
func TestSubtleRoomsAreCommented(t *testing.T) {
	comments, code := map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		if s.test() || !s.ours(true) {
			continue
		}
		said, does := s.count()
		comments[s.room()] += said
		code[s.room()] += does
	}
	for _, room := range []string{"load", "observe", "diagnose", "verify"} {
		if part := float64(comments[room]) / float64(code[room]); !(part >= leastComment) {
			t.Errorf("%s has %.3f lines with a comment per line with code, at least %g", room, part, leastComment)
		}
	}
}

// count returns how many lines of a file hold a comment, and how many hold code.
func (s source) count() (comments, code int) {
	line := func(p token.Pos) int { return s.set.Position(p).Line }
	said, does := map[int]bool{}, map[int]bool{}
	for _, group := range s.file.Comments {
		for l := line(group.Pos()); l <= line(group.End()-1); l++ {
			said[l] = true
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		}
		does[line(n.Pos())], does[line(n.End()-1)] = true, true
		return true
	})
	return len(said), len(does)
}
