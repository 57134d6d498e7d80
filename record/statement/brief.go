package statement

import (
	"regexp"
	"strings"
)

// mostBrief is the length in characters to which Brief shortens.
const mostBrief = 80

var (
	// selected is the list of columns of a statement that selects from one place after it.
	selected = regexp.MustCompile(`(?i)^(select (?:distinct )?)([^()]{12,}?)( from )`)
	// quotes are those around names.
	quotes = strings.NewReplacer("`", "", `"`, "")
	// table is the first table of a statement whose list of columns is left out.
	table     = regexp.MustCompile(`(?i)^(?:select (?:distinct )?(?:…|\*) from|update|delete from|insert into) ([\w.]+)`)
	condition = regexp.MustCompile(`(?i) where `)
)

// Brief shortens a statement to one line of at most 80 characters. Of a longer one it leaves out what says least: the columns that it
// selects, quotes, its only table's name before columns, and then what comes before its condition.
func Brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if fits(text) {
		return text
	}
	text = quotes.Replace(selected.ReplaceAllString(text, "$1…$3"))
	if only := table.FindStringSubmatch(text); only != nil && !strings.Contains(strings.ToLower(text), " join ") {
		text = strings.ReplaceAll(text, " "+only[1]+".", " ")
		text = strings.ReplaceAll(text, "("+only[1]+".", "(")
	}
	if fits(text) {
		return text
	}
	if at := condition.FindStringIndex(text); at != nil {
		const head = 40 // of what comes before a condition that takes more than the rest
		before, after := []rune(text[:at[0]]), []rune(text[at[0]+1:])
		if room := max(head, mostBrief-len(after)-2); len(before) > room {
			text = string(before[:room]) + "… " + string(after)
		}
	}
	if runes := []rune(text); len(runes) > mostBrief {
		return string(runes[:mostBrief-1]) + "…"
	}
	return text
}

func fits(text string) bool { return len([]rune(text)) <= mostBrief }
