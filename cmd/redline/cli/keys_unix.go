//go:build linux || darwin

package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keys are those that somebody presses at the terminal.
type keys struct {
	pressed chan byte
	end     chan struct{}
	ended   chan struct{}
	once    sync.Once
}

// keyLook is the time between two looks at the terminal's mode, which a shell may have
// changed while redline was stopped.
const keyLook = 200 * time.Millisecond

// readKeys reads keys from the terminal on standard input, or returns nil where there is none. The
// caller must close it, which restores the terminal.
//
// Lines and echo are off, signals stay: Ctrl-C is no key. The first signal that asks redline to end
// restores the terminal at once, because the second ends the process on the spot.
func readKeys() *keys {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) || !foreground(fd) {
		return nil
	}
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil
	}
	k := &keys{pressed: make(chan byte), end: make(chan struct{}), ended: make(chan struct{})}
	keeper := keepTerminal()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		defer close(k.ended)
		defer signal.Stop(signals)
		defer keeper.dismiss()
		defer unix.IoctlSetTermios(fd, setTermios, before)
		k.read(fd, before, signals)
	}()
	return k
}

// read passes keys on until the end or a signal.
func (k *keys) read(fd int, before *unix.Termios, signals <-chan os.Signal) {
	for {
		select {
		case <-k.end:
			return
		case <-signals:
			return
		default:
		}
		// Subtle: who reads or sets a terminal from the background is stopped by the kernel, and the
		// load with it.
		if !foreground(fd) {
			time.Sleep(keyLook)
			continue
		}
		if now, err := unix.IoctlGetTermios(fd, getTermios); err != nil {
			return
		} else if now.Lflag&(unix.ICANON|unix.ECHO) != 0 {
			mode := *before
			mode.Lflag &^= unix.ICANON | unix.ECHO
			mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
			if unix.IoctlSetTermios(fd, setTermios, &mode) != nil {
				return
			}
		}
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, int(keyLook/time.Millisecond)); n == 0 || err != nil {
			continue
		}
		var b [1]byte
		if n, err := unix.Read(fd, b[:]); n != 1 || err != nil {
			return
		}
		select {
		case k.pressed <- b[0]:
		case <-k.end:
			return
		}
	}
}

// close restores the terminal. It may be called twice.
func (k *keys) close() {
	k.once.Do(func() { close(k.end) })
	<-k.ended
}

// foreground reports whether this process may read and set the terminal.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
