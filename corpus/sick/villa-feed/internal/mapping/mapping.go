// Package mapping turns one struct into another.
package mapping

import "reflect"

// Mapper maps From to To.
type Mapper[From, To any] interface {
	Map(from *From) To
}

// ByName copies fields that have the same name and type.
type ByName[From, To any] struct{}

// Map implements Mapper.
func (ByName[From, To]) Map(from *From) To {
	var to To
	copyFields(reflect.ValueOf(&to).Elem(), reflect.ValueOf(from).Elem())
	return to
}

func copyFields(dst, src reflect.Value) {
	t := dst.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		v := src.FieldByName(f.Name)
		if v.IsValid() && v.Type().AssignableTo(f.Type) {
			dst.Field(i).Set(v)
		}
	}
}

// Func is a function that maps.
type Func[From, To any] func(*From) To

// Map implements Mapper.
func (f Func[From, To]) Map(from *From) To { return f(from) }
