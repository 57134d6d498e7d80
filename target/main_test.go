package target

import (
	"os"
	"testing"

	"github.com/redline-go/redline/target/guard"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}
