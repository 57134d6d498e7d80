package service

import (
	"strings"
	"testing"
)

// What net/http of Go 1.26 and gin 1.10 print of a panic in (*shop).price, called by a
// handler; panicOfNil is net/http's too.
const (
	panicOfHTTP = `2026/11/24 08:03:56 http: panic serving 127.0.0.1:47906: runtime error: index out of range [4] with length 1
goroutine 23 [running]:
net/http.(*conn).serve.func1()
	/usr/local/go/src/net/http/server.go:1897 +0xbd
panic({0x734b80?, 0x3bc48bfc4138?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
main.(*shop).price(...)
	/src/shop/main.go:4
main.main.func1({0x62dfe5?, 0x3bc48bf860a0?}, 0x0?)
	/src/shop/main.go:5 +0x25
`
	panicOfNil = `2026/11/24 08:03:56 http: panic serving [::1]:47906: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x63b1a0]

goroutine 23 [running]:
net/http.(*conn).serve.func1()
	/usr/local/go/src/net/http/server.go:1897 +0xbd
panic({0x734b80?, 0x3bc48bfc4138?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
runtime.panicmem()
	/usr/local/go/src/runtime/panic.go:336 +0x13a
example.org/shop/prices.(*Table).of(0x0)
	/src/shop/prices/table.go:41 +0x4
`
	panicOfGin = "\n\n\x1b[31m2026/11/24 08:04:22 [Recovery] 2026/11/24 - 08:04:22 panic recovered:\n" + `GET / HTTP/1.1
Host: 127.0.0.1:37833

runtime error: index out of range [4] with length 1
/usr/local/go/src/runtime/panic.go:236 (0x44c396)
	panicBounds64: panic(e)
/usr/local/go/src/runtime/asm_amd64.s:2129 (0x48d747)
	panicBounds: CALL
/src/shop/main.go:4 (0x753acb)
	(*shop).price: func (s *shop) price(i int) int { return s.p[i] }
/src/shop/main.go:5 (0x753aa4)
	main.func1: s.price(4)
`
)

func TestPanicsThatAServiceSurvives(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"net/http": {panicOfHTTP + strings.Replace(panicOfHTTP, "price", "other", 1), "the service panicked in 2 requests: " +
			"runtime error: index out of range [4] with length 1, in main.(*shop).price (main.go:4)"},
		"a nil pointer": {panicOfNil, "the service panicked in 1 request: " +
			"runtime error: invalid memory address or nil pointer dereference, in prices.(*Table).of (table.go:41)"},
		"gin": {panicOfGin, "the service panicked in 1 request: " +
			"runtime error: index out of range [4] with length 1, in (*shop).price (main.go:4)"},
		"gin in release mode": {"[Recovery] 2026/11/24 - 08:04:22 panic recovered:\nno stock\n" +
			"/src/shop/main.go:9 (0x75)\n\t(*shop).take: panic(\"no stock\")\n",
			"the service panicked in 1 request: no stock, in (*shop).take (main.go:9)"},
		"a stack cut short":    {"http: panic serving 127.0.0.1:47906: no stock\ngoroutine 23 [running]:\n", "the service panicked in 1 request: no stock"},
		"talk of panic":        {"don't panic(\nmain.go:33\npanic: buttons\n", ""},
		"a frame without name": {"http: panic serving a: b\npanic(\n)\n/src/main.go:3 +0x1\n", "the service panicked in 1 request: b"},
	} {
		seen := newTail(nil)
		if _, err := seen.Write([]byte(c.output)); err != nil {
			t.Fatal(err)
		}
		if got := seen.panicked(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
