// operators.cc: preconditioned conjugate gradients with classes of operators, vectors with operators of C++, phases that a table
// of pointers to member functions names, and a communicator that a class owns.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

class Comm {
	MPI_Comm comm;
	int rank_, size_;

public:
	explicit Comm(MPI_Comm of)
	{
		check(MPI_Comm_dup(of, &comm), "MPI_Comm_dup");
		check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
		check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
	}
	Comm(const Comm &) = delete;
	~Comm() { MPI_Comm_free(&comm); }
	static void check(int status, const char *what)
	{
		if (status != MPI_SUCCESS)
			throw std::runtime_error(what);
	}
	int rank() const { return rank_; }
	int size() const { return size_; }
	double sum(double x) const
	{
		double all;
		check(MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
		return all;
	}
	void shift(const double *from, int to, double *into, int of, int tag) const
	{
		check(MPI_Sendrecv(from, 1, MPI_DOUBLE, to, tag, into, 1, MPI_DOUBLE, of, tag, comm, MPI_STATUS_IGNORE), "MPI_Sendrecv");
	}
};

class Vec {
	std::vector<double> values;
	const Comm *comm;

public:
	Vec(const Comm &c, int n, double x = 0) : values(n + 2, x), comm(&c) {}
	int size() const { return int(values.size()) - 2; }
	double &operator[](int i) { return values[i + 1]; }
	double operator[](int i) const { return values[i + 1]; }
	Vec operator+(const Vec &o) const
	{
		Vec r(*this);
		for (size_t i = 0; i < values.size(); i++)
			r.values[i] += o.values[i];
		return r;
	}
	Vec operator-(const Vec &o) const
	{
		Vec r(*this);
		for (size_t i = 0; i < values.size(); i++)
			r.values[i] -= o.values[i];
		return r;
	}
	friend Vec operator*(double a, const Vec &v)
	{
		Vec r(v);
		for (double &x : r.values)
			x *= a;
		return r;
	}
	double dot(const Vec &o) const
	{
		double local = 0;
		for (int i = 0; i < size(); i++)
			local += (*this)[i] * o[i];
		return comm->sum(local);
	}
	void halo()
	{
		int r = comm->rank(), n = size();
		int left = r > 0 ? r - 1 : MPI_PROC_NULL, right = r + 1 < comm->size() ? r + 1 : MPI_PROC_NULL;
		comm->shift(&values[n], right, &values[0], left, 5);
		comm->shift(&values[1], left, &values[n + 1], right, 6);
	}
};

class Operator {
public:
	virtual ~Operator() = default;
	virtual Vec apply(Vec &x) const = 0;
};

class Laplacian : public Operator {
	double diagonal;

public:
	explicit Laplacian(double d) : diagonal(d) {}
	Vec apply(Vec &x) const override
	{
		x.halo();
		Vec y(x);
		for (int i = 0; i < x.size(); i++)
			y[i] = diagonal * x[i] - x[i - 1] - x[i + 1];
		return y;
	}
};

class Jacobi : public Operator {
	double omega;
	int sweeps;

public:
	Jacobi(double w, int s) : omega(w), sweeps(s) {}
	Vec apply(Vec &x) const override
	{
		Vec y = omega * x;
		for (int s = 0; s < sweeps; s++) {
			y.halo();
			y = y + (omega / 4) * (x - y);
		}
		return y;
	}
};

class Composite : public Operator {
	std::vector<std::shared_ptr<Operator>> parts;

public:
	void add(std::shared_ptr<Operator> p) { parts.push_back(std::move(p)); }
	Vec apply(Vec &x) const override
	{
		Vec y(x);
		for (const auto &p : parts)
			y = p->apply(y);
		return y;
	}
};

template <typename A, typename M> class Solver {
	const A &a;
	const M &m;
	Vec x, b, r, z, p;
	double rz = 0, norm = 0;
	typedef void (Solver::*Phase)();

	void begin()
	{
		r = b - a.apply(x);
		z = m.apply(r);
		p = z;
		rz = r.dot(z);
	}
	void step()
	{
		Vec q = a.apply(p);
		double pq = p.dot(q);
		if (pq == 0)
			throw std::domain_error("the matrix is singular");
		double alpha = rz / pq;
		x = x + alpha * p;
		r = r - alpha * q;
	}
	void direct()
	{
		z = m.apply(r);
		double next = r.dot(z);
		p = z + (next / rz) * p;
		rz = next;
	}
	void measure() { norm = std::sqrt(r.dot(r)); }

public:
	std::function<void(int, double)> monitor;
	Solver(const A &op, const M &pre, const Vec &rhs) : a(op), m(pre), x(0.0 * rhs), b(rhs), r(rhs), z(rhs), p(rhs) {}
	double solve(int iterations)
	{
		static const Phase phases[] = {&Solver::step, &Solver::direct, &Solver::measure};
		begin();
		for (int k = 0; k < iterations; k++) {
			for (Phase f : phases)
				(this->*f)();
			if (!(norm >= 0)) {
				std::fprintf(stderr, "iteration %d: no number\n", k);
				std::exit(4);
			}
			if (monitor)
				monitor(k, norm);
		}
		return norm;
	}
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	try {
		Comm world(MPI_COMM_WORLD);
		Vec b(world, 50, 1);
		for (int i = 0; i < b.size(); i++)
			b[i] = std::sin(0.1 * (i + 50 * world.rank()));
		Laplacian a(2.5);
		Composite m;
		m.add(std::make_shared<Jacobi>(0.4, 2));
		m.add(std::make_shared<Jacobi>(0.9, 1));
		Solver<Laplacian, Composite> s(a, m, b);
		s.monitor = [&world](int k, double norm) {
			if (world.rank() == 0)
				std::printf("iteration %d: %g\n", k, norm);
		};
		s.solve(12);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
	return 0;
}
