// Package merging has the command merge, alone and as processes of MPI on the nodes that have the parts, and
// what says which parts belong to one run.
package merging
