//go:build !linux

package record

import "testing"

func smallDisk(t *testing.T, _ int) string {
	t.Helper()
	t.Skip("mounting a small file system is implemented for Linux only")
	return ""
}
