package code

import "strings"

// Frame is one frame of a stack.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// hookPrefix begins the new name of a function that redline's build wrapped; the
// wrapper has the function's old name.
const hookPrefix = "redline_"

// Plain returns a stack, innermost first, as it would be without the hooks of redline's
// build: "(*DB).redline_conn", called by "(*DB).conn", becomes one function, at the
// lines of its own body. Stacks without hooks are returned unchanged.
func Plain(frames []Frame) []Frame {
	hooked := false
	for _, f := range frames {
		hooked = hooked || strings.Contains(f.Function, hookPrefix)
	}
	if !hooked {
		return frames
	}
	plain := make([]Frame, 0, len(frames))
	for i := 0; i < len(frames); i++ {
		f := frames[i]
		name, wrapped := Unhooked(f.Function)
		if wrapped {
			f.Function = name
			if i+1 < len(frames) && frames[i+1].Function == name {
				i++ // the wrapper
			}
		}
		plain = append(plain, f)
	}
	return plain
}

// Unhooked returns the name of a function without the hooks of redline's build, and
// whether it is one that they wrap; a closure within one is named
// "(*DB).redline_conn.func1".
func Unhooked(function string) (name string, wrapped bool) {
	i := strings.Index(function, "."+hookPrefix)
	if i < 0 || strings.Contains(function[i:], "/") {
		return function, false
	}
	return function[:i+1] + function[i+1+len(hookPrefix):], true
}
