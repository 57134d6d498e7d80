package service

import (
	"os"
	"testing"

	"github.com/redline-go/redline/service/guard"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}
