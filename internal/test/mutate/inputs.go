package mutate

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// read reads the inputs that are in testdata, and those of a directory of the fuzzer.
func (l *loop) read(f *testing.F, cached string) {
	directories := []string{l.testdata()}
	if cached != "" {
		directories = append(directories, filepath.Join(cached, l.name))
	}
	for _, directory := range directories {
		names, _ := filepath.Glob(filepath.Join(directory, "*"))
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if input, err := parse(string(content), l.body.Type()); err == nil { // else it is of an older body
				l.inputs = append(l.inputs, input)
			}
		}
	}
}

func (l *loop) testdata() string { return filepath.Join("testdata", "fuzz", l.name) }

const magic = "go test fuzz v1\n"

// parse parses a file of the fuzzer, with arguments of a body.
func parse(content string, body reflect.Type) ([]reflect.Value, error) {
	content, ok := strings.CutPrefix(content, magic)
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if !ok || len(lines) != body.NumIn()-1 {
		return nil, fmt.Errorf("%d values", len(lines))
	}
	input := make([]reflect.Value, len(lines))
	for i, line := range lines {
		of := body.In(i + 1)
		kind, text, _ := strings.Cut(strings.TrimSuffix(line, ")"), "(")
		if kind != of.String() && !(kind == "[]byte" && of == reflect.TypeFor[[]byte]()) {
			return nil, fmt.Errorf("%s for %s", kind, of)
		}
		var v any
		var err error
		switch of.Kind() {
		case reflect.Slice, reflect.String:
			v, err = strconv.Unquote(text)
		case reflect.Bool:
			v, err = strconv.ParseBool(text)
		case reflect.Uint64:
			v, err = strconv.ParseUint(text, 0, 64)
		default:
			v, err = strconv.ParseInt(text, 0, 64)
		}
		if err != nil {
			return nil, err
		}
		input[i] = reflect.ValueOf(v).Convert(of)
	}
	return input, nil
}

// keep writes an input that fails to testdata.
func (l *loop) keep(t *testing.T, input []reflect.Value) {
	content := []byte(magic)
	for _, v := range input {
		switch v.Kind() {
		case reflect.Slice:
			content = fmt.Appendf(content, "[]byte(%q)\n", v.Bytes())
		case reflect.String:
			content = fmt.Appendf(content, "string(%q)\n", v.String())
		default:
			content = fmt.Appendf(content, "%s(%v)\n", v.Type(), v)
		}
	}
	path := filepath.Join(l.testdata(), fmt.Sprintf("%x", sha256.Sum256(content))[:16])
	err := os.MkdirAll(l.testdata(), 0o777)
	if err == nil {
		err = os.WriteFile(path, content, 0o666)
	}
	t.Logf("mutate: the input that fails is in %s, %v", path, err)
}
