//go:build race

package main

// slow is by how much to make the longest tests shorter: the race detector makes
// allocating the tables of a compressor some fifty times as slow.
const slow = 16
