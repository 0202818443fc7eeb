// Package house has tests of the repository as a whole, and nothing else: whether its
// documents are true.
package house
