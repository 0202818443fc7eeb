// aliases.cc: names that stand for other functions and variables: constructors and destructors outside their class, of classes that inherit,
// and those that a program makes itself. What is sent depends on all of them.
#include <mpi.h>

struct Base { int n; Base(int); virtual ~Base(); virtual int twice(); };
Base::Base(int a) : n(a) {}
Base::~Base() { n = 0; }
int Base::twice() { return 2 * n; }

struct Derived : Base { Derived(int); ~Derived(); int twice(); };
Derived::Derived(int a) : Base(a + 1) {}
Derived::~Derived() {}
int Derived::twice() { return Base::twice() + 1; }

extern "C" {
int counted = 3;
extern int also_counted __attribute__((alias("counted")));
int half(int x) { return x / 2; }
int halved(int) __attribute__((alias("half")));
int halved_again(int) __attribute__((alias("halved")));
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	Derived d(4);
	counted = 5;
	int (*f)(int) = halved_again;
	int count = f(d.twice()) + also_counted;
	double data[64] = {0};
	MPI_Bcast(data, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Bcast(data, halved(count), MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
