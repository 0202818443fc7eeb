//go:build race

package mpitest

const underRace = true
