// Package journal has files to which lines are added for good.
package journal

import (
	"io"
	"os"
	"sync"
)

// Journal keeps lines.
type Journal interface {
	io.Closer
	Append(line []byte) error
}

func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

type lines struct {
	mu sync.Mutex
	*os.File
	size int64
}

// OpenLines opens a journal whose lines are safe once Append returns.
func OpenLines(path string) (Journal, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	return &lines{File: f}, nil
}

func (l *lines) Append(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.Write(append(line, '\n'))
	l.size += int64(n)
	if err != nil {
		return err
	}
	return l.Sync()
}

type waiter struct {
	line []byte
	done chan error
}

type groups struct {
	file  *os.File
	queue chan waiter
	ended chan struct{}
}

// OpenGroups is OpenLines for many callers: those that wait at the same time are
// written together.
func OpenGroups(path string) (Journal, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	g := &groups{f, make(chan waiter, 256), make(chan struct{})}
	go g.run()
	return g, nil
}

func (g *groups) run() {
	defer close(g.ended)
	for first := range g.queue {
		group := append(make([]waiter, 0, 64), first)
		for len(group) < cap(group) && len(g.queue) > 0 {
			group = append(group, <-g.queue)
		}
		var buf []byte
		for _, w := range group {
			buf = append(append(buf, w.line...), '\n')
		}
		_, err := g.file.Write(buf)
		if err == nil {
			err = g.file.Sync()
		}
		for _, w := range group {
			w.done <- err
		}
	}
}

func (g *groups) Append(line []byte) error {
	w := waiter{line, make(chan error, 1)}
	g.queue <- w
	return <-w.done
}

func (g *groups) Close() error {
	close(g.queue)
	<-g.ended
	return g.file.Close()
}
