// Package exporttest has traces for the tests of the exports.
package exporttest
