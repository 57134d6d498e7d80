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
	got, reported, err := Take()
	if got != want || !reported || err != nil {
		t.Errorf("%+v, %t, %v", got, reported, err)
	}
	for _, pair := range os.Environ() {
		if strings.HasPrefix(pair, Prefix) {
			t.Errorf("%s is left to children", pair)
		}
	}
	if got, reported, err := Take(); got != (Config{}) || reported || err != nil {
		t.Errorf("without environment: %+v, %t, %v", got, reported, err)
	}
}

func TestTakeRefuses(t *testing.T) {
	for name, value := range map[string]string{Epoch: "soon", Window: "-5", Agent: "-1"} {
		t.Setenv(name, value)
		if _, reported, err := Take(); !reported || err == nil {
			t.Errorf("%s=%s: reported %t, error %v", name, value, reported, err)
		}
	}
	t.Setenv(Ring, "/dev/shm/r")
	if c, _, err := Take(); err != nil || c.Window != DefaultWindow {
		t.Errorf("the default window: %+v, %v", c, err)
	}
}
