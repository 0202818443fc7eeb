package timing_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/timing"
)

// A plain codec is another one, by a name with a number that means nothing.
type plain struct {
	timing.Codec
	kind   string
	number int
}

func (p plain) Name() string { return fmt.Sprintf("%s,n=%d", p.kind, p.number) }

var exact = must.Get(timing.NewLossless(timing.LZ4))

// registerPlain registers plain codecs as a kind.
func registerPlain(kind string) {
	timing.Register(kind, func(name string) (timing.Codec, error) {
		p := plain{Codec: exact, kind: kind}
		_, err := fmt.Sscanf(strings.TrimPrefix(name, kind), ",n=%d", &p.number)
		return p, err
	})
}

// TestRegister registers codecs while others are looked up, and finds each by its names alone.
func TestRegister(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			kind := fmt.Sprintf("own.%d", i)
			if _, err := timing.NewCodec(kind + ",n=3"); !errors.Is(err, timing.ErrUnknownCodec) ||
				!strings.Contains(err.Error(), kind+",n=3") {
				t.Errorf("before it is registered: %v", err)
			}
			registerPlain(kind)
			if c, err := timing.NewCodec(kind + ",n=3"); err != nil || c != (plain{exact, kind, 3}) {
				t.Errorf("got %v, %v", c, err)
			}
			for _, name := range []string{kind, kind + ",n=", kind + ",n=03", kind + ",n=3 "} {
				if c, err := timing.NewCodec(name); err == nil || errors.Is(err, timing.ErrUnknownCodec) {
					t.Errorf("%q is %v, %v", name, c, err)
				}
			}
		})
	}
	all.Wait()
	open := func(string) (timing.Codec, error) { return nil, nil }
	calls := map[string]func(){"without a function": func() { timing.Register("nothing", nil) }}
	for _, kind := range []string{"own.1", "bins", "lossless", "split", "gaps", "functions", "", "a b", "a,b",
		"a;b", "a|b", "é"} {
		calls["of "+kind] = func() { timing.Register(kind, open) }
	}
	misuse.Panic(t, "timing", calls)
	timing.Register("none", open)
	if c, err := timing.NewCodec("none"); err == nil {
		t.Errorf("nil is codec %v", c)
	}
}
