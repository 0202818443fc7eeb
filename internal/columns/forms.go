package columns

import "github.com/reprise-trace/reprise/rankenc"

// columnForms and matrixForms are the names of encodings, by their numbers.
var (
	columnForms = [...]string{
		headRuns - headColumns:       "runs",
		headPacked - headColumns:     "packed",
		headDictionary - headColumns: "dictionary",
		headDeltas - headColumns:     "deltas",
		headPieces - headColumns:     "pieces",
		headRelative - headColumns:   "relative ranks",
		headRowSums - headColumns:    "sums of rows",
	}
	matrixForms = [...]string{
		headOldSame:       "same rows as another",
		headOldTransposed: "transposed",
		headOldSums:       "sums of another",
		headEqualRows:     "equal rows",
		headSingle:        "one column",
		headDistinct:      "columns",
		headFlat:          "flat",
		headChanged:       "another with changes",
		headCounted:       "entropy coded",
		headSame:          "same rows as another",
		headTransposed:    "transposed",
		headSums:          "sums of another",
	}
)

// ColumnForm returns how an encoded column is encoded: the form of the expression
// that it is, or the name of another encoding, such as runs. It looks at no more
// than the beginning, and returns an empty string if that is none.
func ColumnForm(enc []byte) string {
	if len(enc) > 0 && isColumn(enc[0]) {
		return nth(columnForms[:], enc[0]-headColumns)
	}
	e, _, err := rankenc.ParseExpr(enc)
	if err != nil {
		return ""
	}
	form, _ := e.Form()
	return form
}

// MatrixForm is [ColumnForm] for an encoded matrix.
func MatrixForm(enc []byte) string {
	if len(enc) == 0 {
		return ""
	}
	return nth(matrixForms[:], enc[0])
}

// nth returns an element of list, or an empty string.
func nth(list []string, i byte) string {
	if int(i) < len(list) {
		return list[i]
	}
	return ""
}
