package adaptive

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// TestTables checks the tables against the functions they hold.
func TestTables(t *testing.T) {
	for x := -maxLogit; x <= maxLogit; x++ {
		want := 65536 / (1 + math.Exp(-float64(x)/256))
		if got := squash(int64(x)); math.Abs(float64(got)-want) > 1 {
			t.Fatalf("squash(%d) = %d, want %.2f", x, got, want)
		}
	}
	if squash(1<<40) != 65535 || squash(-1<<40) != 1 { // e⁻¹¹ is 1.1/65536
		t.Error("squash is not limited")
	}
	for i, got := range stretchTable {
		p := (float64(i) + 0.5) / 4096
		want := 256 * math.Log(p/(1-p))
		// A unit of the squashed probability is so many logits.
		if slack := 1 + 256/(65536*p*(1-p)); math.Abs(float64(got)-want) > slack {
			t.Fatalf("logit of %v = %d, want %.2f", p, got, want)
		}
	}
}

// TestCoder checks bits of any probabilities, and above all carries, which
// take probabilities near 0 and 1.
func TestCoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type event struct{ bit, p uint32 }
		events := rapid.SliceOf(rapid.Custom(func(t *rapid.T) event {
			p := rapid.OneOf(rapid.Uint32Range(1, 65535), rapid.SampledFrom([]uint32{1, 2, 32768, 65534, 65535}))
			return event{rapid.Uint32Range(0, 1).Draw(t, "bit"), p.Draw(t, "p")}
		})).Draw(t, "events")
		prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
		var w, r Coder
		w.Write(bytes.Clone(prefix))
		for _, e := range events {
			w.Code(e.bit, e.p)
		}
		out := w.Finish()
		if !bytes.HasPrefix(out, prefix) {
			t.Fatalf("%x does not begin with %x", out, prefix)
		}
		r.Read(out[len(prefix):])
		for i, e := range events {
			if got := r.Code(0, e.p); got != e.bit {
				t.Fatalf("bit %d = %d", i, got)
			}
		}
		if r.Ended() || !r.Finished() {
			t.Fatalf("%x is not as it should end", out)
		}
		for _, more := range []string{"\x00", "\x01", "\x00\x00\x00\x00\x00\x00\x00\x00\x01"} {
			r.Read(append(out[len(prefix):], more...))
			same := true
			for _, e := range events {
				same = same && r.Code(0, e.p) == e.bit
			}
			if same && r.Finished() {
				t.Fatalf("accepted %q after the number", more)
			}
		}
	})
}

// TestCoderCarry writes enough bits for carries, also such that go up through
// several bytes.
func TestCoderCarry(t *testing.T) {
	random := rand.NewPCG(1, 2)
	var far, carries int
	for range 1000 {
		var w, r Coder
		w.Write(nil)
		var all [200]struct{ bit, p uint32 }
		for i := range all {
			all[i].bit, all[i].p = uint32(random.Uint64()%2), 1+uint32(random.Uint64()%65535)
			before := bytes.Clone(w.out)
			if w.Code(all[i].bit, all[i].p); !bytes.HasPrefix(w.out, before) {
				carries++
				if last := len(before) - 1; before[last] == 0xff {
					far++
				}
			}
		}
		r.Read(w.Finish())
		for i, e := range all {
			if r.Code(0, e.p) != e.bit {
				t.Fatalf("bit %d differs", i)
			}
		}
		if !r.Finished() {
			t.Fatal("not as it should end")
		}
	}
	if carries == 0 || far == 0 {
		t.Errorf("%d carries, %d of them far", carries, far)
	}
}

// TestRoundest compares with a search.
func TestRoundest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(math.MaxUint64-300, math.MaxUint64),
			rapid.Uint64Range(0, 300)).Draw(t, "low")
		size := rapid.Uint64Range(0, 300).Draw(t, "size")
		best, carry := low, false
		zeros := func(n uint64) uint64 { return n &^ (n - 1) } // the lowest one
		for k := uint64(1); k <= size && best != 0; k++ {
			if n := low + k; n == 0 || zeros(n) > zeros(best) {
				best, carry = n, n < low
			}
		}
		if got, c := roundest(low, size); got != best || c != carry {
			t.Fatalf("roundest(%x, %d) = %x, %v, want %x, %v", low, size, got, c, best, carry)
		}
	})
}

// TestMix checks that bits survive however they are predicted, and that those which
// the predictions tell take little.
func TestMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Uint32Range(0, 1<<8-1)).Draw(t, "in")
		models := func() func(c *Coder, x uint32) uint32 {
			var alone Bit
			mixed, three := make([]Bit, 2), make([]Bit, 3)
			weights, weights3 := []int64{One / 2, One / 2}, [3]int64{One / 3, One / 3, One / 3}
			return func(c *Coder, x uint32) (y uint32) {
				for i := range 8 {
					bit := x >> i & 1
					switch i % 4 {
					case 0:
						bit = c.Adapt(&alone, Even, bit)
					case 1:
						mixed[0], mixed[1] = mixed[0].Or(Even), mixed[1].Or(mixed[0])
						bit = c.Mix(bit, mixed, weights)
					case 2:
						three[0] = three[0].Or(Even)
						bit = c.Mix3(bit, three[0], &three[0], &three[1], &three[2], &weights3)
					default:
						bit = c.Even(bit)
					}
					y |= bit << i
				}
				return y
			}
		}
		var w, r Coder
		w.Write(nil)
		code := models()
		for _, x := range in {
			code(&w, x)
		}
		r.Read(w.Finish())
		code = models()
		for i, x := range in {
			if got := code(&r, 0); got != x {
				t.Fatalf("%d: %#x became %#x", i, x, got)
			}
		}
		if !r.Finished() {
			t.Fatal("not as it should end")
		}
	})
	var c Coder
	c.Write(nil)
	bits, weights := []Bit{Even, Even}, []int64{One / 2, One / 2}
	for i := range uint32(10_000) {
		c.Mix(i%100/99, bits, weights)
	}
	if n := len(c.Finish()); n > 120 { // the entropy of 1 % is 101 bytes
		t.Errorf("10,000 bits, of which every 100th is one, took %d bytes", n)
	}
}
