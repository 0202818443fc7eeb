package timing

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/internal/bins"
)

// crowded returns values of several terminals that crowd about the ends of bins, and others that do not.
func crowded(n int) (values []int64, terminals []uint32) {
	for i := range n {
		terminal := uint32(i*i) % 7
		v := int64(95+terminal*137) + int64(i)*int64(i)*2654435761>>7%9
		if terminal == 3 {
			v = int64(i*7919%100_000) + 1
		}
		values, terminals = append(values, v), append(terminals, terminal)
	}
	return values, terminals
}

// TestEntropyPhases checks that values that crowd about the ends of bins take fewer bytes than in bins that begin in
// one place, in several phases.
func TestEntropyPhases(t *testing.T) {
	c := newEntropy(t, 0.1)
	used := make(map[uint8]bool)
	fixed, chosen := 0, 0
	for shift := range int64(64) {
		e, plain := c.NewEncoder().(*entropyEncoder), c.NewEncoder().(*entropyEncoder)
		values, terminals := crowded(4096)
		for i, v := range values {
			v += shift * v / 256
			values[i] = e.Append(terminals[i], v)
			if off := values[i] - v; 10*max(off, -off) > v {
				t.Fatalf("%d for %d", values[i], v)
			}
			plain.calls.add(entropyCall{terminal: terminals[i], symbol: c.bins.Symbol(v)})
			plain.least, plain.most = min(plain.least, c.bins.Symbol(v)), max(plain.most, c.bins.Symbol(v))
			used[e.calls.at(i).phase] = true
		}
		block := e.AppendBlock(nil)
		fixed, chosen = fixed+len(plain.AppendBlock(nil)), chosen+len(block)
		got := decodePhases(t, c, block, terminals)
		for i := range got.values {
			if got.values[i] != values[i] {
				t.Fatalf("value %d is %d, want %d", i, got.values[i], values[i])
			}
		}
		if again := got.encode(c); !bytes.Equal(again, block) {
			t.Fatalf("a block of %d bytes was encoded again in %d", len(block), len(again))
		}
	}
	if len(used) < bins.Phases/2 || 100*chosen > 90*fixed {
		t.Errorf("phases %v, %d bytes, %d without", used, chosen, fixed)
	}
}

// A phasedBlock is what a block says.
type phasedBlock struct {
	terminals []uint32
	values    []int64
	phases    []uint8
	first     uint8
}

// decodePhases decodes a block of the terminals, nil if it is not one.
func decodePhases(t testing.TB, c Codec, block []byte, terminals []uint32) *phasedBlock {
	decoder, err := c.NewDecoder(block, Options{MaxValues: len(terminals)})
	if err != nil {
		return nil
	}
	b := new(phasedBlock)
	var phaseOf func(terminal uint32) uint8
	switch d := decoder.(type) {
	case *entropyDecoder:
		b.first = d.model.newest
		phaseOf = func(terminal uint32) uint8 { return d.model.states[d.model.terminals.number(terminal)].phase }
	case *fastDecoder:
		m := d.model
		if m == nil {
			return b
		}
		b.first = m.newest
		phaseOf = func(terminal uint32) uint8 { return m.states[m.terminals.number(terminal)].phase }
	}
	for i := range decoder.Len() {
		v := make([]int64, 1)
		if err := decoder.Decode(v, terminals[i:i+1]); err != nil {
			return nil
		}
		b.terminals, b.values = append(b.terminals, terminals[i]), append(b.values, v[0])
		b.phases = append(b.phases, phaseOf(terminals[i]))
	}
	return b
}

// encode encodes the values in the phases that they have.
func (b *phasedBlock) encode(c Codec) []byte {
	encoder := c.NewEncoder()
	e, ok := encoder.(*entropyEncoder)
	if !ok {
		e = &encoder.(*fastEncoder).entropyEncoder
	}
	e.first = b.first
	for i, v := range b.values {
		symbol := e.codec.phases[b.phases[i]]().Symbol(v)
		if i == 0 {
			e.least, e.most = symbol, symbol
		}
		e.calls.add(entropyCall{terminal: b.terminals[i], phase: b.phases[i], symbol: symbol})
		e.least, e.most = min(e.least, symbol), max(e.most, symbol)
	}
	return encoder.AppendBlock(nil)
}

// FuzzEntropyPhases checks that a block that is read is the only one with its values and phases.
func FuzzEntropyPhases(f *testing.F) { fuzzPhases(f, newEntropy(f, 0.1)) }

func FuzzEntropyFastPhases(f *testing.F) { fuzzPhases(f, newEntropyFast(f, 0.1)) }

func fuzzPhases(f *testing.F, c Codec) {
	e := c.NewEncoder()
	values, terminals := crowded(600)
	for i, v := range values {
		e.Append(terminals[i], v)
	}
	f.Add(e.AppendBlock(nil))
	f.Fuzz(func(t *testing.T, block []byte) {
		b := decodePhases(t, c, block, terminals)
		if b == nil || len(b.values) == 0 {
			return
		}
		if again := b.encode(c); !bytes.Equal(again, block) {
			t.Fatalf("%x was encoded again as %x", block, again)
		}
	})
}
