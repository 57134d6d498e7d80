package private

import (
	"io/fs"
	"strings"
	"testing"
)

// TestShared: of a file that is the user's or root's, others may not have the right to write. The user's own group has it on many
// systems.
func TestShared(t *testing.T) {
	const user = 1000
	for _, c := range []struct {
		mode     fs.FileMode
		uid, gid uint32
		want     string
	}{
		{0o755, user, user, ""},
		{0o775, user, user, ""},
		{0o777, user, user, "can be written by others"},
		{0o775, user, 100, "can be written by others"},
		{0o775, 0, 0, "can be written by others"},
		{0o777 | fs.ModeSticky, 0, 0, ""},
		{0o777 | fs.ModeSymlink, user, 100, ""},
		{0o700, 1001, 1001, "belongs to user 1001"},
	} {
		got := shared(c.mode, c.uid, c.gid, user)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v of %d, group %d: %q, want %q", c.mode, c.uid, c.gid, got, c.want)
		}
	}
}
