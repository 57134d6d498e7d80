package redact_test

import (
	"testing"

	"github.com/redline-go/redline/redact"
)

// TestWorkingFolders: the shell's PWD and OLDPWD are folders, though "pwd" is a
// secret's name elsewhere; files below them are the places that findings name.
func TestWorkingFolders(t *testing.T) {
	r := redact.New()
	r.LearnNamed("PWD", "/home/ann/shop")
	r.LearnNamed("OLDPWD", "/home/ann/other")
	r.LearnNamed("DB_PWD", "/home/ann/hunter2")
	for text, want := range map[string]string{
		"/home/ann/shop/main.go":  "/home/ann/shop/main.go",
		"/home/ann/other/main.go": "/home/ann/other/main.go",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := r.Text("opened with /home/ann/hunter2"); got == "opened with /home/ann/hunter2" {
		t.Errorf("a secret named DB_PWD stands in %q", got)
	}
}
