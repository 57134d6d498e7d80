package env

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestTakeReturnsWhatEnvironSays(t *testing.T) {
	want := Config{Ring: "/dev/shm/r", Socket: "/run/s", EpochMonotonic: 1 << 40, EpochWall: 1 << 60, Window: time.Second, Agent: 77}
	for _, pair := range want.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	got, told, err := Take()
	if got != want || !told || err != nil {
		t.Errorf("%+v, %t, %v", got, told, err)
	}
	for _, pair := range os.Environ() {
		if strings.HasPrefix(pair, Prefix) {
			t.Errorf("%s is left to children", pair)
		}
	}
	if got, told, err := Take(); got != (Config{}) || told || err != nil {
		t.Errorf("without environment: %+v, %t, %v", got, told, err)
	}
}

func TestTakeRefuses(t *testing.T) {
	for name, value := range map[string]string{Epoch: "soon", Window: "-5", Agent: "-1"} {
		t.Setenv(name, value)
		if _, told, err := Take(); !told || err == nil {
			t.Errorf("%s=%s: told %t, error %v", name, value, told, err)
		}
	}
	t.Setenv(Ring, "/dev/shm/r")
	if c, _, err := Take(); err != nil || c.Window != DefaultWindow {
		t.Errorf("the default window: %+v, %v", c, err)
	}
}
