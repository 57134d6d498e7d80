package service

import (
	"os"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/guard"
)

func TestMain(m *testing.M) {
	guard.Main()
	// Without the folder's path in the compiled code, the build cache still serves what the last run built, vendored
	// packages included.
	if err := os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
