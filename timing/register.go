package timing

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrUnknownCodec is what an error wraps that names a codec which is neither of this package nor
// registered: the values are all there, for a program that knows the codec. See [Register].
var ErrUnknownCodec = errors.New("unknown codec")

// registered are the codecs of other packages, by their kinds.
var registered struct {
	sync.RWMutex
	open map[string]func(name string) (Codec, error)
}

// Register makes codecs of another package known by their names, so that a trace, and a file of a [Writer],
// can have their columns. Kind is what all of their names begin with, up to the first comma or the end:
// that of "fourier,terms=8" is fourier. [NewCodec] gives open a whole name, and open returns the codec that
// has it, or an error that says what is wrong with its parameters. Several goroutines may call open at
// once.
//
// A package registers its codec in an init function, as timing/grammar does. Programs that import the package
// know the codec. Others get an error that wraps [ErrUnknownCodec], with the name, when they read values, and
// can read everything else of the trace. The command reprise knows the codecs of this package only: of a
// trace with another one it uses the statistics, and says so. Names are in files. They must not change, and a
// codec that cannot read its former blocks needs another kind.
//
// Register panics if the kind is registered or of this package, has anything but letters, digits,
// dots and hyphens, or there is no open. It may be called at any time, by several goroutines.
func Register(kind string, open func(name string) (Codec, error)) {
	switch {
	case open == nil:
		panic(fmt.Sprintf("timing: Register of %q without a function", kind))
	case !isKind(kind):
		panic(fmt.Sprintf("timing: Register of %q: a kind has letters, digits, dots and hyphens", kind))
	case isOwnKind(kind):
		panic(fmt.Sprintf("timing: Register of %q, which is a kind of package timing", kind))
	}
	registered.Lock()
	defer registered.Unlock()
	if registered.open[kind] != nil {
		panic(fmt.Sprintf("timing: Register of %q, which is registered", kind))
	}
	if registered.open == nil {
		registered.open = make(map[string]func(string) (Codec, error))
	}
	registered.open[kind] = open
}

// isKind reports whether a name can be that of a kind.
func isKind(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-')
	})
}

// NewCodec returns the codec whose Name is name, of this package or of one that has registered it.
// It does not know codecs of [NewSplit]: call NewSplit again. The error wraps [ErrUnknownCodec]
// if no codec of that kind is known, or of one of the codecs in it.
func NewCodec(name string) (Codec, error) {
	c, err := newCodec(name)
	if err != nil {
		return nil, err
	}
	if c != nil && c.Name() == name {
		return c, nil
	}
	kind, _, _ := strings.Cut(name, ",")
	if !isKind(kind) || isOwnKind(kind) {
		return nil, fmt.Errorf("timing: no codec is called %q", name)
	}
	return registeredCodec(kind, name)
}

// registeredCodec returns the codec with a name that another package has registered.
func registeredCodec(kind, name string) (Codec, error) {
	registered.RLock()
	open := registered.open[kind]
	registered.RUnlock()
	if open == nil {
		return nil, fmt.Errorf("timing: %w %q: its package must be imported, and call timing.Register",
			ErrUnknownCodec, name)
	}
	c, err := open(name)
	if err != nil {
		return nil, fmt.Errorf("timing: codec %q: %w", name, err)
	}
	if c == nil || c.Name() != name {
		return nil, fmt.Errorf("timing: what is registered as %q returns another codec for %q", kind, name)
	}
	return c, nil
}
