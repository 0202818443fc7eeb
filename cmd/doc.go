// Package cmd holds the commands of its module: reprise.
package cmd
