// Package sequitur implements online grammar compression with repetition
// counts: it folds a sequence of symbols, as it arrives, into a small
// context-free grammar that generates exactly that sequence.
//
// A [Builder] takes symbols, or runs of one symbol, and returns an immutable
// [Grammar]. Loops become rules with a count: the sequence of a program that
// runs three nested loops takes a handful of symbols, however often they run.
// A Grammar is read without expanding it: from any position, by random access,
// or by what it contains. A [Forest] is several grammars that are encoded
// together, so that what they have in common takes little room.
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
// # Encoding
//
// A grammar is encoded as
//
//	rules    uvarint  number of rules, the start rule included; 0 for the empty sequence
//
// and then the rules, each after those it refers to, the start rule last:
//
//	symbols  uvarint  number of symbols: 2 or more, in the start rule 1 or more
//	symbol   uvarint  value<<2 | rule<<1 | counted, for each symbol
//	count    uvarint  count−2, after a symbol with counted set
//
// The value of a terminal is the terminal. The value of a rule is its distance
// back from the rule that refers to it, less one. Every integer takes its
// shortest form, so a grammar has exactly one encoding. There is no checksum:
// what contains a grammar has one.
//
// # Encoding of a forest
//
// A member of a [Forest] is written as the steps that put it together on a stack
// of symbols, its tokens:
//
//	terminal t  push t
//	rule d      push the rule of this member that was made d rules before the last
//	repeat n    give the symbol on top, whose count is 1, the count n ≥ 2
//	reduce n    take the n ≥ 2 symbols on top, make a rule of them, and push it
//	end         make the start rule of the whole stack; the member is complete
//
// A rule is made where the sequence uses it first. Most tokens are not written:
// each is compared with a prediction, and tokens that are as predicted are
// counted. The prediction is what stands at the cursor in the history, which is
// all tokens so far up to 65,536. After every token the cursor moves on by one,
// until the end of the history. It is moved to another place, if there is one,
// before a token for which there is no cursor or which follows one that was not
// as predicted: to the last token that has the same two tokens before it; or
// else, if there is no cursor or the last two were not as predicted, to the last
// that has the same one before it; or else, if that is a terminal t,
// and there is no cursor or the last four were not as predicted, nowhere, and
// t+1 is predicted. Before the first token of a member stand two that stand
// nowhere else, and what is said of the last tokens begins anew with it; the
// cursor stays where it is.
//
// The first byte of a token says what it is. If it is the last of its row, and
// for terminals from 240 on, something follows:
//
//	0          terminal: the next new one, 1 more than the largest so far
//	1          end
//	2 … 17     n−1 for n tokens that are as predicted, all there are; uvarint n−16
//	18 … 25    repeat: n−2; uvarint n−9
//	26 … 37    reduce: n−2; uvarint n−13
//	38 … 53    rule: d; uvarint d−15
//	54 … 239   terminal: t
//	240 … 254  terminal: (t−186)/256; a byte (t−186) mod 256
//	255        terminal: uvarint t−4026
//
// The shared piece is
//
//	members    uvarint  number of members
//	tokens              of these members, one after the other
//
// A member is in the shared piece if the history is not full when it begins. The
// piece of any other is its tokens, for which the history is that of the shared
// piece, and grows no more; it begins without a cursor, and with the largest
// terminal so far of the shared piece. A count of predicted tokens may reach
// across members of the shared piece. So what members have in common takes one
// count, and a terminal or count in which they differ two bytes more; any number
// of new terminals in a row takes less than a dozen bytes. Every token takes its shortest
// form, and one that is as predicted is counted, so a piece has exactly one
// encoding, given the shared piece. Pieces of the same program share strings of
// bytes, which a general compressor finds.
//
// # Limits
//
// A dozen bytes can generate 2⁶³ symbols. [Parse] refuses input whose expansion
// is longer than [Options.MaxLen], allocates memory in proportion to the bytes
// it was given, and accepts only rules that make every level of an expansion
// yield symbols, so that reading k symbols takes O(k + depth) steps whoever
// wrote the grammar. No method recurses.
//
// A few bytes of a forest's pieces can stand for many symbols. [ParseShared] and
// [Shared.ParseMember] accept at most [Options.MaxSymbols] for a piece, and then
// the same holds as for Parse. What they compare tokens with is bounded.
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
//
// To predict a symbol by what stood behind the last place like this one, and to
// write only how often that holds, is the method of C. Bloom, "LZP: A New Data
// Compression Algorithm", DCC 1996. A forest departs from it in going on behind a
// symbol that differs: its members are programs with other arguments.
package sequitur
