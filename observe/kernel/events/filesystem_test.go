package events

import (
	"slices"
	"testing"
)

func TestMounted(t *testing.T) {
	const (
		root  = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
		proc  = "23 22 0:21 / /proc rw - proc proc rw\n"
		data  = "24 22 8:1 / /data rw shared:2 master:1 - xfs /dev/sda1 rw\n"
		shard = "25 22 8:2 / /data\\0402 rw - xfs /dev/sda2 rw\n"
		layer = "30 1 0:40 / / rw - overlay overlay rw,lowerdir=/a - b\n"
	)
	tests := []struct {
		mountinfo string
		tells     bool
		blind     []string
	}{
		{root + proc, true, nil},
		{root + data + shard, true, []string{"xfs"}},
		{data + proc, false, []string{"xfs"}},
		{layer, true, nil},
		{proc + "garbage\n - \n", false, nil},
		{"", false, nil},
	}
	for _, test := range tests {
		if tells, blind := mounted([]byte(test.mountinfo)); tells != test.tells || !slices.Equal(blind, test.blind) {
			t.Errorf("%q: %v, %v", test.mountinfo, tells, blind)
		}
	}
}

func FuzzMounted(f *testing.F) {
	f.Add([]byte("22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"))
	f.Add([]byte(" - xfs"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, blind := mounted(text); len(blind) > len(silent) {
			t.Errorf("%d types of %d", len(blind), len(silent))
		}
	})
}
