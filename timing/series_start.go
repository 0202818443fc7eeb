package timing

import "github.com/reprise-trace/reprise/internal/wire"

// Start returns when the first call of a block, i < s.Blocks(), began, which is exact
// whatever the codec. It decodes nothing else. The error is a [*ParseError], or one of
// who reads the blocks.
func (s *Series) Start(i int) (int64, error) {
	block, err := s.block(i)
	if err != nil {
		return 0, err
	}
	w := wire.NewDecoder("timing", block)
	if n := decodeCount(&w, s.options); n == 0 {
		w.Corrupt(0, "values", "none")
	}
	start := w.Varint("start")
	if w.Err() != nil {
		return 0, locate(w.Err(), s.starts[i], "block")
	}
	return start, nil
}
