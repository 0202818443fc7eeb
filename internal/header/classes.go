package header

// Class returns the class of the handles of a type in C, such as "comm" for
// MPI_Comm, and nothing for what is no type of handles.
func Class(base string) string { return classes[base] }

var classes = map[string]string{
	"MPI_Comm":                 "comm",
	"MPI_Datatype":             "datatype",
	"MPI_Errhandler":           "errhandler",
	"MPI_File":                 "file",
	"MPI_Group":                "group",
	"MPI_Info":                 "info",
	"MPI_Message":              "message",
	"MPI_Op":                   "op",
	"MPI_Request":              "request",
	"MPI_Session":              "session",
	"MPI_Win":                  "win",
	"MPI_T_cvar_handle":        "cvar",
	"MPI_T_enum":               "enum",
	"MPI_T_event_instance":     "event",
	"MPI_T_event_registration": "registration",
	"MPI_T_pvar_handle":        "pvar",
	"MPI_T_pvar_session":       "pvar_session",
	"MPIX_Grequest_class":      "grequest_class",
}
