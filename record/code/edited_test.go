package code

import "testing"

func TestVendored(t *testing.T) {
	for file, want := range map[string]bool{
		"/src/shop/vendor/github.com/lib/pq/conn.go":                true,
		"/srv/vendor/shop/vendor/github.com/lib/pq/conn.go":         true,
		"/usr/local/go/src/vendor/golang.org/x/net/http2/hpack.go":  true,
		"/src/shop/cmd/vendor/main.go":                              false,
		"/src/shop/internal/vendor/list.go":                         false,
		"/srv/vendor/shop/orders/list.go":                           false,
		"/srv/vendor/shop/vendor/list.go":                           false,
		"/src/shop/vendors/github.com/lib.go":                       false,
		"/root/go/pkg/mod/github.com/lib/pq@v1.10.9/vendor/conn.go": false,
	} {
		if got := Vendored(file); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
}
