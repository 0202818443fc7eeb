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
		v := int64(95+terminal*137) + int64(i*i*2654435761>>7)%9
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
			plain.calls = append(plain.calls, entropyCall{terminal: terminals[i], symbol: c.bins.Symbol(v)})
			plain.least, plain.most = min(plain.least, c.bins.Symbol(v)), max(plain.most, c.bins.Symbol(v))
			used[e.calls[i].phase] = true
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
func decodePhases(t testing.TB, c *entropyCodec, block []byte, terminals []uint32) *phasedBlock {
	decoder, err := c.NewDecoder(block, Options{MaxValues: len(terminals)})
	if err != nil {
		return nil
	}
	d := decoder.(*entropyDecoder)
	b := &phasedBlock{first: d.model.newest}
	for i := range d.Len() {
		v := make([]int64, 1)
		if err := d.Decode(v, terminals[i:i+1]); err != nil {
			return nil
		}
		state := &d.model.states[d.model.terminals.number(terminals[i])]
		b.terminals, b.values, b.phases = append(b.terminals, terminals[i]), append(b.values, v[0]), append(b.phases, state.phase)
	}
	return b
}

// encode encodes the values in the phases that they have.
func (b *phasedBlock) encode(c *entropyCodec) []byte {
	e := c.NewEncoder().(*entropyEncoder)
	e.first = b.first
	for i, v := range b.values {
		call := entropyCall{terminal: b.terminals[i], phase: b.phases[i], symbol: c.phases[b.phases[i]]().Symbol(v)}
		if e.calls = append(e.calls, call); i == 0 {
			e.least, e.most = call.symbol, call.symbol
		}
		e.least, e.most = min(e.least, call.symbol), max(e.most, call.symbol)
	}
	return e.AppendBlock(nil)
}

// FuzzEntropyPhases checks that a block that is read is the only one with its values and phases.
func FuzzEntropyPhases(f *testing.F) {
	c, err := NewEntropy(0.1)
	if err != nil {
		f.Fatal(err)
	}
	e := c.NewEncoder()
	values, terminals := crowded(600)
	for i, v := range values {
		e.Append(terminals[i], v)
	}
	f.Add(e.AppendBlock(nil))
	f.Fuzz(func(t *testing.T, block []byte) {
		b := decodePhases(t, c.(*entropyCodec), block, terminals)
		if b == nil || len(b.values) == 0 {
			return
		}
		if again := b.encode(c.(*entropyCodec)); !bytes.Equal(again, block) {
			t.Fatalf("%x was encoded again as %x", block, again)
		}
	})
}
