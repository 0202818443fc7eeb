package merge

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
)

// readable returns a [*format.MemoryError] if readers take more memory for e, as a file of size bytes whose
// longest section is given, than they do by default.
func (e *draft) readable(size, longest int64) error {
	return needs(size, func(memory int64) error { return e.read(size, longest, memory) })
}

// read looks at e as a reader does that is given so much memory, zero if it is given none.
func (e *draft) read(size, longest, memory int64) error {
	if err := layout.CheckContent(longest, layout.FileOptions(size, memory).MaxContent); err != nil {
		return err
	}
	most := memoryOf(size, memory)
	if err := layout.CheckClockMemory(uint64(e.clocks), most); err != nil {
		return err
	}
	table, err := e.model.parseTable(&e.sections, most)
	if err != nil {
		return err
	}
	for i := range e.model.forest.Len() {
		if err := table.CheckSlots(e.model.forest.Grammar(i).FirstUse()); err != nil {
			return err
		}
	}
	return nil
}

// partReadable returns a [*format.MemoryError] if readers take more memory for the part file of a, of size
// bytes, whose longest section is given, than they do by default. If it has one shape, they make a trace of
// it.
func (a *Accumulator) partReadable(size, longest int64) error {
	var e *draft // of the trace, if it is of interest
	if len(a.shapes) == 1 && !a.surelyReadable() {
		defer a.keepEncodings()()
		draft, err := a.drafted(context.Background())
		if err != nil {
			return fmt.Errorf("as a trace: %w", err)
		}
		e = &draft
	}
	return needs(size, func(memory int64) error {
		most := memoryOf(size, memory)
		if err := layout.CheckContent(longest, layout.FileOptions(size, memory).MaxContent); err != nil {
			return err
		}
		if err := layout.CheckClockMemory(uint64(len(a.Clocks())), most); err != nil {
			return err
		}
		if err := checkPartRanks(a.ranks.len(), most); err != nil || e == nil {
			return err
		}
		return e.read(0, 0, int64(min(most, math.MaxInt64)))
	})
}

// checkPartRanks returns a [*format.MemoryError] if a part file has calls of too many ranks for so much
// memory.
func checkPartRanks(n int, memory uint64) error {
	return layout.CheckMemory("ranks in a part file", uint64(n), partRankMemory, memory)
}

// surelyReadable reports whether a has so little that nothing need be looked at to know that its trace can be
// read.
func (a *Accumulator) surelyReadable() bool {
	const perSignature, perSlot = 1 << 11, 1 << 9 // bytes of memory, more than are counted
	signatures, slots := 0, 0
	for _, s := range a.shapes {
		signatures += len(s.forms)
		for _, f := range s.forms {
			slots += f.slots + len(f.lengths)
		}
	}
	return uint64(signatures) <= wire.LeastMemory/perSignature && uint64(slots) <= wire.LeastMemory/perSlot
}

// memoryOf returns how much memory a reader takes of a file of size bytes that is given so much, or none.
func memoryOf(size, memory int64) uint64 {
	if memory > 0 {
		return uint64(memory)
	}
	return wire.DefaultMemory(size)
}

// needs returns the error of a file of size bytes that was written, if to read it takes more memory than
// readers take by default: with all that they need. Read is as one of them, which is given so much memory.
func needs(size int64, read func(memory int64) error) error {
	var most *format.MemoryError
	for memory := int64(0); ; {
		var needs *format.MemoryError
		err := read(memory)
		if !errors.As(err, &needs) && err != nil {
			return err
		}
		if needs == nil || needs.Need > math.MaxInt64 || int64(needs.Need) <= memory {
			break
		}
		most, memory = needs, int64(needs.Need)
	}
	if most == nil {
		return nil
	}
	most.Most = wire.DefaultMemory(size)
	return fmt.Errorf(
		"merge: all is written, but whoever reads it must be given more memory than readers take by default, as by trace.Options or --memory of the command: %w", most)
}
