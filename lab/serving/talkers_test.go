package serving_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket" // a WebSocket that is kept, and redline's own
	"golang.org/x/sync/errgroup"
)

// talkersVariable makes this test binary the process of WebSocket clients: it holds how many, and the server's addresses.
// Clients in the server's process would take half of its open files, and run at its GOMAXPROCS and GOGC.
const talkersVariable = "REDLINE_LAB_TALKERS"

func TestMain(m *testing.M) {
	if plan := os.Getenv(talkersVariable); plan != "" {
		if err := talk(plan, os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// spareFiles are what a process has open besides its connections.
const spareFiles = 100

// allowFiles raises this process's limit of open files for so many connections; beyond the hard limit only root may.
func allowFiles(connections int) error {
	need := uint64(connections + spareFiles)
	var have syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &have); err != nil || have.Cur >= need {
		return err
	}
	raised := syscall.Rlimit{Cur: need, Max: max(need, have.Max)}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err != nil {
		return fmt.Errorf("%d connections need %d open files, and %d are allowed (hint: ulimit -n %d)", connections, need, have.Max, need)
	}
	return nil
}

// talkers is a process whose clients each keep a WebSocket.
type talkers struct {
	ask    io.WriteCloser
	answer *bufio.Reader
}

// newTalkers starts so many clients of a server in a process of their own, and waits until all are connected. The process
// ends with its standard input, so that it never outlives this one.
func newTalkers(tb testing.TB, addrs []string, n int) *talkers {
	tb.Helper()
	if err := allowFiles(n); err != nil {
		tb.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", talkersVariable, n, strings.Join(addrs, " ")))
	cmd.Stderr = os.Stderr
	ask, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	answer, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = ask.Close()
		_ = cmd.Wait()
	})
	t := &talkers{ask, bufio.NewReader(answer)}
	if err := t.heard(); err != nil {
		tb.Fatal(err)
	}
	return t
}

// round sends a message over each connection, all at once, and returns once every echo is there and compared.
func (t *talkers) round() error {
	if _, err := io.WriteString(t.ask, "\n"); err != nil {
		return err
	}
	return t.heard()
}

// heard is the process's next line: empty, or what failed.
func (t *talkers) heard() error {
	line, err := t.answer.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the clients' process: %q: %w", line, err)
	}
	if line = strings.TrimSpace(line); line != "" {
		return errors.New(line)
	}
	return nil
}

// talk is the clients' process: it connects, prints a line, and then answers each line that it reads after a round.
func talk(plan string, ask io.Reader, answer io.Writer) error {
	fields := strings.Fields(plan)
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		return fmt.Errorf("%s: %w", talkersVariable, err)
	}
	conns, err := dialAll(fields[1:], n)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(ask); ; {
		if _, err := fmt.Fprintln(answer); err != nil {
			return err
		}
		if !lines.Scan() {
			return lines.Err()
		}
		if err := echoes(conns); err != nil {
			return err
		}
	}
}

// dialAll opens WebSockets. They end with a reset, so that thousands of ports do not linger for a minute after each run.
func dialAll(addrs []string, n int) ([]*websocket.Conn, error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, to)
		if err == nil {
			err = conn.(*net.TCPConn).SetLinger(0)
		}
		return conn, err
	}}}
	conns := make([]*websocket.Conn, n)
	var some errgroup.Group
	some.SetLimit(clients) // below any backlog
	for i := range conns {
		some.Go(func() (err error) {
			conns[i], _, err = websocket.Dial(context.Background(), "ws://"+addrs[i%len(addrs)], &websocket.DialOptions{HTTPClient: client})
			return err
		})
	}
	return conns, some.Wait()
}

// echoes sends 256 bytes over each connection and compares what comes back.
func echoes(conns []*websocket.Conn) error {
	var all errgroup.Group
	for i, conn := range conns {
		want := bytes.Repeat([]byte{byte('a' + i%26)}, 256)
		all.Go(func() error {
			if err := conn.Write(context.Background(), websocket.MessageBinary, want); err != nil {
				return err
			}
			_, got, err := conn.Read(context.Background())
			if err == nil && !bytes.Equal(got, want) {
				err = errBody
			}
			return err
		})
	}
	return all.Wait()
}
