package grpc

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redline-go/redline/scenario"
)

// plaintext starts a server of HTTP/2 without TLS.
func plaintext(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// TestReflectionFollowsNoRedirect: a target must not choose which server redline asks,
// least of all with the plan's credentials.
func TestReflectionFollowsNoRedirect(t *testing.T) {
	var hits atomic.Int64
	elsewhere := plaintext(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		s := plaintext(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL+r.URL.Path, status) })
		q := scenario.Request{URL: "shop.Shop/Buy", Headers: map[string]scenario.Secret{"Authorization": "Bearer x"}}
		_, err := New(t.Context(), calls(strings.TrimPrefix(s.URL, "http://"), q))
		if err == nil {
			t.Errorf("%d: no error", status)
		}
		if hits.Swap(0) > 0 {
			t.Errorf("%d: the question went to where it was redirected; error %v", status, err)
		}
	}
}
