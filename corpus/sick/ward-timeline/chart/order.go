package chart

import "slices"

// Order makes a list of what a sequence yields.
type Order[T any] func(n int, at func(i int) (T, bool)) []T

// Stacked puts each element on top of the earlier ones.
func Stacked[T any](n int, at func(i int) (T, bool)) []T {
	out := make([]T, 0, n)
	for i := range n {
		if v, ok := at(i); ok {
			out = slices.Insert(out, 0, v)
		}
	}
	return out
}

// Reversed appends each element, and reverses the list at the end.
func Reversed[T any](n int, at func(i int) (T, bool)) []T {
	out := make([]T, 0, n)
	for i := range n {
		if v, ok := at(i); ok {
			out = append(out, v)
		}
	}
	slices.Reverse(out)
	return out
}
