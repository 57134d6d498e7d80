package syntax

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Span is a range of lines of a file, both included.
type Span struct{ From, To int }

// Has reports whether a line is in the span.
func (s Span) Has(line int) bool { return s.From <= line && line <= s.To }

// record are the methods by which loggers take a record, or values for one: of log, log/slog, logr, klog, logrus, zap, zerolog
// and their like. Those that end the program are left out: log.Fatal(server.ListenAndServe()) runs all of it.
var record = regexp.MustCompile(
	`^(Debug|Trace|Info|Notice|Warn|Warning|Error|Print|Log|Verbose)(f|ln|w|s|S|KV|Ctx|Context)?$|` +
		`^With(Field|Fields|Values|Error)?$|^(Str|Strs|Stringer|Interface|Any|Bytes|RawJSON|Msg|Msgf)$`)

// Logged returns where a source file computes what it passes to a logger: the spans of arguments that call something. Go computes
// them before the call, whether or not the logger's level drops the record. The source has no types, so the name of what is called
// decides: log, logger, or one that ends in Log or Logger.
func Logged(file string) ([]Span, error) {
	set, tree, err := parse(file)
	if err != nil {
		return nil, err
	}
	var spans []Span
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		to, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !record.MatchString(to.Sel.Name) || !mentions(to.X, logs) {
			return true
		}
		for _, a := range call.Args {
			if computes(a) {
				spans = append(spans, Span{set.Position(a.Pos()).Line, set.Position(a.End()).Line})
			}
		}
		return true
	})
	return spans, nil
}

// logs reports whether a name is a logger's: "log", "reqLogger", "accessLog", "logEntry", but not "catalog" or "login".
func logs(name string) bool {
	known := []string{"log", "logs", "logger", "slog", "klog", "glog", "zlog", "hlog", "logrus", "zap", "entry"}
	if slices.Contains(known, strings.ToLower(name)) {
		return true
	}
	if strings.HasSuffix(name, "Log") || strings.HasSuffix(name, "Logger") {
		return true
	}
	after, found := strings.CutPrefix(name, "log")
	return found && strings.IndexFunc(after, unicode.IsUpper) == 0
}

// computes reports whether an argument calls something, other than a conversion to a basic type.
func computes(arg ast.Expr) (calls bool) {
	ast.Inspect(arg, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // the logger calls it, or not
		case *ast.CallExpr:
			name, ok := n.Fun.(*ast.Ident)
			calls = calls || !ok || !slices.Contains([]string{"len", "cap", "int", "int64", "float64", "min", "max"}, name.Name)
		}
		return !calls
	})
	return calls
}
