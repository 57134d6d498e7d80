// Package jsonreply writes JSON answers through pooled buffers, safely.
//
// [Write] encodes the whole value before anything goes out. So an error of encoding can
// still become a proper error answer, Content-Length is known and the answer is not
// chunked, and one call of Write hands over the body. The buffer then serves the next
// answer, under three rules that the usual pooled encoder breaks at least one of:
//
//   - Nothing sees the buffer after it has gone back: the body is never returned, nor a
//     view of it, only written.
//   - It goes back only after a complete write. One that failed may still be read: the
//     server's side of HTTP/2 returns from Write when the client resets the stream,
//     while another goroutine is sending the very bytes.
//   - It goes back only if it is small ([Writer].MaxPooled): one huge answer must not
//     occupy memory for ever.
//
// The form found in field reports breaks the first: it encodes into a pooled buffer,
// views the bytes as a string through unsafe, releases the buffer and returns the string.
// The next request overwrites the answer of the last. A test of this package shows the
// corruption, and the race detector naming it.
//
// # When not to use it
//
// For answers below some 2 KB json.NewEncoder(w).Encode(v) does nearly as well: net/http
// then adds Content-Length by itself. For answers of many megabytes it holds the whole
// body in memory: stream those. If encoding itself is what costs, a faster encoder gains
// more than any pool; plug it in as [Writer].Append. A body that is the same for many
// requests wants to be encoded once and kept, not encoded fast.
//
// The http.ResponseWriter must keep to the contract of io.Writer, and not retain the
// bytes after a successful Write. That of net/http does; middleware that queues bodies
// for another goroutine must copy them.
package jsonreply
