//go:build linux

package proxy_test

import "testing"

// TestSpecial checks the proxy of a program with the arguments that have a meaning of their own, or none: it
// makes all of its calls.
func TestSpecial(t *testing.T) { testProxyOf(t, "special.c", 4) }
