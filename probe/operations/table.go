package operations

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// shape is one operation: a statement without its constants, a route called.
type shape struct {
	figures
	begun int64
	// duplicates are calls that began while one like them was under way.
	duplicates int64
	below      int64 // times in a row that database/sql made the call; near mixed if others do, too
	kind       uint32
	text       string
	last       atomic.Value // the *hashed text of the last long one that was identified
}

// Bounds of the original texts.
const (
	longText = 4096
	maxRaw   = 4096    // of one generation
	rawBytes = 4 << 20 // the same
	keyHead  = 512
	keyTail  = 64
)

// table holds the counts. Shape 0 stands for all beyond the bound.
type table struct {
	mu     sync.RWMutex
	shapes [maxShapes]*shape
	count  int
	ids    map[string]uint16 // by kind and shape
	// raw finds a shape by its original text, or by both ends of a long one. It has
	// two generations: texts that no longer occur are forgotten.
	raw, old map[rawKey]*known
	rawSize  int
	// recent finds one of them without a lock, where it was found last.
	recent [recentSlots]atomic.Value // *known

	stackMu sync.RWMutex
	stacks  [][]uintptr // 0 is unknown
	byHash  map[uint64]uint16

	cellMu sync.RWMutex
	cells  map[uint32]*figures
}

type rawKey struct {
	kind       uint32
	size       int
	name, more string
}

// known is a text whose shape is known.
type known struct {
	rawKey
	id uint16
}

var all = newTable()

func newTable() *table {
	return &table{
		shapes: [maxShapes]*shape{{text: "(others)"}}, count: 1,
		ids: map[string]uint16{}, raw: map[rawKey]*known{}, old: map[rawKey]*known{},
		stacks: make([][]uintptr, 1, 64), byHash: map[uint64]uint16{}, cells: map[uint32]*figures{},
	}
}

// shape returns the number of an operation.
func (t *table) shape(kind uint32, name, more string) uint16 {
	long := len(name) > longText
	slot := &t.recent[slotOf(kind, name, more)]
	if k, ok := slot.Load().(*known); ok && !long && k.kind == kind && k.name == name && k.more == more {
		return k.id
	}
	key := rawKey{kind: kind, size: len(name), name: name, more: more}
	if long {
		// The middle of so long a text is not examined: copying it would
		// cost the program more than its query.
		key.name = name[:keyHead] + name[len(name)-keyTail:]
	}
	t.mu.RLock()
	k := t.raw[key]
	t.mu.RUnlock()
	if k == nil {
		k = t.learn(key, name)
	}
	if !long {
		slot.Store(k)
	}
	return k.id
}

// recentSlots is how many texts are found without a lock; a power of two.
const recentSlots = 1024

// slotOf returns where a text is remembered. It reads the length and both ends, and not all of the text: whether it is the
// same is compared.
func slotOf(kind uint32, name, more string) uint64 {
	h := hashNumber(uint64(kind), uint64(len(name))<<32|uint64(len(more)))
	for _, s := range [...]string{name, more} {
		if n := len(s); n >= 8 {
			h = hashNumber(hashNumber(h, eight(s)), eight(s[n-8:]))
		}
	}
	return h >> 20 & (recentSlots - 1)
}

// learn keeps a text that is not known, or was forgotten. name is the whole of it.
func (t *table) learn(key rawKey, name string) *known {
	t.mu.Lock()
	k := t.old[key]
	t.mu.Unlock()
	if k == nil {
		k = &known{key, t.byShape(key.kind, shapeOf(key.kind, name, key.more))}
		// They may be parts of larger texts.
		k.name, k.more = string(append([]byte(nil), key.name...)), string(append([]byte(nil), key.more...))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rawSize += len(k.name) + len(k.more); len(t.raw) >= maxRaw || t.rawSize > rawBytes {
		t.old, t.raw, t.rawSize = t.raw, map[rawKey]*known{}, 0
	}
	t.raw[k.rawKey] = k
	return k
}

func (t *table) byShape(kind uint32, text string) uint16 {
	key := strconv.Itoa(int(kind)) + text
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[key]; ok {
		return id
	}
	if t.count == maxShapes {
		return 0
	}
	id := uint16(t.count)
	t.shapes[id] = &shape{kind: kind, text: text}
	t.ids[key] = id
	t.count++
	return id
}

// stack returns the number of the stack that called the hook; 0 beyond the bound.
func (t *table) stack() uint16 {
	var pcs [maxDepth]uintptr
	// Above are runtime.Callers, stack, begin and Begin; the hook's own frames are
	// left out when the stack is written.
	n := runtime.Callers(4, pcs[:])
	if n == maxDepth {
		n = deep(pcs[:])
	}
	hash := uint64(14695981039346656037) // FNV-1a
	for _, pc := range pcs[:n] {
		hash = (hash ^ uint64(pc)) * 1099511628211
	}
	t.stackMu.RLock()
	id, ok := t.byHash[hash]
	t.stackMu.RUnlock()
	if ok {
		return id
	}
	t.stackMu.Lock()
	defer t.stackMu.Unlock()
	if id, ok = t.byHash[hash]; ok {
		return id
	}
	if len(t.stacks) >= maxStacks {
		return 0
	}
	id = uint16(len(t.stacks))
	t.stacks = append(t.stacks, append([]uintptr(nil), pcs[:n]...))
	t.byHash[hash] = id
	return id
}

// deep is stack for one of at least maxDepth frames: it fills pcs with both of its ends, and returns their number.
// It is apart, so that others do not pay for its array.
//
//go:noinline
func deep(pcs []uintptr) int {
	var all [maxDeep]uintptr
	n := runtime.Callers(5, all[:])
	if n <= inner+outer {
		return copy(pcs, all[:n])
	}
	copy(pcs, all[:inner])
	return inner + copy(pcs[inner:inner+outer], all[n-outer:n])
}

// cell returns the figures of one caller of an operation; nil beyond the bound.
func (t *table) cell(id, stack uint16) *figures {
	key := uint32(id)<<16 | uint32(stack)
	t.cellMu.RLock()
	c := t.cells[key]
	t.cellMu.RUnlock()
	if c != nil {
		return c
	}
	t.cellMu.Lock()
	defer t.cellMu.Unlock()
	if c = t.cells[key]; c == nil && len(t.cells) < maxCells {
		c = &figures{}
		t.cells[key] = c
	}
	return c
}

// mixed is far below zero, so that each call is examined.
const mixed = -1 << 40

// belowSQL reports whether database/sql made this call. A statement mostly has one kind
// of caller: after the first calls one in stride is examined, and every call from the
// first one that something else made.
func (s *shape) belowSQL(kind uint32) bool {
	n := atomic.AddInt64(&s.below, 1)
	if n > first && n%stride != 0 && s.kind != 0 {
		return true
	}
	if belowSQL(kind) {
		return true
	}
	atomic.StoreInt64(&s.below, mixed)
	return false
}

// drivers remembers which return addresses lie in a driver's adapter to database/sql.
var drivers sync.Map // uintptr to bool

// belowSQL reports whether database/sql called, through a driver's adapter, the function
// that calls Begin. pgx prepares within a query, so that more frames are examined for a
// Prepare; each costs a tenth of a microsecond.
func belowSQL(kind uint32) bool {
	var frames [8]uintptr
	pcs := frames[:3]
	if kind == Prepare {
		pcs = frames[:]
	}
	for _, pc := range pcs[:runtime.Callers(6, pcs)] {
		known, ok := drivers.Load(pc)
		if !ok {
			known = adapter(pc)
			drivers.Store(pc, known)
		}
		if known.(bool) {
			return true
		}
	}
	return false
}

func adapter(pc uintptr) bool {
	for frames := runtime.CallersFrames([]uintptr{pc}); ; {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "database/sql.") || strings.Contains(f.Function, "/stdlib.") {
			return true
		}
		if !more {
			return false
		}
	}
}
