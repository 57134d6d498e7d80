package wholesale

import (
	"io"
	"net/http"
)

// steady is a transport that hides short troubles of the other side.
type steady struct {
	next     http.RoundTripper
	attempts int
}

// RoundTrip sends a request, and sends it again when the other side is in trouble.
func (s *steady) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	for try := 1; ; try++ {
		resp, err = s.next.RoundTrip(req)
		if try >= s.attempts || req.Context().Err() != nil || !passing(resp, err) {
			return resp, err
		}
		if resp != nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
}

// passing says whether an outcome may be better next time.
func passing(resp *http.Response, err error) bool {
	return err != nil || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= http.StatusInternalServerError
}
