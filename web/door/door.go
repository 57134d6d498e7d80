// Package door lets browsers in to the pages that redline serves: the shelf of saved runs and
// the page of a run in progress.
//
// Who may connect is package access's: on loopback the user who runs redline, elsewhere whoever
// shows the token of the URL, once in the address and from then on in a cookie. Without a token, requests
// for another host's name are refused, because a page of the internet could give this address that name.
// So are, everywhere, requests that change something and come from another page.
package door

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/redline-go/redline/access"
	"github.com/redline-go/redline/web"
)

// Options say where a door is and who has its key. Address and Name are required.
type Options struct {
	Address string // host:port; port 0 takes a free one
	// Name keeps the cookies of redline's servers apart: a browser hands them to every port of a host.
	Name string
	// Token is that of an address which others can reach; empty draws a new one. Loopback has none.
	Token    string
	Variable string // names the environment variable that sets the token, for errors
}

// Door is an open listener. Serve closes it.
type Door struct {
	listener *access.Listener
	token    string // empty on loopback
	cookie   string // holds the token after the URL has shown it once
}

// mostRequests a second are served.
const mostRequests = 200

// Open listens at the address.
func Open(ctx context.Context, o Options) (*Door, error) {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w (hint: 127.0.0.1:0 takes a free port)", o.Address, err)
	}
	d := &Door{}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		if d.token = o.Token; d.token == "" {
			d.token = Secret()
		}
	}
	d.listener, err = access.Listen(ctx, o.Address, access.Options{Token: d.token, Variable: o.Variable, Rate: mostRequests})
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(d.listener.Addr().String()) // an address of TCP has one
	d.cookie = "redline-" + o.Name + "-" + port
	return d, nil
}

// Secret returns a new one of 144 random bits, fit for a URL.
func Secret() string {
	var random [18]byte
	rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// URL is where a browser finds the pages, the token included.
func (d *Door) URL() string {
	u := url.URL{Scheme: "http", Host: d.listener.Addr().String(), Path: "/"}
	if d.token != "" {
		u.RawQuery = url.Values{"token": {d.token}}.Encode()
	}
	return u.String()
}

// grace is how long answers in progress may take to end once the server does.
const grace = time.Second

// Serve answers with pages until ctx ends, and then closes the listener and every connection. Answers in progress end
// first if they can within a second: a browser calls one that is cut off a failure, though all of its data came.
func (d *Door) Serve(ctx context.Context, pages http.Handler) error {
	server := &http.Server{
		Handler:           d.Handler(pages),
		ConnContext:       access.ConnContext,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		within, enough := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer enough()
		if server.Shutdown(within) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-closed
	return nil
}

// Handler is what Serve serves, for whoever the listener admits.
func (d *Door) Handler(pages http.Handler) http.Handler {
	pages = http.NewCrossOriginProtection().Handler(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-store")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("X-Frame-Options", "DENY")
		if d.token == "" && !localName(r.Host) {
			Notice(w, http.StatusForbidden, "Not this server's name", "It is served as 127.0.0.1 or localhost.")
			return
		}
		if d.welcome(w, r) {
			return
		}
		if refusal := d.listener.Admit(r); refusal != nil {
			refusal.Write(w)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// welcome takes the token from the URL or the cookie to where access looks for it. The URL's goes into a
// cookie and out of sight; it reports that the browser was sent on.
func (d *Door) welcome(w http.ResponseWriter, r *http.Request) bool {
	if d.token == "" {
		return false
	}
	if shown := r.URL.Query().Get("token"); shown != "" {
		if subtle.ConstantTimeCompare([]byte(shown), []byte(d.token)) != 1 {
			return false
		}
		http.SetCookie(w, &http.Cookie{Name: d.cookie, Value: shown, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		rest := r.URL.Query()
		rest.Del("token")
		http.Redirect(w, r, (&url.URL{Path: r.URL.Path, RawQuery: rest.Encode()}).String(), http.StatusSeeOther)
		return true
	}
	if c, err := r.Cookie(d.cookie); err == nil && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+c.Value)
	}
	return false
}

// localName reports whether a Host header names this machine.
func localName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Answer writes a page.
func Answer(w http.ResponseWriter, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page)
}

// Notice writes a page that says one thing.
func Notice(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	web.Notice(w, title, text)
}
