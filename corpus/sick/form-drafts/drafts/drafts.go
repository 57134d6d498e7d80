// Package drafts keeps drafts of forms.
package drafts

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Draft is a form as far as it is filled in.
type Draft struct {
	Form    string            `json:"form"`
	Fields  map[string]string `json:"fields"`
	Saved   time.Time         `json:"saved"`
	Version string            `json:"version"`
}

// Shelf keeps drafts.
type Shelf interface {
	Save(citizen, form string, fields map[string]string) (version string, err error)
	Load(citizen, form string) (Draft, error)
}

// Store keeps bytes by name.
type Store interface {
	Put(name string, data []byte) error
	Get(name string) ([]byte, error)
}

// Numbered is a shelf that gives each draft a version by its content.
type Numbered struct{ Store Store }

var _ Shelf = Numbered{}

// Save keeps a draft.
func (n Numbered) Save(citizen, form string, fields map[string]string) (string, error) {
	h := sha1.New()
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(h, "%s=%s\n", k, fields[k])
	}
	d := Draft{Form: form, Fields: fields, Saved: time.Now().UTC(), Version: base64.RawURLEncoding.EncodeToString(h.Sum(nil))}
	data, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	return d.Version, n.Store.Put(name(citizen, form), data)
}

// Load returns a draft.
func (n Numbered) Load(citizen, form string) (d Draft, err error) {
	data, err := n.Store.Get(name(citizen, form))
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(data, &d)
}

func name(citizen, form string) string {
	sum := sha1.Sum([]byte(citizen + "/" + form))
	return fmt.Sprintf("%x", sum[:12])
}
