// Package sequitur implements online grammar compression with repetition
// counts: it folds a sequence of symbols, as it arrives, into a small
// context-free grammar that generates exactly that sequence.
//
// A [Builder] takes symbols, or runs of one symbol, and returns an immutable
// [Grammar]. Loops become rules with a count: the sequence of a program that
// runs three nested loops takes a handful of symbols, however often they run.
// A Grammar is read without expanding it: from any position, by random access,
// or by what it contains:
//
//	var b sequitur.Builder
//	for range 1000 { // steps: ten messages and their answers, and a barrier
//		for range 10 {
//			b.Append(1)
//			b.Append(2)
//		}
//		b.Append(3)
//	}
//	g := b.Finish()
//	fmt.Print(g) // S → ((1 2)^10 3)^1000
//
// docs/format.md has the encodings.
//
// # Invariants
//
// A symbol of a right-hand side is a terminal or a rule, with a count ≥ 1. In
// the grammars a Builder makes,
//
//   - adjacent symbols of one right-hand side differ, counts aside;
//   - no digram, two adjacent symbols with their counts, occurs twice;
//   - every rule but the start rule is used at least twice, or once with a
//     count above 1, and has at least two symbols.
//
// # Cost
//
// Appending takes amortized constant time, whatever the length of the input,
// the length of a loop's body and the depth of the grammar; on irregular input,
// the grammar outgrows the processor's caches, and then memory sets the time. A
// Builder holds at most 48 bytes for each symbol of the grammar once there are a
// thousand, and some 60 more for each different count of 2³¹ or above that was
// in it. Reading holds one frame for each level of the grammar's depth.
//
// What repeats is found greedily. In a loop in which one inner loop runs in
// several places with different counts, what is folded first can hide the outer
// loop for as many rounds as the inner one runs: the grammar is then larger than
// it need be by as many rules.
//
// [Builder.AppendLoop] appends a loop in the time of a few of its rounds, once
// the grammar has folded it, and the grammar is that of all its rounds.
//
// # Limits
//
// A dozen bytes can generate 2⁶³ symbols. [Parse] refuses input whose expansion
// is longer than [Options.MaxLen], allocates memory in proportion to the bytes
// it was given, and accepts only rules that make every level of an expansion
// yield symbols, so that reading k symbols takes O(k + depth) steps whoever
// wrote the grammar. No method recurses. In the coded form, a grammar has at
// most 16 symbols for each byte, and 65,536 more, and reading one takes some
// microseconds at most: [Options.Plain] refuses it.
//
// # Source
//
// C. G. Nevill-Manning and I. H. Witten, "Identifying Hierarchical Structure in
// Sequences: A linear-time algorithm", JAIR 7:67–82, 1997. Repetition counts are
// those of M. Dorier, S. Ibrahim, G. Antoniu and R. Ross, "Using Formal Grammars
// to Predict I/O Behaviors in HPC: The Omnisc'IO Approach", TPDS 27(8), 2016,
// and of C. Wang, Y. Guo, P. Balaji and M. Snir, "Near-Lossless MPI Tracing and
// Proxy Application Autogeneration", TPDS 34(1), 2023, §2.2. This package departs
// from them in three ways. The last run of the input enters the grammar only
// when another symbol follows, with its final count; if its digram is unknown
// with that count but known with count 1, one repetition is split off. While the
// input repeats the expansion of the last rule, it is compared with that
// expansion and the grammar is not touched. Where it departs from it, what
// matched is cut off the rules on the way as their common prefix, in one step
// for each level.
package sequitur
