package main

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"
)

const rounds = 40_000

type stored struct{ salt, hash []byte }

// keyring knows the derived form of each partner's key.
type keyring struct{ keys map[string]stored }

func newKeyring(plain map[string]string) (*keyring, error) {
	k := &keyring{keys: make(map[string]stored, len(plain))}
	for partner, key := range plain {
		s := stored{salt: make([]byte, 16)}
		_, _ = rand.Read(s.salt)
		var err error
		if s.hash, err = derive(key, s.salt); err != nil {
			return nil, err
		}
		k.keys[partner] = s
	}
	return k, nil
}

func derive(key string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, key, salt, rounds, sha256.Size)
}

// Verify reports whether a key is the partner's.
func (k *keyring) Verify(partner, key string) bool {
	s, ok := k.keys[partner]
	if !ok {
		return false
	}
	hash, err := derive(key, s.salt)
	return err == nil && subtle.ConstantTimeCompare(hash, s.hash) == 1
}

// remembering is a guard that verifies a key again only after ttl.
type remembering struct {
	guard
	ttl  time.Duration
	seen sync.Map // [sha256.Size]byte to time.Time
}

// Verify reports whether a key is the partner's.
func (m *remembering) Verify(partner, key string) bool {
	id := sha256.Sum256([]byte(partner + "\x00" + key))
	if at, ok := m.seen.Load(id); ok && time.Since(at.(time.Time)) < m.ttl {
		return true
	}
	ok := m.guard.Verify(partner, key)
	if ok {
		m.seen.Store(id, time.Now())
	}
	return ok
}
