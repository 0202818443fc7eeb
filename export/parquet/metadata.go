package parquet

import (
	"runtime/debug"
	"strconv"
	"strings"
	"time"

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

// metadata returns what the file says of the run.
func (f *file) metadata() []format.KeyValue {
	run := f.table.Trace().Run()
	var list []format.KeyValue
	add := func(key string, values ...string) {
		if value := strings.Join(values, "\n"); value != "" {
			list = append(list, format.KeyValue{Key: "reprise." + key, Value: strings.ToValidUTF8(value, "\uFFFD")})
		}
	}
	add("rows", map[export.By]string{export.Calls: "call", export.Signatures: "signature", export.Messages: "message"}[f.table.By()])
	add("source", run.Source)
	add("ranks", strconv.Itoa(run.Ranks))
	add("times", f.table.TimesLabel())
	if began := f.table.Began(); !began.IsZero() {
		add("began", began.Format(time.RFC3339Nano))
	}
	add("program", run.Origin.Commands...)
	add("versions", run.Origin.Versions...)
	add("hosts", run.Origin.Hosts...)
	add("jobs", run.Origin.Jobs...)
	add("runs", run.Origin.Runs...)
	return list
}
