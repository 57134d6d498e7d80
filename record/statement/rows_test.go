package statement

import (
	"strings"
	"testing"
)

func TestRows(t *testing.T) {
	page := "SELECT id, title FROM posts WHERE blog = $1 AND pinned IS NULL AND created <= NOW() ORDER BY created DESC LIMIT 10"
	if got := Rows(page); got == "" || got != Rows("select count(*) from posts where blog=? AND pinned IS NULL AND created <= now()") {
		t.Errorf("a page and its count are about different rows: %q", got)
	}
	for _, other := range []string{
		"SELECT id FROM posts WHERE blog = $1", "SELECT id FROM drafts WHERE blog = $1 AND pinned IS NULL AND created <= NOW()",
	} {
		if Rows(other) == Rows(page) {
			t.Errorf("%s is about the same rows", other)
		}
	}
	for _, none := range []string{"SELECT id FROM posts ORDER BY id", "DELETE FROM posts WHERE blog = 1", "",
		"SELECT * FROM posts WHERE id IN (SELECT post FROM pins WHERE blog = 1)"} {
		if got := Rows(none); got != "" {
			t.Errorf("%s: %q", none, got)
		}
	}
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT id FROM posts WHERE blog = $1 AND pinned IS NULL AND created <= NOW() ORDER BY created LIMIT 10":     "posts blog pinned created",
		`SELECT * FROM "posts" WHERE "posts"."blog" = 7 ORDER BY "posts"."created" desc, id desc`:                    "posts blog created id",
		"SELECT count(*) FROM `posts` WHERE `blog` = ?":                                                              "posts blog",
		"SELECT * FROM posts AS p WHERE p.blog = ? ORDER BY lower(title)":                                            "posts blog",
		"SELECT * FROM a WHERE s IN (?) AND (`at` < ? OR (`at` = ? AND id < ?)) ORDER BY `at` DESC, id DESC LIMIT 9": "a at id",
		"SELECT * FROM posts WHERE blog = ? AND (a = ? OR b = ? AND c = ? AND d = ?)":                                "posts blog",
		"SELECT * FROM posts WHERE blog = ? OR owner = ? ORDER BY created DESC, id LIMIT 5":                          "posts created",
		"SELECT * FROM posts ORDER BY created LIMIT 5":                                                               "posts created",
		"SELECT owner FROM posts GROUP BY owner ORDER BY owner LIMIT 5":                                              "",
		"SELECT * FROM posts WHERE created > ? ORDER BY created":                                                     "",
		"SELECT * FROM posts WHERE blog = ? OR owner = ?":                                                            "",
		"SELECT * FROM posts, blogs WHERE blog = ?":                                                                  "",
		"SELECT * FROM posts JOIN blogs ON blogs.id = blog WHERE owner = ?":                                          "",
		"SELECT * FROM posts WHERE created > ?":                                                                      "",
		"SELECT * FROM posts":                                                                                        "",
	} {
		table, columns, ok := Keys(text)
		if got := strings.Join(append([]string{table}, columns...), " "); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", text, got, ok)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("SELECT id FROM posts WHERE blog = $1 AND pinned IS NULL ORDER BY created DESC LIMIT 10")
	f.Add("SELECT * FROM `a` WHERE `b` = ? order by `")
	f.Add("select from where = ? and order by ,, limit")
	f.Fuzz(func(t *testing.T, text string) {
		table, columns, ok := Keys(text)
		if ok != (table != "" && len(columns) > 0) {
			t.Errorf("%q: %q, %q, %t", text, table, columns, ok)
		}
		for _, name := range append(columns, table) {
			if strings.ContainsAny(name, " ,'") {
				t.Errorf("%q: %q is no name", text, name)
			}
		}
	})
}
