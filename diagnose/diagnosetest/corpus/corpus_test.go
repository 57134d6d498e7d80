package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, kind Kind, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), string(kind), "shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ExpectFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLoad(t *testing.T) {
	c, err := Load(write(t, Sick, `
sickness: one mutex
findings:
  - cause: lock-contention
    where: ["(*book).credit", "main.go:41"]
    share: [0.6, 1]
needs: [postgres]
backend: ["-latency", "20ms"]
`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "shop" || c.Kind != Sick || len(c.Findings) != 1 || c.Findings[0].Share[0] != 0.6 || len(c.Findings[0].Where) != 2 {
		t.Errorf("read %+v", c)
	}
	if !c.Wants(NeedPostgres) || !c.Wants(NeedBackend) || c.Wants(NeedRoot) {
		t.Errorf("needs of %+v", c)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	const good = "sickness: s\nfindings: [{cause: sleep}]\n"
	for _, c := range []struct {
		kind       Kind
		text, want string
	}{
		{Sick, good + "nedes: [root]\n", "[3:"}, // the line
		{Sick, "sickness: [", "expect.yaml"},
		{Sick, "sickness: s\n", "0 findings, and a sick case has 1"},
		{Pair, good, "1 findings, and a pair case has 2"},
		{Healthy, good, "1 findings, and a healthy case has 0"},
		{Healthy, "sickness: s\n", "no sickness"},
		{Sick, "healthy: h\nfindings: [{cause: sleep}]\n", "what its sickness is"},
		{Sick, "sickness: s\nfindings: [{cause: sleep, share: [0.5, 1.2]}]\n", "no range"},
		{Sick, "sickness: s\nfindings: [{cause: sleep, share: [0.5]}]\n", "no range"},
		{Sick, "sickness: s\nfindings: [{cause: sleep, share: [.nan, 1]}]\n", "no range"},
		{Sick, "sickness: s\nfindings: [{cause: sleep, where: ['']}]\n", "no where may be empty"},
		{Sick, good + "needs: [luck]\n", `unknown need "luck"`},
		{"odd", good, "not in odd/"},
		{Sick, good + strings.Repeat("#", maxExpect), "are allowed"},
	} {
		_, err := Load(write(t, c.kind, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.60q: %v, want %q", c.kind, c.text, err, c.want)
		}
	}
}

// TestAllReadsTheRest: one broken case does not hide the others.
func TestAllReadsTheRest(t *testing.T) {
	root := filepath.Dir(filepath.Dir(write(t, Sick, "sickness: s\nfindings: [{cause: sleep}]\n")))
	if err := os.MkdirAll(filepath.Join(root, "healthy", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	cases, err := All(root)
	if len(cases) != 1 || err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("%d cases, %v", len(cases), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("sickness: s\nfindings: [{cause: sleep, where: [a], share: [0, 1]}]\n"))
	f.Add([]byte("healthy: *a\nneeds: &a [b]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := parse(data); err == nil {
			_ = c.check()
		}
	})
}
