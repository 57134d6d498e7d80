package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// tokens signs and checks what clients send in X-Auth-Token: a user and its seal.
type tokens struct{ secret []byte }

type userKey struct{}

func userOf(ctx context.Context) uint {
	id, _ := ctx.Value(userKey{}).(uint)
	return id
}

func (t tokens) issue(user uint) string {
	id := strconv.FormatUint(uint64(user), 10)
	return id + "." + t.seal(id)
}

func (t tokens) seal(id string) string {
	m := hmac.New(sha256.New, t.secret)
	m.Write([]byte(id))
	return hex.EncodeToString(m.Sum(nil)[:12])
}

func (t tokens) require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, seal, ok := strings.Cut(r.Header.Get("X-Auth-Token"), ".")
		user, err := strconv.ParseUint(id, 10, 32)
		if !ok || err != nil || !hmac.Equal([]byte(seal), []byte(t.seal(id))) {
			http.Error(w, `{"error_message":"access unauthorized"}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, uint(user))))
	})
}
