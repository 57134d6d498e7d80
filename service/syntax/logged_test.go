package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/syntax"
)

const logging = `package p

func serve(w http.ResponseWriter, r *http.Request) {
	log.Debugf("got %s", dump(r)) // yes
	log.Debugf("got %s", r.URL) // no
	log.Debugf("%d bytes, %d", len(body), int64(n)) // no
	entry := log.WithField("request", utils.Dump(r)) // yes
	s.reqLogger.Info("served",
		"request", // no
		fmt.Sprintf("%v", r), // yes
		"status", 200) // no
	slog.DebugContext(ctx, "got", "body", string(body)) // yes
	zap.L().With(zap.Any("r", dump(r))).Debug("x") // yes
	klog.V(4).InfoS("got", "r", dump(r)) // yes
	log.Trace().Str("r", dump(r)).Msg("x") // yes
	log.Debug("lazy", func() string { return dump(r) }) // no
	catalog.Print(load(r)) // no
	login.Info(check(r)) // no
	fmt.Println(dump(r)) // no
	log.Fatal(http.ListenAndServe(addr, nil)) // no
	logEntry.Warn(dump(r)) // yes
}
`

// TestLogged: what is computed for a logger, by its name, and nothing of what others are given.
func TestLogged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(logging), 0o644); err != nil {
		t.Fatal(err)
	}
	spans, err := syntax.Logged(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(logging, "\n") {
		_, want, marked := strings.Cut(line, "// ")
		if !marked {
			continue
		}
		in := false
		for _, s := range spans {
			in = in || s.Has(i+1)
		}
		if in != (want == "yes") {
			t.Errorf("line %d: %v, want %s: %s", i+1, in, want, line)
		}
	}
	if _, err := syntax.Logged(filepath.Join(t.TempDir(), "none.go")); err == nil {
		t.Error("a file that does not exist computes nothing")
	}
}
