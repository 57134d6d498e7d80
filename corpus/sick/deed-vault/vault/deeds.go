// Package vault keeps texts so that only their office can read them.
package vault

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Deed is what a notary signed.
type Deed struct {
	Name    string    `json:"name"`
	Parties []string  `json:"parties"`
	Text    string    `json:"text"`
	Signed  time.Time `json:"signed"`
}

// Deeds are sealed deeds by office and name.
type Deeds struct {
	ring *Keyring

	mu     sync.RWMutex
	sealed map[string]map[string][]byte
}

// NewDeeds makes an empty archive with the keys of ring.
func NewDeeds(ring *Keyring) *Deeds {
	return &Deeds{ring: ring, sealed: map[string]map[string][]byte{}}
}

// Seal adds deeds of an office.
func (d *Deeds) Seal(office string, batch []Deed) error {
	box, err := d.ring.Box(office)
	if err != nil {
		return err
	}
	sealed := make(map[string][]byte, len(batch))
	for _, deed := range batch {
		text, err := json.Marshal(deed)
		if err != nil {
			return fmt.Errorf("vault: %s: %w", deed.Name, err)
		}
		if sealed[deed.Name], err = box.Seal(text, []byte(office+"/"+deed.Name)); err != nil {
			return fmt.Errorf("vault: %s: %w", deed.Name, err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sealed[office] == nil {
		d.sealed[office] = sealed
		return nil
	}
	for name, text := range sealed {
		d.sealed[office][name] = text
	}
	return nil
}

// Open returns a deed of an office.
func (d *Deeds) Open(office, name string) (Deed, error) {
	d.mu.RLock()
	sealed, ok := d.sealed[office][name]
	d.mu.RUnlock()
	if !ok {
		return Deed{}, ErrUnknown
	}
	box, err := d.ring.Box(office)
	if err != nil {
		return Deed{}, err
	}
	text, err := box.Open(sealed, []byte(office+"/"+name))
	if err != nil {
		return Deed{}, fmt.Errorf("%s/%s: %w", office, name, err)
	}
	var deed Deed
	err = json.Unmarshal(text, &deed)
	return deed, err
}

// Names returns the names of an office's deeds in order; nil if there is no such office.
func (d *Deeds) Names(office string) []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.sealed[office] == nil {
		return nil
	}
	names := make([]string, 0, len(d.sealed[office]))
	for name := range d.sealed[office] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
