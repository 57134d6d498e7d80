package risk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Serve answers on address until ctx ends or alive is at its end, and prints
// its base URL first. Alive is a pipe from the parent: it closes however the
// parent dies, so that no risk service is left behind.
func Serve(ctx context.Context, address string, alive io.Reader, stdout io.Writer) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("risk: %w", err)
	}
	if _, err := fmt.Fprintf(stdout, "http://%s\n", l.Addr()); err != nil {
		l.Close()
		return fmt.Errorf("risk: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if alive != nil {
		go func() {
			_, _ = io.Copy(io.Discard, alive)
			cancel()
		}()
	}
	server := &http.Server{Handler: Handler(), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("risk: %w", err)
	}
	return nil
}

// Process is a risk service that this process started.
type Process struct {
	Base string // URL
	cmd  *exec.Cmd
	pipe io.Closer
}

// Start runs this program's risk role. The child gets an empty environment:
// what is set for the gateway (its DSN, a probe's address) is not for it.
func Start(ctx context.Context) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the risk service: %w", err)
	}
	cmd := exec.Command(self, "risk", "--addr", "127.0.0.1:0", "--with-parent")
	cmd.Env = []string{}
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the risk service: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the risk service: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the risk service: %w", err)
	}
	p := &Process{cmd: cmd, pipe: pipe}
	giveUp := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(io.LimitReader(out, 1<<10)).ReadString('\n')
	if !giveUp() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("the risk service does not start: %w", err)
	}
	p.Base = strings.TrimSpace(line)
	return p, nil
}

// Stop ends the service and waits for it.
func (p *Process) Stop() {
	p.pipe.Close()
	_ = p.cmd.Wait() // how it ended is of no interest any more
}
