package redact

import (
	"bytes"
	"encoding/json"
)

// Document hides secrets by form and value in the texts of a JSON document of
// redline's own, whose keys and figures stay byte for byte.
func (r *Redactor) Document(data []byte) []byte {
	var out bytes.Buffer
	clean := map[string]bool{} // texts as they are in the document: most are there many times
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
		quoted := data[start:end]
		if clean[string(quoted)] {
			continue
		}
		if rest := bytes.TrimLeft(data[end:min(end+8, len(data))], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			// A key is redline's own most often, but maps have names for keys.
			if name := string(quoted[1 : len(quoted)-1]); r.Sweep(name) == name {
				clean[string(quoted)] = bytes.IndexByte(quoted, '\\') < 0 // else the text behind it is another
				continue
			}
		}
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			continue
		}
		swept := r.Sweep(text)
		if swept == text {
			clean[string(quoted)] = true
			continue
		}
		var hidden bytes.Buffer
		e := json.NewEncoder(&hidden)
		e.SetEscapeHTML(false)
		if e.Encode(swept) != nil {
			continue
		}
		out.Write(data[from:start])
		out.Write(bytes.TrimRight(hidden.Bytes(), "\n"))
		from = end
	}
	if from == 0 {
		return data
	}
	out.Write(data[from:])
	return out.Bytes()
}
