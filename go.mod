module github.com/reprise-trace/reprise

go 1.25

require (
	github.com/klauspost/compress v1.20.3
	github.com/pierrec/lz4/v4 v4.1.33
	pgregory.net/rapid v1.3.0
)
