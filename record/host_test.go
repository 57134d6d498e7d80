package record

import "testing"

func TestHostInfo(t *testing.T) {
	h := HostInfo()
	if h.OS == "" || h.Arch == "" || h.CPUs < 1 || h.Kernel == "" || h.Memory <= 0 {
		t.Errorf("%+v", h)
	}
}
