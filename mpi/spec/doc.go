// Package spec holds the facts about MPI that all others need: its functions with their
// parameters, what each does, and its constants. It is data, and depends on no MPI.
//
// [Functions] is the table. It is generated from the mpi.h and the manual pages
// of two implementations of MPI, MPICH and Open MPI, by internal/tablegen. It has every function of the C
// interface of MPI 4.0 with its large-count form, and what else these mpi.h declare. Of functions of later
// versions it has those that the generator declares itself: of MPI 4.1, MPI_Request_get_status_all, _any and
// _some. Calls of others are not recorded. A [Param] says what an argument means and where its length is to
// be found:
//
//	number, ok := spec.Lookup("MPI_Gatherv")
//	…
//	for _, p := range spec.Functions()[number].Params {
//		fmt.Println(p.Name, p.Type.Kind, p.Direction, p.Length)
//	}
//
// A [Role] says what a function does: the messages that it sends and receives, what it does
// with requests, which communicator, window or file it makes or frees, whether it is collective
// and when its operation is complete. [RoleOf] finds it by the name of the function:
//
//	r := spec.RoleOf("MPI_Isend")
//	fmt.Println(r.Sends.Peer, r.Nonblocking) // dest true
//
// [Constants] are the values with names, and [Placeholders] stand for arguments that are not
// there.
package spec
