// Package auth signs and checks the bearer tokens of users: JWT with HS256.
package auth

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	// golang-jwt is the maintained JWT library.
	"github.com/golang-jwt/jwt/v5"
)

// DevelopmentSecret signs the tokens of the committed scenario. It is public:
// a service that holds anything of value needs another one.
const DevelopmentSecret = "development-only-secret-published-in-the-repository"

const issuer = "redline-lab-gateway"

// MinSecret is the shortest secret that is accepted, in bytes: the size of an
// HS256 signature (RFC 7518, section 3.2).
const MinSecret = 32

// ErrInvalid is a token that is absent, malformed, forged or expired.
var ErrInvalid = errors.New("a valid bearer token is required")

// Keeper signs and checks tokens with one secret.
type Keeper struct {
	secret []byte
	parser *jwt.Parser
}

// New returns a keeper; secret has at least MinSecret bytes.
func New(secret string) (*Keeper, error) {
	if len(secret) < MinSecret {
		return nil, fmt.Errorf("the token secret has %d bytes, at least %d are wanted", len(secret), MinSecret)
	}
	return &Keeper{
		secret: []byte(secret),
		// Fixing the method is what keeps a token from choosing "none".
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithIssuer(issuer), jwt.WithExpirationRequired()),
	}, nil
}

// Sign returns a token for a user. The same arguments give the same token.
func (k *Keeper) Sign(userID int64, issued, expires time.Time) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Issuer: issuer, Subject: strconv.FormatInt(userID, 10),
		IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(expires),
	}).SignedString(k.secret)
}

// User checks an Authorization header and returns whose it is. Every failure
// wraps ErrInvalid.
func (k *Keeper) User(header string) (int64, error) {
	token, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return 0, ErrInvalid
	}
	var claims jwt.RegisteredClaims
	_, err := k.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return k.secret, nil })
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	id, err := strconv.ParseInt(claims.Subject, 10, 64)
	if err != nil || id < 1 {
		return 0, fmt.Errorf("%w: the subject is not a user", ErrInvalid)
	}
	return id, nil
}
