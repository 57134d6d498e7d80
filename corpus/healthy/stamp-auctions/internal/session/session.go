// Package session checks who bids. Keys are stretched once, and then remembered.
package session

import (
	"crypto/sha256"
	"strings"
	"sync"

	"golang.org/x/crypto/bcrypt"
)

// Door lets bidders in.
type Door struct {
	mu    sync.Mutex
	hash  []byte
	known map[[32]byte]string
}

// NewDoor makes a door.
func NewDoor() *Door {
	h, err := bcrypt.GenerateFromPassword([]byte("club"), bcrypt.MinCost+2)
	if err != nil {
		panic(err)
	}
	return &Door{hash: h, known: map[[32]byte]string{}}
}

// Bidder returns who has a token of the form name:password.
func (d *Door) Bidder(token string) (string, bool) {
	sum := sha256.Sum256([]byte(token))
	d.mu.Lock()
	name, ok := d.known[sum]
	d.mu.Unlock()
	if ok {
		return name, true
	}
	name, password, _ := strings.Cut(token, ":")
	if bcrypt.CompareHashAndPassword(d.hash, []byte(password)) != nil {
		return "", false
	}
	d.mu.Lock()
	d.known[sum] = name
	d.mu.Unlock()
	return name, true
}
