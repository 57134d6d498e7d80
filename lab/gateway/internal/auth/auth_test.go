package auth

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func TestUser(t *testing.T) {
	k, err := New(DevelopmentSecret)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	sign := func(k *Keeper, user int64, expires time.Time) string {
		token, err := k.Sign(user, now, expires)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	good := sign(k, 42, now.Add(time.Hour))
	if id, err := k.User("Bearer " + good); id != 42 || err != nil {
		t.Errorf("good token: %d, %v", id, err)
	}
	other, err := New(strings.Repeat("x", MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.RegisteredClaims{Issuer: issuer, Subject: "42",
		ExpiresAt: jwt.NewNumericDate(now.Add(time.Hour))}).
		SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	forever, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{Issuer: issuer, Subject: "42"}).SignedString(k.secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]string{
		"absent": "", "other scheme": "Basic " + good, "forged": "Bearer " + sign(other, 42, now.Add(time.Hour)),
		"expired": "Bearer " + sign(k, 42, now.Add(-time.Minute)), "unsigned": "Bearer " + none, "never expires": "Bearer " + forever,
		"cut": "Bearer " + good[:len(good)-2], "user 0": "Bearer " + sign(k, 0, now.Add(time.Hour)),
	} {
		if id, err := k.User(header); !errors.Is(err, ErrInvalid) || id != 0 {
			t.Errorf("%s: %d, %v", name, id, err)
		}
	}
	if _, err := New("short"); err == nil {
		t.Error("a short secret was accepted")
	}
}
