package predict

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
)

const (
	MaxMachine = 1 << 20 // bytes of a machine file
	maxNested  = 8       // parts of a key in it, and arrays and tables in one another
)

// ReadMachineText reads a machine file, whose reader takes memory by the square of how deep its keys are.
func ReadMachineText(path string) ([]byte, error) {
	cli.Impatient.Store(true) // a pipe may have no writer, or one that never ends
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.FileError(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxMachine+1))
	switch {
	case err != nil:
		return nil, cli.FileError(path, err)
	case len(data) > MaxMachine:
		return nil, fmt.Errorf("%s: no machine file is longer than 1 MiB: docs/predict.md shows what is in one", path)
	}
	if at := tooDeep(data); at >= 0 {
		return nil, fmt.Errorf(
			"%s:%d: no key of a machine file is in more than %d others: docs/predict.md shows what is in one",
			path, 1+bytes.Count(data[:at], []byte("\n")), maxNested)
	}
	return data, nil
}

// tooDeep returns where a TOML text nests deeper than maxNested, or −1.
func tooDeep(data []byte) int {
	parts, open := 0, 0 // dots since a key may have begun, and brackets
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case c == '"' || c == '\'':
			i += lengthOfString(data[i:]) - 1
		case c == '.':
			parts++
		case c == '[' || c == '{':
			open++
			parts = 0
		case c == ']' || c == '}':
			open = max(open-1, 0)
			parts = 0
		case c == '\n' || c == '=' || c == ',':
			parts = 0
		}
		if parts >= maxNested || open > maxNested {
			return i
		}
	}
	return -1
}

// lengthOfString returns how long the string is that a TOML text begins with: up to the end of the text, or
// of the line of a string that may have one only, if it does not end.
func lengthOfString(data []byte) int {
	quote := data[:1]
	several := bytes.HasPrefix(data, bytes.Repeat(quote, 3))
	i := 1
	if several {
		i = 3
	}
	for ; i < len(data); i++ {
		switch {
		case data[i] == '\\' && quote[0] == '"':
			i++
		case data[i] == '\n' && !several:
			return i
		case data[i] != quote[0]:
		case !several:
			return i + 1
		case bytes.HasPrefix(data[i:], data[:3]):
			end := i + 3
			for n := 0; n < 2 && end < len(data) && data[end] == quote[0]; n++ { // which are before the three
				end++
			}
			return end
		}
	}
	return len(data)
}
