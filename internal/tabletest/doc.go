// Package tabletest has traces for the tests of tables, and what rows they are to have.
package tabletest
