package cpu_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
	"github.com/redline-go/redline/record/findings"
)

// The page that error-pages before v2.5.0 parses in each request: appending into a buffer is no remedy.
func TestTemplateParsedPerRequest(t *testing.T) {
	parse := []string{"text/template/parse.lexText", "text/template/parse.Parse",
		"text/template.(*Template).Parse", "shop/tpl.Render@render.go:54"}
	found := Expect(t, cpu.TemplateParse, Healthy().Sample(4*s, parse...), "cpu-template-parse at render.go:54")
	if len(found) == 1 && (!strings.Contains(found[0].Remedy, "once") || strings.Contains(found[0].Remedy, "strconv")) {
		t.Errorf("a template parsed per request is to be parsed once: %s", found[0].Remedy)
	}
	// One that a library parses in each call is the library's to keep.
	library := slices.Insert(slices.Clone(parse), 3, "github.com/docs/doc.(*Spec).ReadDoc")
	found = Expect(t, cpu.TemplateParse, Healthy().Sample(4*s, library...), "cpu-template-parse at render.go:54")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "doc.(*Spec).ReadDoc parses its template on each call") {
		t.Errorf("the caller cannot parse it once: %s", found[0].Remedy)
	}
	execute := []string{"text/template.(*state).walk", "text/template.(*Template).Execute", "shop/tpl.Render@render.go:60"}
	found = Expect(t, cpu.Format, Healthy().Sample(4*s, execute...), "cpu-format at render.go:60")
	if len(found) == 1 && (strings.Contains(found[0].Remedy, "strconv") || !strings.Contains(found[0].Remedy, "rendered")) {
		t.Errorf("a template is no formatting that strconv replaces: %s", found[0].Remedy)
	}
	Expect(t, cpu.TemplateParse, Healthy().Sample(4*s, execute...))
	loop := "text/template.(*state).walkRange"
	for loops, pairs := range map[int]bool{1: false, 2: true} { // a range within a range runs for each pair
		nested := slices.Concat([]string{"text/template.(*state).evalField"}, slices.Repeat([]string{loop}, loops), execute[1:])
		found = Expect(t, cpu.Format, Healthy().Sample(4*s, nested...), "cpu-format at render.go:60")
		if len(found) == 1 && strings.Contains(found[0].Remedy, "runs for each pair") != pairs {
			t.Errorf("%d loops: %s", loops, found[0].Remedy)
		}
	}
	// A page that is parsed again is escaped again, by its first execution.
	escape := append([]string{"html/template.(*escaper).escapeAction", "html/template.escapeTemplate",
		"html/template.(*Template).lookupAndEscape", "html/template.(*Template).Execute"}, execute[2])
	found = Expect(t, cpu.TemplateParse, Healthy().Sample(4*s, escape...), "cpu-template-parse at render.go:60")
	if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, "Parse the template that is executed at render.go:60 once") {
		t.Error(found[0].Remedy)
	}
}

// A library that lexes on a goroutine of its own, as raymond does, works for the call
// that starts it: the cause is that call, at the user's place, and not what the lexer
// happens to run.
func TestWorkOfALibrarysGoroutineBelongsToTheCall(t *testing.T) {
	lexer := "github.com/aymerick/raymond/lexer.(*Lexer).run"
	lexes := func() *Builder {
		return Healthy().Background(6*s, "regexp.(*Regexp).doExecute", "regexp.(*Regexp).FindString",
			"github.com/aymerick/raymond/lexer.lexExpression", lexer)
	}
	call := []string{"github.com/aymerick/raymond/lexer.Scan", "github.com/aymerick/raymond/parser.Parse",
		"github.com/aymerick/raymond.Parse", "shop/tpl.Render@render.go:54"}
	Expect(t, cpu.TemplateParse, lexes().Helper(lexer, 200, call...), "cpu-template-parse at render.go:54")
	Expect(t, cpu.RegexpMatch, lexes().Helper(lexer, 200, call...))
	// Two callers share the library: the profile does not say for whom it worked.
	other := append(call[:3:3], "shop/tpl.Page@page.go:7")
	Expect(t, cpu.TemplateParse, lexes().Helper(lexer, 200, call...).Helper(lexer, 180, other...))
	// Goroutines that belong to no request keep their own stack.
	Expect(t, cpu.TemplateParse, lexes())
}

// Changing letters and splitting are no formatting either: what they make can be kept, or not be made.
func TestStringsMadePerUse(t *testing.T) {
	for callee, want := range map[string][2]string{
		"strings.ToLower":              {"Changing text (strings.ToLower) takes", "EqualFold"},
		"strings.Fields":               {"Splitting text (strings.Fields) takes", "SplitSeq"},
		"strings.(*Replacer).Replace":  {"Changing text (strings.(*Replacer).Replace) takes", "replace once"},
		"strings.TrimSpace":            {"Changing text (strings.TrimSpace) takes", "trim each text once"},
		"strings.(*Builder).WriteByte": {"Formatting text takes", "append the parts"},
		"strconv.ParseFloat":           {"Parsing text (strconv.ParseFloat) takes", "parse each text once"},
		"time.Parse":                   {"Parsing text (time.Parse) takes", "parse each text once"},
		"fmt.Sscanf":                   {"Parsing text (fmt.Sscanf) takes", "cut the text"},
		"time.Time.Format":             {"Formatting text takes", "Time.AppendFormat"},
	} {
		found := Expect(t, cpu.Format, Healthy().Sample(4*s, callee, "shop/index.(*Index).find@find.go:9"), "cpu-format at find.go:9")
		if len(found) == 1 && (strings.Contains(found[0].Remedy, "append with strconv") || strings.Contains(found[0].Remedy, "%!") ||
			!strings.HasPrefix(found[0].Title, want[0]) || !strings.Contains(found[0].Remedy, want[1])) {
			t.Errorf("%s: %s: %s", callee, found[0].Title, found[0].Remedy)
		}
	}
}

// A variable at the caller's line does not cure a library that compiles its patterns.
func TestPatternsThatALibraryCompiles(t *testing.T) {
	calls := []string{"github.com/casbin/casbin/v2/util.RegexMatch", "github.com/casbin/casbin/v2.(*Enforcer).Enforce",
		"shop/web.authorize@web.go:20"}
	found := Expect(t, cpu.RegexpCompile, Healthy().
		Sample(3*s, append([]string{"regexp/syntax.Parse", "regexp.compile", "regexp.MatchString"}, calls...)...).
		Sample(3*s, append([]string{"strings.Split"}, calls...)...), "cpu-regexp-compile at web.go:20")
	if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, "util.RegexMatch") {
		t.Errorf("the patterns are compiled in util.RegexMatch: %s", found[0].Remedy)
	}
	// To keep its result saves the rest of the call as well.
	if len(found) == 1 && found[0].GainHigh < 1.1*found[0].GainCeiling {
		t.Errorf("worth %.2fx, %.2fx at most: the rest of the call takes as much", found[0].GainCeiling, found[0].GainHigh)
	}
}

// Expressions that a library matches cannot be replaced at the caller's line.
func TestExpressionsThatALibraryMatches(t *testing.T) {
	const lib = "github.com/ua-parser/uap-go/uaparser."
	found := Expect(t, cpu.RegexpMatch, Healthy().Sample(6*s, "regexp.(*Regexp).backtrack", "regexp.(*Regexp).FindStringSubmatch",
		lib+"(*osParser).Match", lib+"(*Parser).Parse", "shop/web.agent@web.go:20"), "cpu-regexp-match at web.go:20")
	if len(found) == 1 && (!strings.Contains(found[0].Remedy, "uaparser.(*osParser).Match") ||
		strings.Contains(found[0].Remedy, "Replace the expression")) {
		t.Errorf("the expressions are the library's: %s", found[0].Remedy)
	}
}

// An entry point into a library that parses, validates and executes: which part takes the CPU
// decides what can be kept.
func TestWhatALibrarysCallSpends(t *testing.T) {
	const lib = "github.com/graphql-go/graphql."
	do := []string{lib + "Do", "shop/web.query@web.go:45"}
	found := Expect(t, cpu.Hot, Healthy().Sample(3*s, append([]string{lib + "visit", lib + "ValidateDocument"}, do...)...).
		Sample(s, append([]string{lib + "parse"}, do...)...), "cpu-hot-function at web.go:45")
	if len(found) == 1 &&
		(!strings.Contains(found[0].Title, "graphql.ValidateDocument") || !strings.Contains(found[0].Remedy, "cache the result")) {
		t.Errorf("three quarters validate the same query again: %s; %s", found[0].Title, found[0].Remedy)
	}
	upload := Expect(t, cpu.Hot, Healthy().Sample(4*s, "runtime.memmove", "mime/multipart.(*Part).Read",
		"mime/multipart.(*Reader).ReadForm", "net/http.(*Request).ParseMultipartForm", "net/http.(*Request).FormFile",
		"shop/web.upload@web.go:45"), "cpu-hot-function at web.go:45")
	if len(upload) == 1 && !strings.Contains(upload[0].Remedy, "MultipartReader") {
		t.Errorf("a request's parts differ each time: %s", upload[0].Remedy)
	}
	step := Expect(t, cpu.Hot, Healthy().Sample(4*s, "runtime.cmpstring", "github.com/cockroachdb/pebble.(*mergingIter).nextEntry",
		"github.com/cockroachdb/pebble.(*Iterator).Next", "shop/store.(*iterator).Next@store.go:73"), "cpu-hot-function at store.go:73")
	if len(step) == 1 && !strings.Contains(step[0].Remedy, "bound the iteration") {
		t.Errorf("an iteration's steps: %s", step[0].Remedy)
	}
	// The index calls back for each blob: there is no result of the callback to cache.
	const each, search = "shop/index.(*Corpus).Each@corpus.go:932", "shop/web.(*Search).pick@search.go:40"
	visited := Expect(t, cpu.Hot, Healthy().Sample(4*s, "runtime.cmpstring", "shop/web.(*Search).pick.func1@search.go:42", each, search).
		Sample(2*s, each, search), "cpu-hot-function at corpus.go:932")
	if len(visited) == 1 && (!strings.Contains(visited[0].Remedy, "visit fewer elements") ||
		visited[0].Where.Detail != "called by web.(*Search).pick") {
		t.Errorf("a callback for each element: %s (%s)", visited[0].Remedy, visited[0].Where.Detail)
	}
	// Validation is the entry point: the caller cannot keep what the visitor below it returns.
	validate := append([]string{"github.com/graphql-go/graphql/language/visitor.Visit", lib + "ValidateDocument"}, do...)
	found = Expect(t, cpu.Hot, Healthy().Sample(4*s, validate...), "cpu-hot-function at web.go:45")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "cache the result of graphql.ValidateDocument") {
		t.Errorf("names the inside of the library: %s", found[0].Remedy)
	}
	// If the entry point says no more than the call, the library's function that works is the evidence.
	inside := func(f string, d time.Duration, b *Builder) *Builder {
		return b.Sample(d, "runtime.ifaceeq", "github.com/gomarkdown/markdown/ast."+f, "github.com/gomarkdown/markdown.Render",
			"shop/web.render@web.go:18")
	}
	found = Expect(t, cpu.Hot, inside("GetPrevNode", 3*s, inside("Walk", s, Healthy())), "cpu-hot-function at web.go:18")
	if len(found) == 1 && !slices.ContainsFunc(found[0].Evidence, func(e findings.Evidence) bool {
		return strings.Contains(e.Text, "ast.GetPrevNode itself takes 75 %")
	}) {
		t.Errorf("the library's function is not named: %v", found[0].Evidence)
	}
}

// TestGeneratedCode: the profiler sees generated code without a caller. Its CPU belongs to the line that enters such code, by the
// samples of what that calls back; without any it belongs to nobody.
func TestGeneratedCode(t *testing.T) {
	alone := func() *Builder { return Healthy().Sample(6*s, "runtime._ExternalCode", "runtime._System") }
	Expect(t, cpu.Hot, alone())
	found := Expect(t, cpu.Hot, alone().Sample(s/2, "github.com/tetratelabs/wazero/internal/engine/wazevo.(*callEngine).callWithStack",
		"github.com/tetratelabs/wazero/api.(*function).Call", "shop/rules.(*Plugin).Run@plugin.go:30"), "cpu-hot-function at plugin.go:30")
	if len(found) == 1 && found[0].Share < 0.35 {
		t.Errorf("the line takes %.2f of the CPU, want that of the generated code too", found[0].Share)
	}
}
