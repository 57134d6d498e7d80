package redact

import (
	"bytes"
	"encoding/json"
)

// Document hides secrets by form and value in the texts of a JSON document of
// redline's own, whose keys and figures stay byte for byte.
func (r *Redactor) Document(data []byte) []byte {
	var out bytes.Buffer
	from := 0
	for i := 0; i < len(data); {
		start := bytes.IndexByte(data[i:], '"')
		if start < 0 {
			break
		}
		start += i
		end := start + 1
		for end < len(data) && data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(data) {
			break // no JSON: it is left to whoever reads it
		}
		end++
		i = end
		if rest := bytes.TrimLeft(data[end:min(end+8, len(data))], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			// A key is redline's own most often, but maps have names for keys.
			if r.Sweep(string(data[start+1:end-1])) == string(data[start+1:end-1]) {
				continue
			}
		}
		var text string
		if json.Unmarshal(data[start:end], &text) != nil {
			continue
		}
		clean := r.Sweep(text)
		if clean == text {
			continue
		}
		var quoted bytes.Buffer
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		if e.Encode(clean) != nil {
			continue
		}
		out.Write(data[from:start])
		out.Write(bytes.TrimRight(quoted.Bytes(), "\n"))
		from = end
	}
	if from == 0 {
		return data
	}
	out.Write(data[from:])
	return out.Bytes()
}
