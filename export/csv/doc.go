// Package csv writes the calls of a trace as comma-separated values: a row for each
// call, or one for each rank and signature, with the columns of package rows.
//
// The first line has the names of the columns. Fields are separated by commas and lines
// end with a line feed. Text that contains a comma, a quotation mark or a line break, or
// begins or ends with a space, is in quotation marks, with the quotation marks in it
// doubled, as in RFC 4180. Nothing is a missing value, and a pair of quotation marks
// empty text. Integers are decimal, floats as short as they can be without losing a
// bit, or NaN, +Inf or -Inf.
//
// What does not differ from call to call, all but position and times, is put into words
// once for each different call of a rank, up to some megabytes of text.
package csv
