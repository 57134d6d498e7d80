package operations

import (
	"sync/atomic"
	"time"
)

// Calls that are under way, by what identifies them.
const (
	buckets    = 4096 // a power of two
	bucketBits = 12
	// longestKey is how many bytes of what identifies a call are read, and longestBytes how many of a value in bytes, which more would
	// allocate. A call with more is not identified.
	longestKey   = 1024
	longestBytes = 32
)

// Bits of an operation's number, above those of its begin.
const (
	bucketShift = 34
	identified  = 1 << (bucketShift + bucketBits)
)

// underWay holds for each bucket the hash of what identifies a call, in the upper half, and how many such calls are under way.
// A call whose bucket another holds is not identified: of 64 calls at once these are one in sixty.
var underWay [buckets]uint64

// Identify is called after Begin with whatever distinguishes a call from others of its operation, such as its URL's query or its
// statement's values. End the call with the op that it returns. A call that begins while the same call is in progress counts as a
// duplicate. Only a hash is kept, and only until the call ends.
func Identify(op uint64, a, b, c string, values []interface{}) (same uint64) {
	same = op
	defer func() { _ = recover() }() // nothing of ours ends the program
	if op == 0 || len(a)+len(b)+len(c) > longestKey {
		return op
	}
	h := hashString(hashString(hashText(uint64(offset64^uint64(uint16(op))), int(uint16(op))-1, a), b), c)
	for _, v := range values {
		var ok bool
		if h, ok = hashValue(h, v); !ok {
			return op
		}
	}
	h ^= h >> 29 // the lowest bits are the bucket, the upper half is compared
	bucket := h & (buckets - 1)
	key := h>>32<<32 | 1<<32 // never zero
	for {
		held := atomic.LoadUint64(&underWay[bucket])
		switch {
		case held == 0:
			if atomic.CompareAndSwapUint64(&underWay[bucket], 0, key|1) {
				return op | bucket<<bucketShift | identified
			}
		case held>>32<<32 != key || uint32(held) == 1<<32-1:
			return op
		default:
			if atomic.CompareAndSwapUint64(&underWay[bucket], held, held+1) {
				if id := int(uint16(op)) - 1; id >= 0 && id < maxShapes {
					atomic.AddInt64(&all.shapes[id].duplicates, 1)
				}
				return op | bucket<<bucketShift | identified
			}
		}
	}
}

// forget ends an identified call.
func forget(op uint64) {
	bucket := op >> bucketShift & (buckets - 1)
	for {
		held := atomic.LoadUint64(&underWay[bucket])
		left := held - 1
		if uint32(held) <= 1 {
			left = 0
		}
		if atomic.CompareAndSwapUint64(&underWay[bucket], held, left) {
			return
		}
	}
}

// FNV-1a's constants. Eight bytes are taken at once, which is as good for telling a few calls apart.
const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

func hashString(h uint64, s string) uint64 {
	h = hashNumber(h, uint64(len(s))) // "a", "b" is not "ab", ""
	for len(s) >= 8 {
		h = hashNumber(h, eight(s))
		s = s[8:]
	}
	last := uint64(0)
	for i := 0; i < len(s); i++ {
		last = last<<8 | uint64(s[i])
	}
	return hashNumber(h, last)
}

// eight returns the first eight bytes of s as a number.
func eight(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// leastKept is the length from which a text's hash is kept for the next call: most statements are constants.
const leastKept = 48

// hashed is a text and its hash.
type hashed struct {
	text string
	sum  uint64
}

func hashText(h uint64, id int, text string) uint64 {
	if len(text) < leastKept || id < 0 || id >= maxShapes {
		return hashString(h, text)
	}
	last := &all.shapes[id].last
	if kept, ok := last.Load().(*hashed); ok && kept.text == text {
		return hashNumber(h, kept.sum)
	}
	sum := hashString(offset64, text)
	last.Store(&hashed{string(append([]byte(nil), text...)), sum}) // the text may be a part of a larger one
	return hashNumber(h, sum)
}

func hashNumber(h, v uint64) uint64 {
	h = (h ^ v) * prime64
	return h ^ h>>32
}

// hashValue adds a statement's value to a hash. ok is false if the value is too long, or of a type that it cannot compare.
func hashValue(h uint64, v interface{}) (sum uint64, ok bool) {
	switch v := v.(type) {
	case nil:
		return hashString(h, "\x00nil"), true
	case string:
		if len(v) > longestKey {
			return h, false
		}
		return hashString(h, v), true
	case []byte:
		if len(v) > longestBytes {
			return h, false
		}
		return hashString(h, string(v)), true
	case bool:
		if v {
			return hashString(h, "\x00true"), true
		}
		return hashString(h, "\x00false"), true
	case int:
		return hashNumber(h, uint64(v)), true
	case int64:
		return hashNumber(h, uint64(v)), true
	case int32:
		return hashNumber(h, uint64(v)), true
	case uint64:
		return hashNumber(h, v), true
	case uint:
		return hashNumber(h, uint64(v)), true
	case uint32:
		return hashNumber(h, uint64(v)), true
	case time.Time:
		return hashNumber(h, uint64(v.UnixNano())), true
	}
	return h, false
}
