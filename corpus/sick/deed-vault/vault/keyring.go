package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

// Rounds is the number of iterations from a passphrase to a key.
const Rounds = 15_000

const (
	keyBytes  = 32
	saltBytes = 16
)

// Errors of the vault.
var (
	ErrUnknown = errors.New("vault: unknown")
	ErrBroken  = errors.New("vault: a sealed text is broken")
)

type office struct {
	passphrase string
	salt       []byte
}

// Keyring knows the passphrases of offices.
type Keyring struct {
	rounds  int
	mu      sync.RWMutex
	offices map[string]office
}

// NewKeyring makes an empty ring.
func NewKeyring(rounds int) *Keyring {
	return &Keyring{rounds: rounds, offices: map[string]office{}}
}

// Enrol adds an office with a salt of its own.
func (k *Keyring) Enrol(name, passphrase string) error {
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return fmt.Errorf("vault: salt: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.offices[name] = office{passphrase, salt}
	return nil
}

// Box returns what seals and opens the texts of an office.
func (k *Keyring) Box(name string) (*Box, error) {
	k.mu.RLock()
	o, ok := k.offices[name]
	k.mu.RUnlock()
	if !ok {
		return nil, ErrUnknown
	}
	key, err := pbkdf2.Key(sha256.New, o.passphrase, o.salt, k.rounds, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("vault: key of %s: %w", name, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Box{gcm}, nil
}

// Box seals and opens texts. It may be used by several goroutines.
type Box struct{ gcm cipher.AEAD }

// Seal encrypts a text that belongs to a name.
func (b *Box) Seal(text, name []byte) ([]byte, error) {
	nonce := make([]byte, b.gcm.NonceSize(), b.gcm.NonceSize()+len(text)+b.gcm.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return b.gcm.Seal(nonce, nonce, text, name), nil
}

// Open decrypts what Seal made.
func (b *Box) Open(sealed, name []byte) ([]byte, error) {
	n := b.gcm.NonceSize()
	if len(sealed) < n {
		return nil, ErrBroken
	}
	text, err := b.gcm.Open(nil, sealed[:n], sealed[n:], name)
	if err != nil {
		return nil, errors.Join(ErrBroken, err)
	}
	return text, nil
}
