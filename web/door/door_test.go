package door

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve opens a door behind which every request is answered with its method.
func serve(t testing.TB, address string) *Door {
	t.Helper()
	d, err := Open(t.Context(), Options{Address: address, Name: "test"})
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() {
		done <- d.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "in by "+r.Method) }))
	}()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	return d
}

func ask(t testing.TB, client *http.Client, method, url string, header http.Header, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	must(t, err)
	for name, values := range header {
		r.Header[name] = values
	}
	r.Host = host
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(body)
}

// TestOthersNeedTheToken: at an address that others can reach, once in the URL and then by cookie.
func TestOthersNeedTheToken(t *testing.T) {
	d := &Door{token: "secret", cookie: "c"}
	if d.welcome(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/?token=wrong", nil)) {
		t.Error("a wrong token is let in")
	}
	w := httptest.NewRecorder()
	if !d.welcome(w, httptest.NewRequest(http.MethodGet, "/compare?a=1&token=secret", nil)) ||
		w.Header().Get("Location") != "/compare?a=1" {
		t.Errorf("sent on to %q", w.Header().Get("Location"))
	}
	shown := httptest.NewRequest(http.MethodGet, "/", nil)
	shown.AddCookie(w.Result().Cookies()[0])
	if d.welcome(httptest.NewRecorder(), shown) || shown.Header.Get("Authorization") != "Bearer secret" {
		t.Errorf("the cookie became %q", shown.Header.Get("Authorization"))
	}
	whole := serve(t, "0.0.0.0:0")
	address := strings.Replace(whole.URL(), "[::]", "127.0.0.1", 1)
	bare := address[:strings.Index(address, "?")]
	if status, _ := ask(t, http.DefaultClient, http.MethodGet, bare, nil, ""); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	jar, err := cookiejar.New(nil)
	must(t, err)
	if status, body := ask(t, &http.Client{Jar: jar}, http.MethodGet, address, nil, ""); status != 200 || body != "in by GET" {
		t.Errorf("with the token: %d %q", status, body)
	}
}

// TestForeignNamesAreRefused: a page on the internet may point its own name at this address.
func TestForeignNamesAreRefused(t *testing.T) {
	d := serve(t, "127.0.0.1:0")
	if status, _ := ask(t, http.DefaultClient, http.MethodGet, d.URL(), nil, "evil.example"); status != http.StatusForbidden {
		t.Errorf("%d", status)
	}
}

// TestOtherPagesCannotPost: a page on the internet that the same browser shows must not press a button here.
func TestOtherPagesCannotPost(t *testing.T) {
	d := serve(t, "127.0.0.1:0")
	own := strings.TrimSuffix(d.URL(), "/")
	for _, c := range []struct {
		header http.Header
		want   int
	}{
		{http.Header{"Origin": {own}, "Sec-Fetch-Site": {"same-origin"}}, 200},
		{http.Header{"Origin": {own}}, 200},
		{http.Header{"Origin": {"http://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, 403},
		{http.Header{"Origin": {"http://evil.example"}}, 403},
		{http.Header{"Origin": {"null"}, "Sec-Fetch-Site": {"cross-site"}}, 403},
		{http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
	} {
		if status, _ := ask(t, http.DefaultClient, http.MethodPost, d.URL(), c.header, ""); status != c.want {
			t.Errorf("%v: %d, want %d", c.header, status, c.want)
		}
	}
}

// TestAnswersUnderWayEnd: a server that ends lets answers in progress end first, which would otherwise be cut off.
func TestAnswersUnderWayEnd(t *testing.T) {
	d, err := Open(t.Context(), Options{Address: "127.0.0.1:0", Name: "test"})
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- d.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "the first half, ")
			must(t, http.NewResponseController(w).Flush())
			cancel()
			for { // until no new request gets in
				c, err := net.Dial("tcp", d.listener.Addr().String())
				if err != nil {
					break
				}
				c.Close()
			}
			io.WriteString(w, "and the second")
		}))
	}()
	answer, err := http.Get(d.URL())
	must(t, err)
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "the first half, and the second" {
		t.Errorf("%q, %v", body, err)
	}
	must(t, <-done)
}
