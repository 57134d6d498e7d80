package feeder

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	p := map[string]*Table{
		"u": {Columns: []string{"id", "name"}, Rows: [][]string{{"1", "a b&c"}, {"2", "d/é?"}}},
		"n": {Columns: []string{"value"}, Sequence: &Range{From: 5, To: 6}},
	}
	u, err := CompileURL("http://h/{{u.name}}/x?name={{ u.name }}&id={{u}}", p)
	if err != nil {
		t.Fatal(err)
	}
	body, err := CompileTemplate("[{{u.id}},{{u.name}},{{n}}]", p)
	if err != nil {
		t.Fatal(err)
	}
	if u.Static() || body.Static() {
		t.Error("static")
	}
	c := NewCursor(p, "", 1)
	var seen []string
	for range 4 {
		text := string(body.Append(nil, c))
		parsed, err := url.Parse(string(u.Append(nil, c)))
		if err != nil {
			t.Fatal(err)
		}
		// The same row fills all places of a request.
		if got := fmt.Sprintf("[%s,%s,", parsed.Query().Get("id"), parsed.Query().Get("name")); !strings.HasPrefix(text, got) {
			t.Errorf("URL %s with body %s", parsed, text)
		}
		if parsed.Path != "/"+parsed.Query().Get("name")+"/x" {
			t.Errorf("path %q", parsed.Path)
		}
		seen = append(seen, text[strings.LastIndex(text, ",")+1:len(text)-1])
		c.Next()
	}
	if got := strings.Join(seen, " "); got != "5 6 5 6" {
		t.Errorf("sequence %s", got)
	}
}

func TestCursor(t *testing.T) {
	p := map[string]*Table{
		"rows":   {Columns: []string{"v"}, Rows: [][]string{{"0"}, {"1"}, {"2"}}},
		"random": {Columns: []string{"value"}, Random: &Range{From: -2, To: 2}},
		"all":    {Columns: []string{"value"}, Random: &Range{From: -1 << 63, To: 1<<63 - 1}},
		"seq":    {Columns: []string{"value"}, Sequence: &Range{From: 1, To: 100}},
	}
	r, err := CompileTemplate("{{rows}} {{random}} {{all}}", p)
	if err != nil {
		t.Fatal(err)
	}
	a, b := NewCursor(p, "", 9), NewCursor(p, "", 9)
	counts := map[string]int{}
	for range 300 {
		x, y := string(r.Append(nil, a)), string(r.Append(nil, b))
		if x != y {
			t.Fatalf("one seed gives %q and %q", x, y)
		}
		fields := strings.Fields(x)
		counts["row "+fields[0]]++
		counts["random "+fields[1]]++
		a.Next()
		b.Next()
	}
	for i := range 3 {
		if n := counts[fmt.Sprint("row ", i)]; n != 100 {
			t.Errorf("row %d came %d times of 300", i, n)
		}
	}
	for i := -2; i <= 2; i++ {
		if counts[fmt.Sprint("random ", i)] == 0 {
			t.Errorf("random %d never came", i)
		}
	}
	if len(counts) != 8 {
		t.Errorf("%v", counts)
	}

	// Connections share a sequence: no number comes twice in a round.
	p["seq"].taken.Store(0)
	s, _ := CompileTemplate("{{seq}}", p)
	seen := map[string]bool{}
	x, y := NewCursor(p, "", 1), NewCursor(p, "", 2)
	for range 50 {
		seen[string(s.Append(nil, x))], seen[string(s.Append(nil, y))] = true, true
		x.Next()
		y.Next()
	}
	if len(seen) != 100 {
		t.Errorf("%d numbers of 100", len(seen))
	}
}

func TestTemplateErrors(t *testing.T) {
	p := map[string]*Table{"u": {Columns: []string{"id"}, Rows: [][]string{{"1\r\nX: y"}}}}
	for text, offset := range map[Template]int{"a{{v}}": 1, "{{u.x}}": 0, "ab{{u": 2, "{{}}": 0, "{{u.id}}{{ }}": 8} {
		_, err := CompileTemplate(text, p)
		var te *TemplateError
		if !errors.As(err, &te) || te.Offset != offset {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := CompileHeader("x {{u}}", p); err == nil || strings.Contains(err.Error(), "X: y") {
		t.Errorf("a line break in a header: %v", err)
	}
	for _, text := range []Template{"{{u}}", "http://{{u}}/", "http://h:{{u}}/", "ht{{u}}tp://h/"} {
		if _, err := CompileURL(text, p); err == nil {
			t.Errorf("%s has a host from data", text)
		}
	}
	r, err := CompileTemplate("no places }} {", p)
	if err != nil || !r.Static() || string(r.Append(nil, nil)) != "no places }} {" {
		t.Errorf("static text: %v", err)
	}
}
