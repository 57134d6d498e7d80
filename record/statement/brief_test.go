package statement

import (
	"strings"
	"testing"
)

// TestBrief: the condition is what a reader needs, because the remedy is about it.
func TestBrief(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT id FROM orders\n\tWHERE id = $1": "SELECT id FROM orders WHERE id = $1",
		"SELECT * FROM `contest_team_user_belongings` WHERE `contest_team_user_belongings`.`team_id` = ?"://
		"SELECT * FROM contest_team_user_belongings WHERE team_id = ?",
		`SELECT "id", "created_at", "updated_at", "name" FROM "users" WHERE "users"."id" = $1 ORDER BY "users"."id" LIMIT $2`://
		"SELECT … FROM users WHERE id = $1 ORDER BY id LIMIT $2",
		"INSERT INTO readings (meter, watts, volts, at, by, note, checked, source) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"://
		"INSERT INTO readings (meter, watts, volts, at, by, note, checked, source) VALUE…",
		"SELECT o.id, o.name FROM orders o JOIN items i ON i.order_id = o.id AND i.kind = o.kind WHERE o.customer = $1 AND i.open"://
		"SELECT … FROM orders o JOIN items i ON i.order… WHERE o.customer = $1 AND i.open",
		"select count(distinct path) from (select path from posts where instr(content, ?) > ? union all select path from p"://
		"select count(distinct path) from (select… where instr(content, ?) > ? union all…",
	} {
		if got := Brief(text); got != want || len([]rune(got)) > 80 {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	if got := Brief(strings.Repeat("é", 200)); len([]rune(got)) != 80 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
