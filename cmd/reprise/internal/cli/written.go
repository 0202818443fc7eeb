package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
)

// howToOpen says how files of a format are looked into, FILE being the name.
var howToOpen = map[string]string{
	"html":     "open it in a browser",
	"svg":      "open it in a browser",
	"png":      "open it in a picture viewer",
	"parquet":  `duckdb -c "select * from 'FILE' limit 5"`,
	"csv":      `duckdb -c "select * from 'FILE' limit 5"`,
	"perfetto": "open it at https://ui.perfetto.dev",
	"chrome":   "open it at https://ui.perfetto.dev",
	"paraver":  "wxparaver FILE",
	"otf2":     "otf2-print FILE, vampir FILE, or cube with Scalasca",
	"simgrid":  "reprise help export says how SimGrid replays it",
	"pprof":    "go tool pprof -http : FILE",
}

// openingOf returns how the file at path is looked into.
func openingOf(format, path string) string {
	how := howToOpen[format]
	if strings.Contains(how, `"`) { // inside of which a shell takes other characters for more
		if Quoted(path) != path {
			path = "OUT" + filepath.Ext(path)
		}
		return strings.ReplaceAll(how, "FILE", path)
	}
	return strings.ReplaceAll(how, "FILE", Quoted(path))
}

// TellOpening says how the file at path, if it is one, is looked into, on a line behind what
// was said of it.
func TellOpening(w io.Writer, format, path string) {
	if IsFile(path) {
		fmt.Fprintf(w, "  to look into it: %s\n", openingOf(format, path))
	}
}

// TellWritten says what was written to the file at path, if it is one, and how it is looked
// into. An error of writing it is handed on.
func TellWritten(cmd *cobra.Command, format, path, what string, err error) error {
	if err != nil || !IsFile(path) {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s; %s\n", text.Printable(path), what,
			text.Bytes(info.Size()), openingOf(format, path))
	}
	return nil
}
