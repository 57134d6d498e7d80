package mistake

import (
	"errors"
	"fmt"
)

// Mistake is an error within a text that a person wrote, with a hint. What
// places it (a file's line, a flag's name) is added by the caller.
type Mistake struct {
	Msg, Hint string
}

func (m *Mistake) Error() string {
	if m.Hint != "" {
		return m.Msg + " (" + m.Hint + ")"
	}
	return m.Msg
}

// Newf makes a Mistake with a hint, which may be empty.
func Newf(hint, format string, args ...any) error {
	return &Mistake{Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Conflict is a mistake of a plan as a whole: keys that are well formed but make
// no sense together. At is the key that is wrong, such as "load.think" or
// "requests[2].follow", so that a file's error can point at it.
type Conflict struct {
	Mistake
	At string
}

// Conflictf makes a Conflict at a key, with a hint, which may be empty.
func Conflictf(at, hint, format string, args ...any) error {
	return &Conflict{Mistake{fmt.Sprintf(format, args...), hint}, at}
}

// AtKey places a mistake at a key. Other errors stay as they are.
func AtKey(key string, err error) error {
	var m *Mistake
	if !errors.As(err, &m) {
		return err
	}
	return &Conflict{*m, key}
}

// Within completes the key of a conflict with the section that it is in.
func Within(section string, err error) error {
	var c *Conflict
	if !errors.As(err, &c) {
		return err
	}
	return &Conflict{c.Mistake, section + "." + c.At}
}
