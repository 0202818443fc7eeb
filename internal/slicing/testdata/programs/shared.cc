// shared.cc: shared pointers and atomic counters, of which the library of C++ makes operations that threads share: they decide what is sent.
#include <mpi.h>
#include <atomic>
#include <memory>
#include <vector>
#include <cstdio>
struct Node { int n; std::shared_ptr<Node> next; virtual ~Node() {} virtual int f() { return n; } };
struct Big : Node { int f() override { return 2 * n + (next ? next->f() : 0); } };
static std::atomic<int> count{0};
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	std::vector<std::shared_ptr<Node>> list;
	std::shared_ptr<Node> last;
	for (int k = 0; k < 5; k++) { auto n = std::make_shared<Big>(); n->n = k; n->next = last; last = n; list.push_back(n); count++; }
	std::weak_ptr<Node> w = last;
	double data[256] = {0};
	MPI_Bcast(data, last->f() + int(last.use_count()) + count.load(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
	list.clear();
	last.reset();
	MPI_Bcast(data, w.expired() ? 7 : 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Finalize();
}
