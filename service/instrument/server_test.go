package instrument

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/probe/request"
)

// server serves over HTTP/1.1 and HTTP/2 while an execution trace runs, and prints the trace. Before that it
// prints what calling a handler allocates, for a marked request without a trace and for an unmarked one with a
// trace.
const server = `package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"strings"
	"testing"
	_ "unsafe"
)

type handler struct{ srv *http.Server }

//go:linkname serve net/http.serverHandler.ServeHTTP
func serve(h handler, w http.ResponseWriter, r *http.Request)

func main() {
	quiet := handler{&http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}}
	plain, marked := httptest.NewRequest("GET", "/", nil), httptest.NewRequest("GET", "/", nil)
	marked.Header.Set("x-redline-request", "1.1")
	fmt.Println(testing.AllocsPerRun(100, func() { serve(quiet, nil, marked) }))

	var recorded bytes.Buffer
	if err := trace.Start(&recorded); err != nil {
		panic(err)
	}
	fmt.Println(testing.AllocsPerRun(100, func() { serve(quiet, nil, plain) }))
	for _, two := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/cut" {
				panic(http.ErrAbortHandler)
			}
		}))
		s.EnableHTTP2 = two
		s.StartTLS()
		for _, one := range [][3]string{{"GET", "/", "7.2"}, {"GET", "/", ""}, {"POST", "/cut", "8.1"}, {"GET", "/", strings.Repeat("9", 100)}, {"GET", "/", "9\t\xff 1"}} {
			r, _ := http.NewRequest(one[0], s.URL+one[1], nil)
			if one[2] != "" {
				r.Header.Set("x-redline-request", one[2])
			}
			if answer, err := s.Client().Do(r); err == nil {
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}
		s.Close()
	}
	trace.Stop()
	fmt.Println(base64.StdEncoding.EncodeToString(recorded.Bytes()))
}
`

// TestServerMarksRequests builds a program with the hooks: each request with redline's header is a task on its handler's
// goroutine, with its id, and ends with its handler however that ends. Nothing else is, and unless there are both a header and a
// trace nothing is allocated.
func TestServerMarksRequests(t *testing.T) {
	dir := written(t, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.21\n", "main.go": server, "linkname.s": ""})
	r, err := Overlay(listed(t, dir), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(build(t, dir, &Setup{Files: r.Files}))
	if len(lines) != 3 || lines[0] != "0" || lines[1] != "0" {
		t.Fatalf("allocations without a trace and without a header: %q", lines[:min(len(lines), 2)])
	}
	ids, endless := tasks(t, lines[2])
	long := strings.Repeat("9", 64)
	if want := []string{"7.2", "8.1", long, "9___1", "7.2", "8.1", long, "9___1"}; !slices.Equal(ids, want) || endless > 0 {
		t.Errorf("marked %q, want %q; %d have no end", ids, want, endless)
	}
}

// tasks returns the ids of the requests that a printed trace marks on the goroutine that began them, and how many of them have no end.
func tasks(t *testing.T, printed string) (ids []string, endless int) {
	t.Helper()
	recorded, err := base64.StdEncoding.DecodeString(printed)
	if err != nil {
		t.Fatal(err)
	}
	events, err := trace.NewReader(bytes.NewReader(recorded))
	if err != nil {
		t.Fatal(err)
	}
	open := map[trace.TaskID]trace.GoID{}
	for {
		e, err := events.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind() {
		case trace.EventTaskBegin:
			if e.Task().Type == request.TaskType {
				open[e.Task().ID], ids = e.Goroutine(), append(ids, "")
			}
		case trace.EventLog:
			if on, ok := open[e.Log().Task]; ok && e.Log().Category == request.Category && on == e.Goroutine() {
				ids[len(ids)-1] = e.Log().Message
			}
		case trace.EventTaskEnd:
			if open[e.Task().ID] == e.Goroutine() {
				delete(open, e.Task().ID)
			}
		}
	}
	return ids, len(open)
}

// hertz passes three requests to a router while an execution trace runs, the last to a handler that panics, and prints the trace.
const hertz = `package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"runtime/trace"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/route"
)

func main() {
	engine := route.NewEngine(config.NewOptions(nil))
	engine.GET("/", func(context.Context, *app.RequestContext) {})
	engine.GET("/cut", func(context.Context, *app.RequestContext) { panic("cut") })
	ask := func(path, id string) {
		defer func() { recover() }()
		c := engine.NewContext()
		c.Request.SetRequestURI("http://shop" + path)
		if id != "" {
			c.Request.Header.Set("x-redline-request", id)
		}
		engine.ServeHTTP(context.Background(), c)
	}
	ask("/", "1.1")
	var recorded bytes.Buffer
	if err := trace.Start(&recorded); err != nil {
		panic(err)
	}
	ask("/", "2.1")
	ask("/", "")
	ask("/cut", "3.1")
	trace.Stop()
	fmt.Println(base64.StdEncoding.EncodeToString(recorded.Bytes()))
}
`

// TestHertzMarksRequests does the same with Hertz, all of whose requests are marked while a trace runs.
func TestHertzMarksRequests(t *testing.T) {
	dir := written(t, map[string]string{
		"go.mod":  "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/cloudwego/hertz v0.10.4\n",
		"main.go": hertz,
	})
	printed := strings.Fields(build(t, dir, setupModules(t, dir, "github.com/cloudwego/hertz/pkg/route"))) // Hertz's log comes first
	ids, endless := tasks(t, printed[len(printed)-1])
	if want := []string{"2.1", "", "3.1"}; !slices.Equal(ids, want) || endless > 0 {
		t.Errorf("marked %q, want %q; %d have no end", ids, want, endless)
	}
}
