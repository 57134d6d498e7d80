package failure

import (
	"errors"
	"regexp"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/redact"
)

// Message is what a failure says.
type Message struct {
	Kind Kind
	Text string // without secrets; "" stands for the messages beyond the bound
}

// Messages numbers the distinct messages of a run's failures, so that a sample stores one byte. The zero value is empty.
// Its methods must not be called concurrently.
type Messages struct {
	all   []Message
	index map[Message]uint8
	// known are errors that wires make once and return repeatedly: if a target fails every
	// request, not every failure must be formatted.
	known map[*Error]uint8
}

// Bounds on what a target can take up whose failures always have new words.
const (
	mostMessages = 200
	mostKnown    = 4096
	mostText     = 200 // bytes of a message
)

// varying are the figures that differ from one failure to the next while the reason is the same.
var varying = regexp.MustCompile(`\b\d+ bytes\b`)

// Number returns the number of an error's message; 0 for one of those beyond the bound.
func (m *Messages) Number(err error) uint8 {
	made, ok := err.(*Error)
	if n, seen := m.known[made]; ok && seen {
		return n
	}
	n := m.number(Message{Kind: Of(err), Text: textOf(err)})
	if ok && len(m.known) < mostKnown {
		if m.known == nil {
			m.known = map[*Error]uint8{}
		}
		m.known[made] = n
	}
	return n
}

func (m *Messages) number(text Message) uint8 {
	if n, seen := m.index[text]; seen {
		return n
	}
	if len(m.all) == mostMessages {
		return 0
	}
	if m.index == nil {
		m.index = map[Message]uint8{}
	}
	m.all = append(m.all, text)
	m.index[text] = uint8(len(m.all))
	return uint8(len(m.all))
}

// Of returns the message of a number.
func (m *Messages) Of(n uint8) Message {
	if n == 0 || int(n) > len(m.all) {
		return Message{}
	}
	return m.all[n-1]
}

// textOf is an error's message without its kind, which is shown next to it.
func textOf(err error) string {
	var named *Error
	if errors.As(err, &named) {
		err = named.Err
	}
	text := notation.Clean(redact.Text(err.Error()))
	if len(text) > mostText {
		text = notation.Clean(text[:mostText]) + " ..."
	}
	return varying.ReplaceAllString(text, "some bytes")
}
