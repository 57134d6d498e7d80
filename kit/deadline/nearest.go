package deadline

import (
	"context"
	"reflect"
)

// nearest returns the layer that ctx is, or from which only values separate it. Otherwise
// it returns nil, and the context below those values: one of another kind, which may end
// by itself.
func nearest(ctx context.Context) (*layer, context.Context) {
	for {
		if l, ok := ctx.(*layer); ok {
			return l, nil
		}
		if !unwraps || reflect.TypeOf(ctx) != valueType {
			return nil, ctx
		}
		ctx = unwrapped(ctx)
	}
}

// valueType is the type behind context.WithValue. It has no name to assert to; its
// parent is the exported field Context.
var valueType = reflect.TypeOf(context.WithValue(context.Background(), parentKey{}, 1))

type parentKey struct{}

// unwraps is whether a context with a value still exposes its parent. If not, values
// begin a new chain like any other context: that costs more but means the same.
var unwraps = func() bool {
	if valueType.Kind() != reflect.Pointer || valueType.Elem().Kind() != reflect.Struct {
		return false
	}
	field, ok := valueType.Elem().FieldByName("Context")
	return ok && len(field.Index) == 1 && field.IsExported() && field.Type == reflect.TypeFor[context.Context]() &&
		unwrapped(context.WithValue(context.Background(), parentKey{}, 1)) == context.Background()
}()

func unwrapped(ctx context.Context) context.Context {
	return reflect.ValueOf(ctx).Elem().FieldByName("Context").Interface().(context.Context)
}
