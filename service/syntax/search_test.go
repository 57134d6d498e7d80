package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/syntax"
)

const searching = `package p

func first(r *repo, u string) *rule {
	for _, x := range r.rules { // no
		if x.matches(u) { // yes
			x.note(u) // no
			return x
		}
	}
	return nil
}

func any(r *repo, u string) bool {
	for i := range r.rules {
		log(u)                             // no
		path, err := clean(u), r.check(i)  // yes
		path = lower(path)                 // yes
		if r.rules[i].matches(path) { // yes
			return true
		}
	}
	return false
}

func kept(r *repo, u string) (found *rule) {
	for _, x := range r.rules {
		if x.matches(u) { // yes
			found = x
			break
		}
	}
	return found
}

func filtered(r *repo, u string) (list []*rule) {
	for _, x := range r.rules {
		ok := true                      // filters
		for _, word := range words(u) { // filters
			ok = ok && x.has(word) // filters
		}
		log(u) // no
		if ok {  // filters
			list = append(list, x.name()) // no
		}
	}
	return list
}

func skipped(r *repo, u string) (list []*rule) {
	for id := range r.rules {
		k := r.name(id)    // filters
		if !starts(k, u) { // filters
			continue
		}
		m := k // no
		if !r.seen[m] { // no
			r.seen[m] = true
			list = append(list, m) // no
		}
	}
	return list
}

func within(r *repo, u string) (list []*rule) {
	for id := range r.rules {
		k := r.name(id)   // filters
		if starts(k, u) { // filters
			m := k // no
			if r.leaf(m) { // no
				list = append(list, m) // no
			}
		}
	}
	return list
}

func next(r *repo, u string) *rule {
	for _, x := range r.rules {
		y, err := x.load(u) // yes
		if err != nil {     // no
			continue
		}
		if y.state != u { // yes
			continue
		}
		return y
	}
	return nil
}

func checked(r *repo, u string) (*rule, error) {
	for _, x := range r.rules {
		if !x.holds(u) { // no: it is a check
			return x, nil
		}
		if x.dated(u) { // no
			return x, fmt.Errorf("%s is of another time", x)
		}
	}
	return nil, nil
}

func all(r *repo, u string) bool {
	for _, x := range r.checks {
		if !x.holds(u) { // no: each check has to be made
			return false
		}
	}
	return true
}

func each(r *repo, u string) error {
	for _, x := range r.steps {
		if err := x.run(u); err != nil { // no
			return x.fail(err)
		}
		if x.last(u) { // yes
			return x.done()
		}
	}
	return nil
}

func both(as, bs [][]byte, n int) (list [][]byte) {
	for i, a := range as {
		for j, b := range bs {
			if bytes.Equal(a, b) { // yes
				list = append(list, a) // no
			}
			if b[0] != a[0] { // yes
				continue
			}
			if i == j { // no: it is passed over
				continue
			}
			if len(b) > n { // no: of this loop alone
				n = len(b)
			}
			if len(b) < len(a) { // no
				n++
			}
		}
		for _, c := range a {
			if c == a[0] { // no: it looks within the element
				n++
			}
		}
	}
	return list
}

func mapped(r *repo) (list []string) {
	for _, x := range r.rules {
		list = append(list, x.name()) // no
	}
	return list
}

func nested(r *repo, u string) *rule {
	for _, group := range r.groups {
		for _, x := range group.rules {
			if x.matches(u) { // yes
				return x
			}
		}
		group.note() // no
	}
	return nil
}

func counted(r *repo, u string) *rule {
	for _, x := range r.rules {
		for i := 0; i < 3; i++ {
			x.work(i) // no
		}
		go func() {
			x.work(0) // no: another function
		}()
		if x.matches(u) {
			return x
		}
	}
	return nil
}
`

// TestSearches: the lines marked "yes" look at elements one after another, those
// marked "filters" for all that match, those marked "no" do not.
func TestSearches(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(searching), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(searching, "\n") {
		_, mark, ok := strings.Cut(line, "// ")
		if !ok {
			continue
		}
		if got, err := syntax.Searches(file, i+1); err != nil || got != strings.HasPrefix(mark, "yes") {
			t.Errorf("line %d, %s: searches %v, %v", i+1, strings.TrimSpace(line), got, err)
		}
		if got, err := syntax.Filters(file, i+1); err != nil || got != strings.HasPrefix(mark, "filters") {
			t.Errorf("line %d, %s: filters %v, %v", i+1, strings.TrimSpace(line), got, err)
		}
	}
	if _, err := syntax.Searches(file+"x", 1); err == nil {
		t.Error("a missing file is no error")
	}
}
