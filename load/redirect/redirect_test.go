package redirect

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/failure"
)

var hosts = []endpoint.Endpoint{
	{Scheme: "http", Address: "a.test:80", Authority: "a.test"},
	{Scheme: "https", Address: "b.test:443", Authority: "B.test"},
	{Scheme: "http", Address: "[::1]:8080", Authority: "[::1]:8080"},
}

func TestFollow(t *testing.T) {
	for _, test := range []struct {
		method   string
		status   int
		location string
		host     int
		want     string // method and target
	}{
		{"GET", 302, "/there?q=1#part", 0, "GET /there?q=1"},
		{"GET", 301, "sub", 0, "GET /dir/sub"},
		{"GET", 301, "?q=2", 0, "GET /dir/page?q=2"},
		{"GET", 308, "https://B.TEST", 1, "GET /"},
		{"GET", 307, "//[::1]:8080/x", 2, "GET /x"},
		{"POST", 302, "/x", 0, "GET /x without body"},
		{"POST", 307, "/x", 0, "POST /x"},
		{"PUT", 301, "/x", 0, "PUT /x"},
		{"PUT", 303, "/x", 0, "GET /x without body"},
		{"HEAD", 303, "/x", 0, "HEAD /x"},
		{"GET", 302, "/a b?c d=\u00fc", 0, "GET /a%20b?c%20d=%C3%BC"},
	} {
		x := &load.Exchange{Status: test.status, Redirect: []byte(test.location)}
		host, err := Follow(x, Request{Method: test.method, Target: "/dir/page?q=1"}, hosts)
		got := x.Hop.Method + " " + string(x.Hop.Target)
		if x.Hop.NoBody {
			got += " without body"
		}
		if err != nil || host != test.host || x.Hop.Host != host || got != test.want || len(x.Redirect) > 0 || !Is(test.status) {
			t.Errorf("%s, %d to %s: host %d, %q (%v), want %d, %q", test.method, test.status, test.location, host,
				got, err, test.host, test.want)
		}
	}
}

func TestFollowGoesOnFromTheLastHop(t *testing.T) {
	x := &load.Exchange{Status: 302, Redirect: []byte("https://b.test/dir/")}
	own := Request{Method: "POST", Target: "/"}
	for hop := range mostHops {
		if _, err := Follow(x, own, hosts); err != nil {
			t.Fatal(err)
		}
		if hop > 0 && (x.Hop.Host != 1 || string(x.Hop.Target) != "/dir/more" || x.Hop.Method != "GET") {
			t.Fatalf("hop %d: %+v", hop, x.Hop)
		}
		x.Redirect = append(x.Redirect[:0], "more"...)
	}
	if _, err := Follow(x, own, hosts); failure.Of(err) != failure.Redirect || !strings.Contains(err.Error(), "more than 10") {
		t.Error(err)
	}
}

func TestWhatIsNotFollowed(t *testing.T) {
	for location, want := range map[string]string{
		"http://elsewhere.test/": "http://elsewhere.test, which no request",
		"https://a.test/":        "no request",
		"http://a.test:81/":      "no request",
		"http://me:pass@a.test/": "contains credentials",
		"mailto:me@a.test":       "not a URL that redline can follow",
		"http://a.test/%zz\x00":  "not a URL that redline can follow",
		"javascript:alert(1)":    "not a URL that redline can follow",
		"ftp://a.test/":          "no request",
	} {
		x := &load.Exchange{Status: 302, Redirect: []byte(location)}
		_, err := Follow(x, Request{Method: "GET", Target: "/"}, hosts)
		if failure.Of(err) != failure.Redirect || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: error %v, want %q", location, err, want)
		}
	}
	for _, status := range []int{200, 300, 304, 305, 306, 404} {
		if Is(status) {
			t.Errorf("%d is taken for a redirect", status)
		}
	}
}

func FuzzFollow(f *testing.F) {
	f.Add("/dir/page", "../x?y=z#w")
	f.Add("/", "//a.test:80/%2f")
	f.Fuzz(func(t *testing.T, target, location string) {
		x := &load.Exchange{Status: 302, Redirect: []byte(location)}
		if _, err := Follow(x, Request{Method: "GET", Target: "/" + target}, hosts); err != nil {
			return
		}
		// Whatever the answer said, it must not break a request's framing.
		if got := string(x.Hop.Target); !strings.HasPrefix(got, "/") ||
			strings.ContainsFunc(got, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
			t.Errorf("target %q", got)
		}
	})
}
