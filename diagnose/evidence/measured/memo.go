package measured

// Memo is a lazy value: computed on first use, and kept with its error.
type Memo[T any] struct {
	read  bool
	value T
	err   error
}

// Get returns the value of a computation that cannot fail.
func (m *Memo[T]) Get(read func() T) T {
	value, _ := m.Try(func() (T, error) { return read(), nil })
	return value
}

// Try returns the value, or why there is none.
func (m *Memo[T]) Try(read func() (T, error)) (T, error) {
	if !m.read {
		m.value, m.err = read()
		m.read = true
	}
	return m.value, m.err
}
