package layout

import "strings"

// Command lines are mostly words that are among the arguments of MPI_Init. In an origin, those that are among
// the first texts of the trace are two bytes each: a mark, and the number of the text from '0' on.
const (
	wordMark = '\x01'
	maxWords = 64
)

// packWords returns a list of command lines in which words are the numbers of texts, and whether there are any:
// lines with a mark stay as they are.
func packWords(lines, texts []string) (packed []string, any bool) {
	numbers := make(map[string]byte)
	for i, t := range texts[:min(len(texts), maxWords)] {
		if len(t) > 2 && !strings.Contains(t, " ") {
			numbers[t] = '0' + byte(i)
		}
	}
	for _, line := range lines {
		if strings.IndexByte(line, wordMark) >= 0 {
			return lines, false
		}
		words := strings.Split(line, " ")
		for i, w := range words {
			if n, ok := numbers[w]; ok {
				words[i], any = string([]byte{wordMark, n}), true
			}
		}
		packed = append(packed, strings.Join(words, " "))
	}
	return packed, any
}

// unpackWords reverses packWords for a line, and reports whether it can be.
func unpackWords(line string, texts []string) (string, bool) {
	words := strings.Split(line, " ")
	for i, w := range words {
		if len(w) == 0 || w[0] != wordMark {
			continue
		}
		if len(w) != 2 || w[1] < '0' || int(w[1]-'0') >= min(len(texts), maxWords) {
			return "", false
		}
		words[i] = texts[w[1]-'0']
	}
	return strings.Join(words, " "), true
}
