package slicing

import (
	"bytes"
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/mpi/slice"
)

// module compiles the sources and returns the text of all of them in one module.
func (b *builder) module() ([]byte, error) {
	if err := b.prepareFortran(); err != nil {
		return nil, err
	}
	parts, err := b.compileAll()
	if err != nil {
		return nil, err
	}
	parts = append(parts, b.Modules...)
	linked := b.file("linked.ll")
	if err := b.run("linking the sources", llvmLink, slices.Concat([]string{"-S", "-o", linked},
		parts)...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(linked)
	if err != nil {
		return nil, err
	}
	b.hasCPlusPlus = bytes.Contains(text, []byte("@_Z"))
	if text, b.Assumed, err = slice.Assume(text, b.Assume); err != nil {
		return nil, err
	}
	text = withoutStatus(text)
	b.ownAllocators = hasOwnAllocators(text)
	if b.hasCPlusPlus {
		text = plainMembers(withoutAtomics(text))
	}
	if !b.KeepErrors && !b.Whole {
		if text, err = b.assumeErrors(text); err != nil {
			return nil, err
		}
	}
	return b.withoutExceptions(text)
}

// assumeErrors returns the text of a module in which conditions do not lead to errors: all of them if
// AssumeNoErrors is set, otherwise those that calls of MPI do not need.
func (b *builder) assumeErrors(text []byte) ([]byte, error) {
	x, err := slice.ReadExceptions(text)
	if err != nil {
		return nil, err
	}
	errors := slice.ReadErrors(text, x)
	if errors.Len() == 0 {
		return text, nil
	}
	var which []int
	if !b.AssumeNoErrors {
		probed, err := b.withoutExceptions(errors.Probed())
		if err != nil {
			return nil, err
		}
		m, err := slice.Read(probed)
		if err != nil {
			return nil, err
		}
		options, err := b.wildcards()
		if err != nil {
			return nil, err
		}
		options.OwnAllocators = b.ownAllocators
		if which, err = errors.Needless(m, options); err != nil {
			return nil, err
		}
	}
	text, assumed := errors.Assume(which)
	b.Assumed = append(b.Assumed, assumed...)
	slices.SortStableFunc(b.Assumed, func(a, b slice.Assumption) int {
		return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	b.Assumed = slices.Compact(b.Assumed) // code of templates is there several times
	return text, nil
}

// withoutExceptions returns the module of a text in which exceptions are control flow.
func (b *builder) withoutExceptions(text []byte) ([]byte, error) {
	x, err := slice.ReadExceptions(text)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return b.prepare(text, false)
	}
	return b.prepare(x.AppendText(nil), true)
}

// prepare optimizes the text of a module as far as slicing takes it. Structures that hold exceptions are
// divided.
func (b *builder) prepare(text []byte, exceptions bool) ([]byte, error) {
	linked, module := b.file("linked.ll"), b.file("module.ll")
	if err := os.WriteFile(linked, inlinable(text), 0o600); err != nil {
		return nil, err
	}
	first := "sroa,mem2reg,sccp,simplifycfg"
	if exceptions {
		first = "sroa,mem2reg,instsimplify,sccp,simplifycfg"
	}
	if err := b.run("preparing the module", opt, "-S", "-internalize-public-api-list="+strings.Join(public, ","),
		"-passes=internalize,globaldce,function("+first+"),ipsccp,cgscc(inline),globaldce,function("+first+
			",break-crit-edges,instnamer)", "-inline-threshold=225", "-inlinehint-threshold=1000",
		"-enable-noalias-to-md-conversion=false", "-o", module, linked); err != nil {
		return nil, err
	}
	return os.ReadFile(module)
}

// inlinable writes into the text of a module that functions may be inlined, above all those of templates and
// of classes of C++: what is inlined has memory of its own for each of its calls, and so each list its elements.
func inlinable(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte(" noinline "), []byte(" "))
	return ofTemplates.ReplaceAll(text, []byte("${1} inlinehint #"))
}

var ofTemplates = regexp.MustCompile(`(?m)^(define linkonce_odr .*?\)(?: (?:local_)?unnamed_addr)?) #`)

var allocates = regexp.MustCompile(`@_ZNK?(\w*8allocateE|St3pmr)`)

// hasOwnAllocators reports whether containers of C++ may get memory elsewhere than from new: the text of the
// module has a function of an allocator that is not the library's.
func hasOwnAllocators(text []byte) bool {
	return slices.ContainsFunc(allocates.FindAllSubmatch(text, -1), func(f [][]byte) bool {
		name := string(f[1])
		return name == "St3pmr" || !strings.HasPrefix(name, "St") && !strings.HasPrefix(name, "9__gnu_cxx")
	})
}
