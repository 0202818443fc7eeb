//go:build e2e

package e2e

// Enabled tells that tests run other programs.
const Enabled = true
