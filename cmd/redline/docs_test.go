package main

// The examples of docs/load.md, run unchanged against servers on loopback, except that
// their long times are shortened.

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario/scalar"
)

const loadDoc = "../../docs/load.md"

// example is a command of the documentation with what it prints.
type example struct {
	line  int // in the file
	words []string
	shown []string // lines of its output, in order
	code  int
}

func TestLoadDocumentation(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(loadDoc)
	if err != nil {
		t.Fatal(err)
	}
	secret := []string{"JWT_SECRET=a secret of the tests"}
	dir := t.TempDir()
	places := documentedServers(t, dir)
	text := string(content)
	named := map[string]bool{} // files that no command has used
	for _, block := range blocks(text, "yaml", "csv", "text") {
		if err := os.WriteFile(filepath.Join(dir, block.name), []byte(shorten(places.Replace(block.text))), 0o600); err != nil {
			t.Fatal(err)
		}
		named[block.name] = strings.HasSuffix(block.name, ".yaml")
	}
	commands := examples(t, text)
	if len(commands) < 15 {
		t.Fatalf("%d commands", len(commands))
	}
	valid := 0
	for _, c := range commands {
		t.Run(strconv.Itoa(c.line), func(t *testing.T) {
			var args []string
			for _, word := range c.words {
				delete(named, word)
				args = append(args, places.Replace(word))
			}
			if !slices.Contains(c.words, "--replay") && strings.Contains(c.words[1], "://") {
				args = append(args, "--warmup", "0s")
			}
			if c.check(t, finish(t, startWith(t, dir, secret, append(args, "--no-observe")...))) {
				valid++
			}
		})
	}
	if valid == 0 {
		t.Error("not one of the examples is a valid measurement")
	}
	for name, unused := range named {
		if unused {
			t.Errorf("no command runs %s", name)
		}
	}
}

// TestLoadFiguresAreDocumented: the documentation names every figure of load in the
// summary and every kind of failure.
func TestLoadFiguresAreDocumented(t *testing.T) {
	content, err := os.ReadFile(loadDoc)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../load/failure/failure.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, kind := range regexp.MustCompile(`Kind = "([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		names = append(names, kind[1])
	}
	if len(names) < 15 {
		t.Fatalf("kinds %q", names)
	}
	for field := range reflect.TypeFor[record.LoadSummary]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	for _, name := range names {
		if !strings.Contains(string(content), "`"+name+"`") {
			t.Errorf("%s does not report %s", loadDoc, name)
		}
	}
}

// check compares a run with the documentation, and reports whether it was a valid
// measurement. One that another process's burst made invalid is not the command's
// error; it prints the same lines then.
func (c *example) check(t *testing.T, r result) (valid bool) {
	valid = r.code != cli.ExitUndecided || !strings.Contains(r.stderr, "the measurement is invalid")
	if valid && r.code != c.code {
		t.Errorf("exit %d, want %d\n%s", r.code, c.code, r.stderr)
	}
	printed := strings.Split(r.stdout, "\n")
	for _, line := range c.shown {
		form := formOf(line)
		for len(printed) > 0 && !form.MatchString(printed[0]) {
			printed = printed[1:]
		}
		if len(printed) == 0 {
			t.Fatalf("no line like\n%s\nwhere it is due; printed was\n%s\n%s", line, r.stdout, r.stderr)
		}
		printed = printed[1:]
	}
	return valid
}

// block is a fenced block of the documentation. Those that are files have
// their name after the language.
type block struct {
	line       int
	lang, name string
	text       string
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

func blocks(text string, langs ...string) (all []block) {
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		b := block{line: strings.Count(text[:at[0]], "\n") + 1, lang: text[at[2]:at[3]], text: text[at[6]:at[7]]}
		if at[4] >= 0 {
			b.name = text[at[4]:at[5]]
		}
		if slices.Contains(langs, b.lang) {
			all = append(all, b)
		}
	}
	return all
}

// examples are the commands of the console blocks. `$ echo $?` shows the exit
// code of the one above.
func examples(t *testing.T, text string) (all []*example) {
	t.Helper()
	for _, b := range blocks(text, "console") {
		lines := strings.Split(strings.TrimSpace(b.text), "\n")
		for i := 0; i < len(lines); i++ {
			command, is := strings.CutPrefix(lines[i], "$ ")
			switch {
			case command == "echo $?" && len(all) > 0 && i+1 < len(lines):
				i++
				code, err := strconv.Atoi(lines[i])
				if err != nil {
					t.Fatalf("%s:%d: %q is not an exit code", loadDoc, b.line+i+1, lines[i])
				}
				all[len(all)-1].code = code
			case is:
				words, err := scalar.SplitCommand(strings.TrimPrefix(shorten(command), "redline "))
				if err != nil {
					t.Fatalf("%s:%d: %v", loadDoc, b.line+i+1, err)
				}
				all = append(all, &example{line: b.line + i + 1, words: words})
			case i == 0:
				t.Fatalf("%s:%d: a console block begins with a command", loadDoc, b.line)
			case lines[i] != "..." && lines[i] != "":
				last := all[len(all)-1]
				last.shown = append(last.shown, lines[i])
			}
		}
	}
	return all
}

var duration = regexp.MustCompile(`-d \w+`)

// times are the times that make an example long, and their replacements.
var times = []struct {
	long  *regexp.Regexp
	short string
}{
	{duration, "-d 400ms"},
	{regexp.MustCompile(`(/stalls.*)-d 400ms`), "${1}-d 1s"}, // a whole period of the stall
	{regexp.MustCompile(`-n \d+`), "-n 300"},
	{regexp.MustCompile(`duration: \w+`), "duration: 500ms"},
	{regexp.MustCompile(`over: \w+`), "over: 200ms"},
	{regexp.MustCompile(`requests: \d+`), "requests: 300"},
}

func shorten(text string) string {
	// A closed loop ends after a number of requests: within a time, a busy host may answer none.
	if !strings.Contains(text, "rate") && !strings.Contains(text, "/stalls") {
		text = duration.ReplaceAllString(text, "-n 300")
	}
	for _, s := range times {
		text = s.long.ReplaceAllString(text, s.short)
	}
	return text
}

var (
	blanks = regexp.MustCompile(`\s+`)
	// figure is a number with its unit, if it has one of those that follow its size.
	figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?( (?:ns|µs|ms|s|B|KiB|MiB|GiB)\b)?`)
)

// formOf is the pattern of a line whose figures differ from run to run.
func formOf(line string) *regexp.Regexp {
	var pattern strings.Builder
	for {
		at := figure.FindStringSubmatchIndex(line)
		if at == nil {
			break
		}
		pattern.WriteString(literal(line[:at[0]]))
		pattern.WriteString(`\d[\d,]*(?:\.\d+)?`)
		if at[2] >= 0 {
			pattern.WriteString(` (?:ns|µs|ms|s|B|KiB|MiB|GiB)`)
		}
		line = line[at[1]:]
	}
	pattern.WriteString(literal(line))
	return regexp.MustCompile("^" + pattern.String() + `\s*$`)
}

func literal(text string) string {
	return blanks.ReplaceAllString(regexp.QuoteMeta(text), `\s+`)
}

// documentedServers starts the servers that the documentation mentions, puts
// their authority's files into dir, and replaces their addresses.
func documentedServers(t *testing.T, dir string) *strings.Replacer {
	t.Helper()
	by := newAuthority(t)
	by.write(dir)
	return strings.NewReplacer(
		"127.0.0.1:8080", serveHTTP(t, shop(), nil),
		"127.0.0.1:8443", serveHTTP(t, shop(), by.server(false)),
		"127.0.0.1:8444", serveHTTP(t, shop(), by.server(true)),
		"127.0.0.1:50051", serveRPC(t),
		"127.0.0.1:7000", serveEcho(t),
	)
}
