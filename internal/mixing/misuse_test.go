package mixing_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/test/misuse"
)

// TestMisuse checks what ends with a panic of the package, and what does no harm.
func TestMisuse(t *testing.T) {
	misuse.Panic(t, "mixing", map[string]func(){
		"alphabet of -1": func() { mixing.Plain(-1) },
		"members of nil": func() {
			mixing.Append(context.Background(), nil, []mixing.Member{{}}, mixing.Plain(4), 100, nil)
		},
	})
	misuse.Harmless(t, map[string]func(){
		"parsing nothing": func() {
			mixing.NewParser(mixing.Plain(0)).Parse(nil)
			mixing.NewParser(mixing.Plain(0)).Members()
			mixing.Append(context.Background(), nil, nil, mixing.Plain(0), 0, nil)
		},
	})
}
