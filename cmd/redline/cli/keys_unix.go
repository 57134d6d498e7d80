//go:build linux || darwin

package cli

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keys reads the keys that the user presses at the terminal.
type keys struct {
	pressed chan byte
	end     chan struct{}
	ended   chan struct{}
	once    sync.Once
	over    atomic.Bool // the reader must stop: close was called, or a signal asked redline to end
	// The reader sleeps until a key is pressed or a byte arrives in this pipe: at the end, or at a signal.
	woken, wakes *os.File
}

// backgroundLook is how often a redline that was sent to the background checks whether it is in the foreground
// again: a shell that brings it back sends no signal unless redline was stopped.
const backgroundLook = time.Second

// readKeys reads keys from the terminal on standard input, or returns nil if there is none. The
// caller must close it, which restores the terminal.
//
// Line mode and echo are off; signals stay on, so Ctrl-C is not a key. The first signal that asks redline to
// end restores the terminal at once, because the second ends the process immediately.
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
	if k.woken, k.wakes, err = os.Pipe(); err != nil {
		return nil
	}
	keeper := keepTerminal()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	reads := make(chan struct{})
	go func() {
		defer close(reads)
		k.read(fd, before)
	}()
	go func() {
		defer close(k.ended)
		defer signal.Stop(signals)
		defer keeper.dismiss()
		defer unix.IoctlSetTermios(fd, setTermios, before)
		k.wakeUp(signals, reads)
	}()
	return k
}

// wakeUp wakes the reader at the end and at each signal, until the reader has returned. SIGCONT is one of them:
// a process that continues after a stop finds the terminal as the shell left it.
func (k *keys) wakeUp(signals <-chan os.Signal, reads <-chan struct{}) {
	end := k.end
	for {
		select {
		case <-end:
			end = nil
			k.over.Store(true)
		case s := <-signals:
			if s != syscall.SIGCONT {
				k.over.Store(true)
			}
		case <-reads:
			k.woken.Close()
			k.wakes.Close()
			return
		}
		_, _ = k.wakes.Write([]byte{0}) // never blocks: the reader drains the pipe
	}
}

// read passes keys on until over is set.
func (k *keys) read(fd int, before *unix.Termios) {
	wake := unix.PollFd{Fd: int32(k.woken.Fd()), Events: unix.POLLIN}
	for !k.over.Load() {
		// Subtle: the kernel stops a process that reads or sets a terminal from the background, and the
		// load would stop with it.
		if !foreground(fd) {
			k.await(int(backgroundLook/time.Millisecond), &wake)
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
		key := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		if k.await(-1, &wake, &key); key.Revents == 0 || wake.Revents != 0 {
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

// await sleeps until one of the files is readable, or for ms milliseconds; negative means forever. The first
// file is the wake pipe, which it drains.
func (k *keys) await(ms int, files ...*unix.PollFd) {
	all := make([]unix.PollFd, len(files))
	for i, f := range files {
		all[i] = *f
	}
	_, err := unix.Poll(all, ms)
	for i, f := range files {
		if f.Revents = all[i].Revents; err != nil { // interrupted: nothing is known
			f.Revents = 0
		}
	}
	if files[0].Revents != 0 {
		var taken [64]byte
		_, _ = k.woken.Read(taken[:])
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
