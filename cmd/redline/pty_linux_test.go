package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns both ends of a terminal: the user's and the program's.
func pseudoTerminal(t *testing.T) (leader, follower *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	leader = os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { leader.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if follower, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip("no terminals here: ", err)
	}
	return leader, follower
}

// awaitText reads a terminal until it shows a text, and returns everything that it showed.
func awaitText(t *testing.T, leader *os.File, text string) string {
	t.Helper()
	_ = leader.SetReadDeadline(time.Now().Add(5 * time.Minute))
	var all strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(all.String(), text) {
		n, err := leader.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			t.Fatalf("%q did not come (%v): %s", text, err, all.String())
		}
	}
	return all.String()
}
