package rundata

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
)

// TestLongStatementEndsWithACharacter: its text is cut between two characters.
func TestLongStatementEndsWithACharacter(t *testing.T) {
	dir := t.TempDir()
	text := "SELECT '" + strings.Repeat("€", maxStatement) // of three bytes each
	statements := database.Statements{Statements: []database.Statement{{Text: text}}}
	if err := disk.WriteJSON(dir, database.File, statements); err != nil {
		t.Fatal(err)
	}
	var d Run
	d.readStatements(&record.Record{Dir: dir})
	got := d.Statements.Statements[0].Text
	cut := strings.TrimSuffix(got, " ...")
	if cut == got || !utf8.ValidString(cut) || !strings.HasPrefix(text, cut) || len(cut) <= maxStatement-utf8.UTFMax {
		t.Errorf("%d bytes that end in %q", len(got), got[len(got)-12:])
	}
}
