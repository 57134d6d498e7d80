package http2

import (
	"testing"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
)

// FuzzReceive gives arbitrary bytes to a wire that has sent a request.
func FuzzReceive(f *testing.F) {
	for _, in := range [][]byte{
		joined(settings(settingStreams, 3, settingWindow, 9), answer200(nil, 1)),
		joined(hello(), framed(frameGoAway, 0, 0, joined(number(1), number(2), []byte("debug"))...)),
		joined(settings(), framed(frameHeaders, 0, 1, 0x20, 0x88), framed(frameContinuation, flagEndHeaders, 1, 0x40, 1, 'x', 0x81, 0x1f),
			framed(frameData, flagPadded, 1, 1, 'x', 0), framed(frameWindow, 0, 1, number(5)...), framed(frameReset, 0, 1, number(8)...)),
		[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		joined(settings(settingMaxFrame, firstMaxFrame), framed(framePing, 0, 0, make([]byte, 8)...), endless(1)),
	} {
		f.Add(append([]byte{255}, in...))
		f.Add(append([]byte{0}, in...))
	}
	s := subject(f, posting("a body that waits"), nil, nil, 1, loadtest.Want{})
	s.Target = nil
	f.Fuzz(func(t *testing.T, in []byte) { loadtest.Survive(t, s, in) })
}

// FuzzSession begins and cancels streams between arbitrary bytes, and checks the bounds
// on what a session keeps of them.
func FuzzSession(f *testing.F) {
	f.Add([]byte{3}, answer200(answer200(nil, 1), 3))
	f.Add([]byte{1, 200}, joined(framed(frameHeaders, flagEndHeaders, 1, bomb()...), answer200(nil, 5)))
	f.Add([]byte{7, 7}, joined(framed(frameWindow, 0, 0, number(100)...), settings(settingWindow, 0), answer200(nil, 1)))
	f.Fuzz(func(t *testing.T, steps, in []byte) {
		reported := &slots{t: t}
		s := NewSession(Config{Streams: 4, Handler: reported, Keep: []string{"x"}})
		s.Open(nil)
		in = append(settings(), in...)
		for i := 0; len(in) > 0; i++ {
			step := byte(9)
			if len(steps) > 0 {
				step = steps[i%len(steps)]
			}
			slot := int(step) % len(reported.live)
			room, _ := s.Room()
			switch {
			case reported.live[slot] && step&0x10 != 0:
				s.Reset(slot, Cancel, nil)
				reported.live[slot] = false
			case !reported.live[slot] && room > 0:
				s.Begin(slot, Message{Block: []byte{0x82}, Body: make([]byte, int(step)<<8)}, nil)
				reported.live[slot] = true
			}
			n := min(1+int(step), len(in))
			_, err := s.Receive(in[:n], 1, nil)
			in = in[n:]
			if cap(s.partial) > 2*firstMaxFrame || cap(s.block.bytes) > 4*maxHead || len(s.heads.known) > knownHeads {
				t.Fatalf("kept %d of a frame, %d of a head, %d heads", cap(s.partial), cap(s.block.bytes), len(s.heads.known))
			}
			if err != nil {
				if failure.Of(err) != failure.BadResponse && failure.Of(err) != failure.HeaderTooLarge {
					t.Fatal(err)
				}
				return
			}
		}
		_ = s.Shut() // its result depends on the input
	})
}

// slots checks that a handler is called only for streams in progress.
type slots struct {
	t    *testing.T
	live [4]bool
}

func (s *slots) reported(slot int, end bool) error {
	if !s.live[slot] {
		s.t.Fatalf("told about slot %d, where no stream is", slot)
	}
	s.live[slot] = !end
	return nil
}

func (s *slots) Head(slot int, _ *Head, end bool) error  { return s.reported(slot, end) }
func (s *slots) Data(slot int, _ []byte, end bool) error { return s.reported(slot, end) }
func (s *slots) Failed(slot int, _ error)                { _ = s.reported(slot, true) }
