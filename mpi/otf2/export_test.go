package otf2

import "pgregory.net/rapid"

// Fed returns the trace of records, with the times of every call, as [Import] makes it of an archive that has them.
func Fed(t *rapid.T, records []*Record) []byte { return fed(t, records) }
