package statement

import "testing"

func TestVerb(t *testing.T) {
	for _, c := range []struct {
		text, verb      string
		writes, utility bool
	}{
		{"insert into orders values (?)", "INSERT", true, false},
		{" \n(SELECT 1) UNION (SELECT 2)", "SELECT", false, false},
		{"DELETE\nFROM orders", "DELETE", true, false},
		{"BEGIN", "BEGIN", false, true},
		{"begin;", "BEGIN", false, true},
		{"-- a comment\nUPDATE orders SET n = 1", "", false, true},
		{"", "", false, true},
	} {
		if got := Verb(c.text); got != c.verb || Writes(c.text) != c.writes || Utility(c.text) != c.utility {
			t.Errorf("%q: verb %q, writes %v, utility %v", c.text, got, Writes(c.text), Utility(c.text))
		}
	}
}

func TestChange(t *testing.T) {
	for text, want := range map[string]string{
		"WITH gone AS (DELETE FROM orders WHERE id = $1 RETURNING *) INSERT INTO archive SELECT * FROM gone":  "DELETE",
		"with a as (select 1), b as materialized (\n\tinsert into c values (1) returning id) select * from b": "INSERT",
		"WITH old AS (SELECT id FROM orders WHERE n = 1) UPDATE orders SET n = 2 FROM old":                    "UPDATE",
		"WITH RECURSIVE t(n) AS (VALUES (1)) MERGE INTO x USING t ON x.n = t.n WHEN MATCHED THEN DELETE":      "MERGE",
		"WITH a AS (SELECT 1) SELECT * FROM a WHERE note = '(delete from orders)'":                            "",
		"WITH a AS (SELECT replace (b, 'x', 'y') AS b FROM c FOR UPDATE) SELECT b FROM a":                     "",
		"SELECT * FROM orders FOR UPDATE": "",
		"update orders set n = 1":         "UPDATE",
		"":                                "",
	} {
		if got := Change(text); got != want || Writes(text) != (want != "") {
			t.Errorf("%s: %q, writes %v; want %q", text, got, Writes(text), want)
		}
	}
}

func TestTable(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT * FROM "Orders" WHERE id = $1`:                       "Orders",
		"INSERT INTO shop.orders(id, n) VALUES (?, ?)":               "shop.orders",
		"update orders set n = 1":                                    "orders",
		"SELECT 1 FROM (SELECT id FROM items WHERE n = 2) AS i":      "items",
		"DELETE FROM ONLY orders":                                    "",
		"SELECT id, (SELECT max(n) FROM lines l WHERE l.o = o.id) m": "lines",
		"SELECT now()": "", "COMMIT": "", "": "", "SELECT a FROM": "",
	} {
		if got := Table(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestSkipsAndCounts(t *testing.T) {
	for text, want := range map[string][2]bool{
		"SELECT * FROM songs ORDER BY id LIMIT $1 OFFSET $2":    {true, false},
		"SELECT * FROM songs ORDER BY id OFFSET 40 ROWS":        {true, false},
		"SELECT offset FROM kafka WHERE note = ' offset '":      {false, false},
		"SELECT count(*) FROM songs WHERE genre <> $1":          {false, true},
		"select COUNT(DISTINCT artist) from songs":              {false, true},
		"SELECT count(*), genre FROM songs GROUP BY genre":      {false, false},
		"SELECT count(*) OVER (), * FROM songs LIMIT 20":        {false, false},
		"SELECT count(*) OVER(), * FROM songs LIMIT 5 OFFSET 5": {true, false},
		"SELECT id FROM songs WHERE (SELECT count(*) FROM x)>1": {false, false},
	} {
		if got := [2]bool{Skips(text), Counts(text)}; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestLists(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM songs WHERE artist_id IN ($1, $2, $3)":     true,
		`SELECT * FROM "songs" WHERE "songs"."artist_id" IN (7)`:  true,
		"SELECT * FROM songs WHERE artist_id = ANY($1::bigint[])": true,
		"SELECT * FROM songs WHERE artist_id = $1":                false,
		"SELECT * FROM songs WHERE artist NOT IN ($1, $2)":        false,
		"SELECT * FROM songs WHERE id IN (SELECT song FROM lent)": false,
		"SELECT min(?) FROM songs":                                false,
	} {
		if got := Lists(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestMatches(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM songs WHERE title LIKE $1":                      true,
		"SELECT * FROM `songs` WHERE 1=1 AND (1=1 AND name LIKE '%a')": true,
		"SELECT * FROM songs WHERE title ILIKE ?":                      true,
		"SELECT * FROM songs WHERE title = 'like ?'":                   false,
		"SELECT likes FROM songs WHERE id = ?":                         false,
	} {
		if got := Matches(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestRanks(t *testing.T) {
	for text, want := range map[string]bool{
		"WITH s AS (SELECT stat, ROW_NUMBER() OVER (PARTITION BY stat ORDER BY at DESC) AS n FROM stats) SELECT * FROM s WHERE n = 1": true,
		"SELECT id, rank() OVER (PARTITION BY team ORDER BY score) FROM players":                                                      true,
		"SELECT id, sum(score) OVER (PARTITION BY team) FROM players":                                                                 false,
		"SELECT * FROM row_number": false,
	} {
		if got := Ranks(text); got != want {
			t.Errorf("%q ranks: %v", text, got)
		}
	}
}

func TestTakesValues(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM `casbin_rule`":           false,
		"SELECT name FROM tags ORDER BY name":   false,
		"SELECT * FROM orders WHERE id = $1":    true,
		"SELECT * FROM orders WHERE kind = 'x'": true,
		"SELECT name FROM tags LIMIT 10":        true,
	} {
		if got := TakesValues(text); got != want {
			t.Errorf("%q takes a value: %v", text, got)
		}
	}
}

func TestShuffles(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM songs WHERE genre = ? ORDER BY random() asc LIMIT ?": true,
		"select id from songs order by RAND() limit 5":                      true,
		"SELECT random() FROM songs ORDER BY title":                         false,
		"SELECT * FROM songs ORDER BY title, random()":                      false, // an index on title leaves little to sort
		"SELECT * FROM songs ORDER BY random_id":                            false,
	} {
		if got := Shuffles(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func TestSums(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT os AS Name, COUNT(os) FROM nodes GROUP BY os ORDER BY 2": true,
		"SELECT count(*) FROM nodes":                                     true,
		"SELECT SUM(cents) FROM sales":                                   true,
		"SELECT os, count(*) FROM nodes WHERE up = ? GROUP BY os":        false,
		"SELECT os FROM nodes":                                           false,
		"SELECT count(*) OVER (), id FROM nodes":                         false,
		"SELECT id, count(*) FROM nodes GROUP BY id LIMIT ?":             false,
		"INSERT INTO sums SELECT count(*) FROM nodes":                    false,
	} {
		if Sums(text) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}
