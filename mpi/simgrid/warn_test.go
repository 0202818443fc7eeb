package simgrid

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestForeign(t *testing.T) {
	long := strings.Repeat("ä", 60)
	tests := []struct {
		name, text, want string // empty: none
	}{
		{"None", "# a\n\n0 init\n", ""},
		{"CRLF", "0 init\r\n0 finalize\r\n", ""},
		{"CRCRLF", "0 init\r\r\n0 finalize\r\r\n", `input:1: "0 init\r\r"`},
		{"ByteOrderMark", "\ufeff0 init\n0  init\n", `input:1: "\ufeff0 init"`},
		{"Later", "# a\n0 init\n0 init\n0 dance\n0 dance\n", `input:4: "0 dance"`},
		{"Remembered", "#\n0 init\n1 dance\n0 dance\n", `input:3: "1 dance"`},
		{"NoLineFeed", "0 init\n0 finalize", `input:2: "0 finalize", without a line feed`},
		{"Long", long + "\n", `input:1: "` + strings.Repeat("ä", 40) + `"…`},
		{"CutThrough", "0 x" + long + "\n", `input:1: "0 x` + strings.Repeat("ä", 38) + `"…`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(tt.text), Options{})
			readAll(t, r)
			if got := r.Report(true).Foreign; got != tt.want {
				t.Errorf("Foreign = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRestarts(t *testing.T) {
	t.Chdir(files(t, map[string]string{"a": "0 init\n0 finalize\n1 init\n",
		"b": "1 finalize\n0 init\n0 init\n0 finalize\n"}))
	tests := []struct {
		name  string
		paths []string
		stdin string
		want  string
	}{
		{"None", []string{"a"}, "", "[]"},
		{"Files", []string{"a", "b"}, "", "[b: rank 0: init again at line 2]"},
		{"Doubled", []string{"-"}, strings.Repeat("0 init\n0 location a.c 1\n0 finalize\n", 2),
			"[input: rank 0: init again at line 4]"},
		{"TwoRanks", []string{"-"}, "3 init\n1 init\n3 init\n1 init\n",
			"[input: rank 1: init again at line 4 input: rank 3: init again at line 3]"},
		{"AfterLocation", []string{"-"}, "0 location a.c 1\n0 init\n", "[]"},
		{"HeadLost", []string{"-"}, "0 barrier\n0 init\n", "[]"}, // Incomplete reports this
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Open(tt.paths, Options{Stdin: strings.NewReader(tt.stdin)})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			readAll(t, r)
			if got := fmt.Sprint(r.Report(true).Restarts); got != tt.want {
				t.Errorf("Restarts = %s, want %s", got, tt.want)
			}
		})
	}
}

// TestRefused checks inputs that would be read as something that was not meant.
func TestRefused(t *testing.T) {
	t.Chdir(files(t, map[string]string{
		"a": "0 init\n", "b": "1 init\n", "list": "# ranks\na\nb\n", "words": "x\ny\n",
		"a.xz": "\xfd7zXZ\x00\x00\x04", "a.bz2": "BZh91AY&SY\x01", "text": "BZh9\n",
		"a.rpz": "\x8frpz\r\n\n\x01", "to-xz": "a.xz\n",
	}))
	tests := []struct{ paths, want, content string }{
		{"a b", "", ""},
		{"a words text", "", ""},
		{"a list b", "simgrid: list: is a list of files; give it alone", ""},
		{"list b", "simgrid: list: is a list of files; give it alone", ""},
		{"list", "", ""},
		{"a b a", "simgrid: a: is given twice, the first time as a", ""},
		{"a b ./a", "simgrid: ./a: is given twice, the first time as a", ""},
		{"- a -", "simgrid: the standard input is given twice", ""},
		{"a.xz", "simgrid: a.xz: compressed by xz", "xz"},
		{"a a.bz2", "simgrid: a.bz2: compressed by bzip2", "bzip2"},
		{"a.rpz", "simgrid: a.rpz: is a trace already", "trace"},
		{"to-xz", "simgrid: a.xz: compressed by xz", "xz"},
	}
	for _, tt := range tests {
		t.Run(tt.paths, func(t *testing.T) {
			r, err := Open(strings.Fields(tt.paths), Options{Stdin: strings.NewReader("")})
			if err == nil {
				defer r.Close()
				_, err = readSome(r)
			}
			if got := fmt.Sprint(err); tt.want == "" && err != nil || tt.want != "" && got != tt.want {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
			var re *ReadError
			if content := ""; errors.As(err, &re) {
				content = re.Content
				if content != tt.content {
					t.Errorf("content = %s, want %s", content, tt.content)
				}
			} else if tt.content != "" {
				t.Errorf("err = %v, want content %s", err, tt.content)
			}
		})
	}
}
