package statement

import (
	"strings"
	"testing"
)

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1": "select ?",
		"select  *\n\tFROM Orders o WHERE o.ID=$1;":                   "select * from orders o where o.id = ?",
		`SELECT "orders"."id", "Name" FROM "orders"`:                  `select orders.id, "Name" from orders`,
		"INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)":              "insert into t(a, b) values (?)",
		"select * from t where id in (1,2,3)":                         "select * from t where id in (?)",
		"select * from t where id IN ($1 /*, ... */)":                 "select * from t where id in (?)",
		"select * from t where a = -5 and b - 5 > +.5e-3":             "select * from t where a = ? and b - ? > ?",
		"select 'it''s', E'a\\'b', $$x ' y$$, $q$z$q$, U&'x', x'1F'":  "select ?, ?, ?, ?, ?, ?",
		"select a -- secret\n from t /* /* nested */ secret */":       "select a from t",
		"select * from t where x is null and y is not null or z=NULL": "select * from t where x is null and y is not null or z = ?",
		"select true, False":                                          "select ?, ?",
		"select a::text, '1'::int, b[1], c[:n], f(x, 2)":              "select a::text, ?::int, b[?], c[?], f(x, ?)",
		"select j->>'a', j#>'{b}', a<>b, a!=-1, a||b, k @> '{}'":      "select j ->> ?, j #> ?, a <> b, a != ?, a || b, k @> ?",
		"update t set a=:name, b=@p1, c=?":                            "update t set a = ?, b = ?, c = ?",
		`select 'C:\' || 'x', password from t`:                        "select ?", // the end is in doubt
		"select 'open":                                                "select ?",
		`select "open`:                                                "select ?",
		"select $tag$open":                                            "select ?",
		"":                                                            "",
		" ;; ":                                                        "",
		"with x as (select 1) select * from x":                        "with x as (select ?) select * from x",
	} {
		if got := Normal(text); got != want {
			t.Errorf("Normal(%q)\n = %q\nwant %q", text, got, want)
		}
	}
}

func TestForeignHidesDoubleQuotes(t *testing.T) {
	got := Foreign("SELECT `a` FROM t WHERE name = \"hunter2\" AND x = 'a\\'b'")
	if strings.Contains(got, "hunter2") || strings.Contains(got, "b'") {
		t.Errorf("%q holds a constant", got)
	}
}

func TestKey(t *testing.T) {
	a, b := Key("SELECT * FROM orders WHERE id = 7 -- x"), Key("select *\nfrom orders where id=$1")
	if a != b || len(a) != 16 {
		t.Errorf("keys %q and %q of one statement", a, b)
	}
	if Key("select a from orders") == Key("select b from orders") {
		t.Error("two statements have one key")
	}
	if Key("/* nothing */") != "" {
		t.Error("a comment alone has a key")
	}
}

// FuzzNormal checks what the rest relies on: the normal form of a normal form is itself,
// it is not much longer than its text, and no quoted constant comes through.
func FuzzNormal(f *testing.F) {
	f.Add("select * from t where a = 'x' and b in (1, 2) -- c\n")
	f.Add(`insert into "T" values (E'\'', $1, $$a$$), (:b, @c, ?)`)
	f.Add("a - -1 .5 /* /* */ 0x1f::int[] j->>'k' is not null")
	f.Fuzz(func(t *testing.T, text string) {
		form := Normal(text)
		// In text that is not SQL, blanks may fall in other places.
		bare := strings.NewReplacer(" ", "")
		if again := Normal(form); bare.Replace(again) != bare.Replace(form) {
			t.Errorf("Normal(%q) = %q, and of that %q", text, form, again)
		}
		if len(form) > 2*len(text)+1 {
			t.Errorf("%d bytes of %d", len(form), len(text))
		}
		if strings.Contains(form, "'") {
			t.Errorf("Normal(%q) = %q holds a constant", text, form)
		}
		Foreign(text)
	})
}
