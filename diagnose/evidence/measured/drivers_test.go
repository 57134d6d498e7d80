package measured

import "testing"

// TestOfDatabase: what looks like a driver of SQL, or like what sits on one. A maker of databases makes other modules too.
func TestOfDatabase(t *testing.T) {
	for module, want := range map[string]bool{
		"github.com/jackc/pgx/v5": true, "gorm.io/gorm": true, "github.com/cockroachdb/cockroach-go/v2": true, "modernc.org/sqlite": true,
		"github.com/cockroachdb/pebble/v2": false, "github.com/cockroachdb/errors": false, "github.com/redis/go-redis/v9": false,
	} {
		if got := ofDatabase(module); got != want {
			t.Errorf("%s: %v, want %v", module, got, want)
		}
	}
}
