package report

import "testing"

func TestShortNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{shortFunction("github.com/a/b/store.(*Store[int]).Get"), "store.(*Store[int]).Get"},
		{shortFunction("f[github.com/a/b.T]"), "f[github.com/a/b.T]"},
		{shortFunction("main.main"), "main.main"},
		{shortFile("/src/a/b.go"), "a/b.go"},
		{shortFile("b.go"), "b.go"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
