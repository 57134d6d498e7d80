package site

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/record/code"
)

// stack makes frames, innermost first, of "function file" lines; a line without a file
// gets one in GOROOT, under its function's package.
func stack(lines ...string) []code.Frame {
	var frames []code.Frame
	for i, l := range lines {
		function, file, _ := strings.Cut(l, " ")
		if file == "" {
			file = "/usr/local/go/src/" + packageOf(function) + "/x.go"
		}
		frames = append(frames, code.Frame{Function: function, File: file, Line: 10 + i})
	}
	return frames
}

func TestSite(t *testing.T) {
	const own, mod = " /home/u/shop/handler.go", " /root/go/pkg/mod/"
	tests := []struct {
		name   string
		module string
		frames []code.Frame
		want   string
	}{
		{"driver", "shop.example/shop", stack("internal/poll.(*FD).Read", "net.(*netFD).Read", "net.(*conn).Read", "bufio.(*Reader).Read",
			"github.com/jackc/pgx/v5/pgproto3.(*Frontend).Receive"+mod+"github.com/jackc/pgx/v5@v5.12.0/pgproto3/f.go",
			"database/sql.(*DB).QueryContext", "shop.example/shop/api.List"+own),
			"github.com/jackc/pgx/v5/pgproto3.(*Frontend).Receive < shop.example/shop/api.List handler.go:16"},
		{"pool", "shop.example/shop", stack("runtime.selectgo", "database/sql.(*DB).conn",
			"database/sql.(*DB).QueryContext", "main.list"+own),
			"database/sql.(*DB).conn < main.list handler.go:13"},
		{"sleep", "", stack("time.Sleep /usr/local/go/src/runtime/time.go", "main.work"+own), "time.Sleep < main.work handler.go:11"},
		{"lock", "", stack("internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.(*cache).Get"+own), "main.(*cache).Get handler.go:12"},
		{"lock in a library", "", stack("sync.(*Mutex).Lock", "example.org/lru.(*Cache).Get"+mod+
			"example.org/lru@v1.0.0/c.go", "main.work"+own),
			"example.org/lru.(*Cache).Get < main.work handler.go:12"},
		{"wait group", "", stack("sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait", "main.work"+own), "sync.(*WaitGroup).Wait < main.work handler.go:12"},
		{"logger", "", stack("syscall.write", "internal/poll.(*FD).Write", "os.(*File).Write",
			"log.(*Logger).output", "log.Printf", "main.work"+own),
			"os.(*File).Write < main.work handler.go:15"},
		{"file locked by another writer", "", stack("internal/poll.(*fdMutex).rwlock",
			"internal/poll.(*FD).Write", "os.(*File).Write", "main.work"+own),
			"os.(*File).Write < main.work handler.go:13"},
		{"channel", "", stack("runtime.chanrecv1", "main.work"+own), "main.work handler.go:11"},
		{"response", "", stack("syscall.write", "net.(*conn).Write", "net/http.checkConnErrorWriter.Write",
			"bufio.(*Writer).Flush", "net/http.(*response).finishRequest", "net/http.(*conn).serve"),
			"net/http.(*response).finishRequest"},
		{"module of one word, trimmed paths", "shop", stack("runtime.chanrecv1", "shop/api.List shop/api/list.go"), "shop/api.List list.go:11"},
		{"unknown module, trimmed paths", "", stack("runtime.chanrecv1",
			"example.org/lib.Do example.org/lib@v1.2.3/do.go", "shop.example/api.List shop.example/api/list.go"),
			"example.org/lib.Do < shop.example/api.List list.go:12"},
		{"vendored", "", stack("runtime.chanrecv1", "example.org/lib.Do /home/u/shop/vendor/example.org/lib/do.go", "main.main"+own), "example.org/lib.Do < main.main handler.go:12"},
		{"a package called vendor", "", stack("runtime.chanrecv1", "shop.example/vendor.List /home/u/shop/vendor/list.go", "main.main"+own), "shop.example/vendor.List list.go:11"},
		{"in place of another module", "shop.example/gateway/cmd", stack("runtime.selectgo", "net/http.(*persistConn).roundTrip",
			"shop.example/gateway.(*Executor).step /home/u/gateway/execute.go"),
			"net/http.(*persistConn).roundTrip < shop.example/gateway.(*Executor).step execute.go:12"},
		{"another module, downloaded", "shop.example/gateway/cmd", stack("runtime.selectgo", "net/http.(*persistConn).roundTrip",
			"shop.example/gateway.(*Executor).step"+mod+"shop.example/gateway@v0.3.17/execute.go"),
			"net/http.(*persistConn).roundTrip"},
		{"runtime alone", "", stack("runtime.gopark"), "runtime.gopark"},
		{"nothing", "", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			own := NewOwnership(test.module)
			if got := own.Site(test.frames, SyncOf(test.frames)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPackageOf(t *testing.T) {
	for function, want := range map[string]string{
		"main.main":                     "main",
		"net/http.(*conn).serve":        "net/http",
		"gopkg.in/yaml%2ev3.(*Dec).run": "gopkg.in/yaml%2ev3",
		"example.org/a.Map[go.shape.string,example.org/b.T].Get": "example.org/a",
		"plain": "plain",
		"":      "",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("packageOf(%q) = %q, want %q", function, got, want)
		}
	}
}
