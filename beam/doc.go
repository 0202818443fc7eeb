// Package beam merges part files of Reprise in pipelines of Apache Beam, on engines
// such as Flink and Spark.
//
//	paths, err := merge.PartFiles("run.rpz", 0, "run.parts")
//	…
//	pipeline, scope := beam.NewPipelineWithRoot() // of the SDK
//	trace := rbeam.Trace(scope, rbeam.Read(scope, paths))
//
// [Read] reads files on the workers, which must see their paths. [Trace] merges them with [Combine], a
// CombineFn that pipelines may also use for themselves, as for the parts of each of many runs. Its
// accumulator is that of package merge, and between workers it is a part file. As accumulators form a
// commutative monoid, an engine may merge them in any order and grouping, and do any of it again after a
// failure: the trace is the same to the byte as that of reprise merge.
//
// [Profile] and [Traffic] answer queries about all parts instead, by CombineFns with the same accumulator: it
// adds up what ranks have in common, so that a query counts each shape once.
//
// Parts of two runs are not told apart here: merge.PartFiles does, before the pipeline runs.
//
// # Cost
//
// Part files go between workers, and they are small if ranks do nearly the same. One worker makes the
// trace, as it is one value.
package beam
