package storage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/redline-go/redline/experiment/servers"
)

// redisConn speaks to Redis in its protocol, RESP2 (redis.io/docs/reference/protocol-spec): as much of it
// as one key's commands need.
type redisConn struct {
	net.Conn
	answers *bufio.Reader
}

func dialRedis(tb testing.TB) *redisConn {
	tb.Helper()
	conn, err := net.Dial("unix", address(tb, servers.Redis))
	must(tb, err)
	tb.Cleanup(func() { _ = conn.Close() })
	return &redisConn{conn, bufio.NewReader(conn)}
}

// do sends a command and returns its answer as text; "" is nothing.
func (c *redisConn) do(words ...string) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(c, text.String()); err != nil {
		return "", err
	}
	line, err := c.answers.ReadString('\n')
	if err != nil {
		return "", err
	}
	kind, rest := line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", errors.New("redis: " + rest)
	case '$':
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return "", err
		}
		body := make([]byte, n+2)
		_, err = io.ReadFull(c.answers, body)
		return string(body[:n]), err
	}
	return "", fmt.Errorf("redis: an answer that begins with %q", kind)
}
