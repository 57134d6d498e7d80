package micro_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redline-go/redline/lab/micro"
)

const keys = 10_000

func keyOf(i int) string { return "customer-" + strconv.Itoa(i*7919%keys) }

// BenchmarkPointQuery finds one of 10,000 keys: in an ordered list by halving, or in a map.
func BenchmarkPointQuery(b *testing.B) {
	ordered, byKey := index()
	find := micro.Of(
		func(k string) bool { _, ok := slices.BinarySearch(ordered, k); return ok },
		func(k string) bool { _, ok := byKey[k]; return ok })
	names := make([]string, 1024)
	for i := range names {
		names[i] = keyOf(i)
	}
	i := 0
	for b.Loop() {
		if !find(names[i&1023]) {
			b.Fatal("a key is missing")
		}
		i++
	}
}

func index() (ordered []string, byKey map[string]int) {
	byKey = map[string]int{}
	for i := range keys {
		ordered = append(ordered, keyOf(i))
		byKey[keyOf(i)] = i
	}
	slices.Sort(ordered)
	return slices.Compact(ordered), byKey
}

// BenchmarkRangeQuery lists the keys between two: through a map from end to end, or in an
// ordered list. It is where the order pays.
func BenchmarkRangeQuery(b *testing.B) {
	ordered, byKey := index()
	list := micro.Of(
		func() int { return len(throughMap(byKey, "customer-4000", "customer-4100")) },
		func() int { return len(throughOrder(ordered, "customer-4000", "customer-4100")) })
	for b.Loop() {
		if list() == 0 {
			b.Fatal("nothing in between")
		}
	}
}

func throughMap(all map[string]int, from, to string) []string {
	var found []string
	for k := range all {
		if k >= from && k < to {
			found = append(found, k)
		}
	}
	slices.Sort(found)
	return found
}

func throughOrder(ordered []string, from, to string) []string {
	a, _ := slices.BinarySearch(ordered, from)
	b, _ := slices.BinarySearch(ordered, to)
	return ordered[a:b]
}

func TestQueriesAgree(t *testing.T) {
	ordered, byKey := index()
	if len(ordered) != len(byKey) || len(ordered) != keys {
		t.Fatalf("%d and %d keys", len(ordered), len(byKey))
	}
	if a, b := throughMap(byKey, "customer-4000", "customer-4100"), throughOrder(ordered, "customer-4000",
		"customer-4100"); !slices.Equal(a, b) || len(a) == 0 {
		t.Errorf("%v\n%v", a, b)
	}
}

const routes = 10_000

// route is one pattern of a service with many tenants.
func route(i int) string { return "/tenants/" + strconv.Itoa(i) + "/orders/{id}" }

// linear asks each route in turn, as routers without a tree do.
type linear struct {
	prefixes []string
	handlers []http.HandlerFunc
}

func (l *linear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for i, prefix := range l.prefixes {
		if rest, ok := strings.CutPrefix(r.URL.Path, prefix); ok && rest != "" && !strings.Contains(rest, "/") {
			l.handlers[i](w, r)
			return
		}
	}
	http.NotFound(w, r)
}

func routers() (scan *linear, tree *http.ServeMux) {
	scan, tree = &linear{}, http.NewServeMux()
	for i := range routes {
		handler := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Route", strconv.Itoa(i)) }
		prefix, _ := strings.CutSuffix(route(i), "{id}")
		scan.prefixes, scan.handlers = append(scan.prefixes, prefix), append(scan.handlers, handler)
		tree.HandleFunc(route(i), handler)
	}
	return scan, tree
}

// BenchmarkRouter finds one of 10,000 routes: by asking each, or in net/http's tree.
func BenchmarkRouter(b *testing.B) {
	scan, tree := routers()
	router := micro.Of[http.Handler](scan, tree)
	requests := make([]*http.Request, 64)
	for i := range requests {
		requests[i] = httptest.NewRequest(http.MethodGet, "/tenants/"+strconv.Itoa(i*routes/64)+"/orders/17", nil)
	}
	w, i := &discarded{header: http.Header{}}, 0
	for b.Loop() {
		router.ServeHTTP(w, requests[i&63])
		i++
	}
}

func TestRoutersAgree(t *testing.T) {
	scan, tree := routers()
	for _, path := range []string{"/tenants/0/orders/1", "/tenants/9999/orders/x", "/tenants/123/orders/",
		"/tenants/10000/orders/1", "/elsewhere"} {
		a, b := httptest.NewRecorder(), httptest.NewRecorder()
		scan.ServeHTTP(a, httptest.NewRequest(http.MethodGet, path, nil))
		tree.ServeHTTP(b, httptest.NewRequest(http.MethodGet, path, nil))
		if a.Code != b.Code || a.Header().Get("X-Route") != b.Header().Get("X-Route") {
			t.Errorf("%s: %d %q and %d %q", path, a.Code, a.Header().Get("X-Route"), b.Code, b.Header().Get("X-Route"))
		}
	}
}

// row has tags as a mapper of rows reads them.
type row struct {
	ID       int64  `db:"id,primary"`
	Name     string `db:"name"`
	Street   string `db:"street"`
	City     string `db:"city"`
	Postcode string `db:"postcode"`
	Balance  int64  `db:"balance"`
}

// columns reads the names of the columns from the tags of a type.
func columns(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("db"), ",")
		names = append(names, name)
	}
	return names
}

var parsed sync.Map // of columns, by type

func cachedColumns(t reflect.Type) []string {
	if names, ok := parsed.Load(t); ok {
		if names, ok := names.([]string); ok {
			return names
		}
	}
	names, _ := parsed.LoadOrStore(t, columns(t))
	list, _ := names.([]string)
	return list
}

// insert writes the statement and its values for one row.
func insert(v *row, names func(reflect.Type) []string) (string, []any) {
	value := reflect.ValueOf(v).Elem()
	list := names(value.Type())
	args := make([]any, len(list))
	for i := range list {
		args[i] = value.Field(i).Interface()
	}
	return "insert into rows (" + strings.Join(list, ", ") + ") values", args
}

// BenchmarkTags prepares an insert: with tags parsed each time, or once per type.
func BenchmarkTags(b *testing.B) {
	names := micro.Of(columns, cachedColumns)
	v := &row{ID: 7, Name: "Ada", City: "London"}
	b.ReportAllocs()
	for b.Loop() {
		if text, args := insert(v, names); len(args) != 6 || text == "" {
			b.Fatal(text, args)
		}
	}
}

func TestTagsAgree(t *testing.T) {
	for range 2 {
		a, x := insert(&row{ID: 7}, columns)
		b, y := insert(&row{ID: 7}, cachedColumns)
		if a != b || fmt.Sprint(x) != fmt.Sprint(y) || !strings.Contains(a, "(id, name,") {
			t.Errorf("%s %v\n%s %v", a, x, b, y)
		}
	}
}

// BenchmarkInline adds up a list through a small function: called, or put into the loop.
func BenchmarkInline(b *testing.B) {
	list := make([]int, 1024)
	for i := range list {
		list[i] = i
	}
	sum := micro.Of(sumCalled, sumInlined)
	for b.Loop() {
		if sum(list) == 0 {
			b.Fatal("nothing was added up")
		}
	}
}

//go:noinline
func clampCalled(v int) int {
	if v > 1000 {
		return 1000
	}
	return v
}

func clampInlined(v int) int {
	if v > 1000 {
		return 1000
	}
	return v
}

//go:noinline
func sumCalled(list []int) (sum int) {
	for _, v := range list {
		sum += clampCalled(v)
	}
	return sum
}

//go:noinline
func sumInlined(list []int) (sum int) {
	for _, v := range list {
		sum += clampInlined(v)
	}
	return sum
}

func TestInline(t *testing.T) {
	list := []int{1, 999, 1001, 5000}
	if a, b := sumCalled(list), sumInlined(list); a != b || a != 3000 {
		t.Errorf("%d and %d", a, b)
	}
}
