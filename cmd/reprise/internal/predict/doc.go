// Package predict has the commands about other machines: predict, and calibrate, which measures one.
package predict
