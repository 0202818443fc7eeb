// Package must is for tests that make what cannot fail.
package must

// Get returns v. It panics if there is an error.
func Get[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
