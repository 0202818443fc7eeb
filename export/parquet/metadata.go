package parquet

import (
	"runtime/debug"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/reprise-trace/reprise/export"
)

// createdBy returns what wrote the file, as Parquet has it: name version 1.0 (build abcd).
func createdBy() string {
	version, build := "devel", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if strings.HasPrefix(m.Path, "github.com/reprise-trace/reprise") && m.Version != "" && m.Version != "(devel)" {
			version = strings.TrimPrefix(m.Version, "v")
			break
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			build = s.Value
		}
	}
	return "reprise version " + version + " (build " + build + ")"
}

// metadata returns what the file says of the run: of several, a line each.
func (f *file) metadata() []format.KeyValue {
	row := map[export.By]string{export.Calls: "call", export.Signatures: "signature",
		export.Messages: "message"}[f.table.By()]
	list := []format.KeyValue{{Key: "reprise.rows", Value: row}}
	for _, fact := range f.table.Run() {
		list = append(list, format.KeyValue{Key: "reprise." + fact.Name,
			Value: strings.ToValidUTF8(strings.Join(fact.Values, "\n"), "\uFFFD")})
	}
	return list
}
