package accounting

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is the server's side of one protocol on one connection.
type peer interface {
	// next reads until a request has arrived whole, and returns the stream of its
	// answer.
	next() (stream uint32, err error)
	// answer returns a whole answer; bad is one that says that the service failed.
	answer(stream uint32, bad bool) []byte
}

// body is the body of HTTP answers; message is sent over WebSocket and TCP, and in
// requests that must be held up by a flow-control window.
var (
	body    = strings.Repeat("0123456789abcdef", 8)
	message = "what is sent comes back"
	large   = strings.Repeat("0123456789abcdef", 512<<10)
)

// newPeer greets on an accepted connection. sized is the length of a message over TCP,
// where nothing else says it.
func newPeer(protocol string, rw io.ReadWriter, stall bool, sized int) (peer, error) {
	r := bufio.NewReader(rw)
	switch protocol {
	case "http/1.1", "https":
		return &web{r}, nil
	case "h2c", "h2", "grpc":
		return newStreams(r, rw, stall, protocol == "grpc")
	case "websocket":
		return upgrade(r, rw)
	}
	return &echo{r: r, message: make([]byte, sized)}, nil
}

// web is HTTP/1.1.
type web struct{ r *bufio.Reader }

func (p *web) next() (uint32, error) {
	q, err := http.ReadRequest(p.r)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, q.Body)
	return 0, err
}

func (p *web) answer(_ uint32, bad bool) []byte {
	status := "200 OK"
	if bad {
		status = "503 Service Unavailable"
	}
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// echo is TCP: as many bytes as were sent go back.
type echo struct {
	r       *bufio.Reader
	message []byte
}

func (p *echo) next() (uint32, error) {
	_, err := io.ReadFull(p.r, p.message)
	return 0, err
}

func (p *echo) answer(uint32, bool) []byte { return bytes.Clone(p.message) }

// chat is WebSocket (RFC 6455).
type chat struct {
	r *bufio.Reader
}

func upgrade(r *bufio.Reader, w io.Writer) (*chat, error) {
	q, err := http.ReadRequest(r)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(q.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = fmt.Fprintf(w, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"+
		"Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	return &chat{r}, err
}

// next reads frames until one ends a message.
func (p *chat) next() (uint32, error) {
	for {
		var head [2]byte
		if _, err := io.ReadFull(p.r, head[:]); err != nil {
			return 0, err
		}
		size := int64(head[1] & 0x7f)
		if more := map[int64]int{126: 2, 127: 8}[size]; more > 0 {
			var long [8]byte
			if _, err := io.ReadFull(p.r, long[8-more:]); err != nil {
				return 0, err
			}
			size = int64(binary.BigEndian.Uint64(long[:]))
		}
		if _, err := io.CopyN(io.Discard, p.r, 4+size); err != nil { // the key and the payload
			return 0, err
		}
		switch opcode := head[0] & 0x0f; {
		case opcode == 8:
			return 0, io.EOF
		case opcode < 8 && head[0]&0x80 != 0:
			return 0, nil
		}
	}
}

func (p *chat) answer(uint32, bool) []byte {
	return append([]byte{0x81, byte(len(message))}, message...)
}

// streams is HTTP/2, with gRPC on it or without.
type streams struct {
	framer *http2.Framer
	grpc   bool
	last   uint32 // stream that a request arrived on
}

// newStreams greets. With stall no stream ever gets a window for a body.
func newStreams(r *bufio.Reader, w io.Writer, stall, grpc bool) (*streams, error) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(r, preface); err != nil {
		return nil, err
	}
	p := &streams{framer: http2.NewFramer(w, r), grpc: grpc}
	p.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	settings := []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 100}}
	if stall {
		settings = append(settings, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	}
	return p, p.framer.WriteSettings(settings...)
}

func (p *streams) next() (uint32, error) {
	for {
		f, err := p.framer.ReadFrame()
		if err != nil {
			return 0, err
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				err = p.framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				err = p.framer.WritePing(true, f.Data)
			}
		case *http2.MetaHeadersFrame:
			if p.last = max(p.last, f.StreamID); f.StreamEnded() {
				return f.StreamID, nil
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				return f.StreamID, nil
			}
		case *http2.GoAwayFrame:
			err = errors.New("the client goes away")
		}
		if err != nil {
			return 0, err
		}
	}
}

func (p *streams) answer(stream uint32, bad bool) []byte {
	var out bytes.Buffer
	f := http2.NewFramer(&out, nil)
	head := func(end bool, fields ...string) {
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(fields...), EndHeaders: true, EndStream: end})
	}
	switch {
	case p.grpc && bad:
		head(true, ":status", "200", "content-type", "application/grpc", "grpc-status", "14")
	case p.grpc:
		head(false, ":status", "200", "content-type", "application/grpc")
		_ = f.WriteData(stream, false, []byte{0, 0, 0, 0, 0})
		head(true, "grpc-status", "0")
	default:
		status := "200"
		if bad {
			status = "503"
		}
		head(false, ":status", status)
		_ = f.WriteData(stream, true, []byte(body))
	}
	return out.Bytes()
}

// block is a header block that uses no table.
func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.SetMaxDynamicTableSizeLimit(0)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}
