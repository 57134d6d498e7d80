package accesslog

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/scenario/feeder"
)

// maxPath bounds a logged path with its query, in bytes.
const maxPath = 8 << 10

// logPath makes a logged path and query fit for a URL and removes its first
// slash. A client's own escapes stay as they are.
func logPath(text []byte) (string, error) {
	if len(text) == 0 || text[0] != '/' {
		return "", errors.New("its path does not begin with a slash")
	}
	if len(text) > maxPath {
		return "", fmt.Errorf("its path is over %d bytes", maxPath)
	}
	parts := strings.Split(string(text[1:]), "?")
	for i := range parts {
		parts[i] = feeder.EscapePath(parts[i])
	}
	return strings.Join(parts, "?"), nil
}

// unixNano refuses times that no log has and that would overflow.
func unixNano(t time.Time) (int64, error) {
	if t.Year() < 1970 || t.Year() > 2200 {
		return 0, fmt.Errorf("the year %d is not from 1970 to 2200", t.Year())
	}
	return t.UnixNano(), nil
}
