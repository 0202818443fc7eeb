package rankenc

// forms are the forms of the families, by their numbers.
var forms = [...]string{
	constantNumber: "constant",
	shiftNumber:    "rank+c",
	ringNumber:     "(rank+c) mod N",
	3:              "rank+c or rim",
	4:              "a·rank+b",
	xorNumber:      "rank xor c",
	6:              "sum of 2 digits",
	7:              "sum of 3 digits",
	8:              "torus neighbour",
	9:              "grid neighbour",
	10:             "3D torus neighbour",
	11:             "3D grid neighbour",
}

// columnForms and matrixForms are the names of encodings, by their numbers.
var (
	columnForms = [...]string{
		headRuns - headColumns:       "runs",
		headPacked - headColumns:     "packed",
		headDictionary - headColumns: "dictionary",
		headDeltas - headColumns:     "deltas",
		headPieces - headColumns:     "pieces",
		headRelative - headColumns:   "relative ranks",
	}
	matrixForms = [...]string{
		headSame:       "same rows as another",
		headTransposed: "transposed",
		headSums:       "sums of another",
		headEqualRows:  "equal rows",
		headSingle:     "one column",
		headDistinct:   "columns",
		headFlat:       "flat",
	}
)

// Form returns the form of e, which all expressions of its family share, such as
// (rank+c) mod N.
func (e Expr) Form() string { return forms[e.family] }

// ColumnForm returns how an encoded column is encoded: the form of the expression
// that it is, or the name of another encoding, such as runs. It looks at no more
// than the first byte, and returns an empty string if that is none.
func ColumnForm(enc []byte) string {
	switch {
	case len(enc) == 0:
		return ""
	case enc[0] >= headShifts:
		return forms[shiftNumber]
	case enc[0] >= headConstants:
		return forms[constantNumber]
	case enc[0] >= headColumns:
		return nth(columnForms[:], enc[0]-headColumns)
	}
	return nth(forms[:], enc[0])
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
