package docstore

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
)

// Codec turns values into documents and back.
type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(doc []byte, into any) error
}

// JSON is the codec of documents that other programs read too.
type JSON struct{}

// Encode implements Codec.
func (JSON) Encode(v any) ([]byte, error) { return json.Marshal(v) }

// Decode implements Codec.
func (JSON) Decode(doc []byte, into any) error { return json.Unmarshal(doc, into) }

// Gob is the codec of documents that only this program reads.
type Gob struct{}

// Encode implements Codec.
func (Gob) Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

// Decode implements Codec.
func (Gob) Decode(doc []byte, into any) error {
	return gob.NewDecoder(bytes.NewReader(doc)).Decode(into)
}

// Repo keeps values of one type.
type Repo[T any] struct {
	engine Engine
	codec  Codec
	prefix string
}

// NewRepo keeps values of kind in an engine.
func NewRepo[T any](engine Engine, codec Codec, kind string) *Repo[T] {
	return &Repo[T]{engine, codec, kind + "/"}
}

// Get returns a value with its version.
func (r *Repo[T]) Get(id string) (T, uint64, error) {
	var v T
	doc, version, err := r.engine.Read(r.prefix + id)
	if err != nil {
		return v, 0, err
	}
	if err := r.codec.Decode(doc, &v); err != nil {
		return v, 0, fmt.Errorf("%s%s: %w", r.prefix, id, err)
	}
	return v, version, nil
}

// Put keeps a value that was read at that version; 0 is a new one.
func (r *Repo[T]) Put(id string, v T, version uint64) error {
	doc, err := r.codec.Encode(v)
	if err != nil {
		return fmt.Errorf("%s%s: %w", r.prefix, id, err)
	}
	return r.engine.Write(r.prefix+id, doc, version)
}

// Update changes a value, again from the start where somebody else was faster.
func (r *Repo[T]) Update(id string, change func(*T) error) error {
	for {
		v, version, err := r.Get(id)
		if err != nil {
			return err
		}
		if err := change(&v); err != nil {
			return err
		}
		if err := r.Put(id, v, version); !errors.Is(err, ErrConflict) {
			return err
		}
	}
}
