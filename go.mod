module github.com/reprise-trace/reprise

go 1.25
