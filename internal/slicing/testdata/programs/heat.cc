// heat.cc: heat on a grid of ranks, with classes that own environment, communicators and requests,
// std::function, lambdas and exceptions.
#include <mpi.h>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
namespace mpi
{
class Error : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};
inline void check(int rc, const char *what)
{
	if (rc != MPI_SUCCESS)
		throw Error(what);
}
class Environment
{
public:
	Environment(int &argc, char **&argv)
	{
		check(MPI_Init(&argc, &argv), "init");
	}
	~Environment()
	{
		MPI_Finalize();
	}
	Environment(const Environment &) = delete;
};
class Communicator
{
	MPI_Comm comm_;
	bool owned_;

public:
	explicit Communicator(MPI_Comm c, bool owned = false) : comm_(c), owned_(owned)
	{
	}
	Communicator(Communicator &&o) noexcept
		: comm_(std::exchange(o.comm_, MPI_COMM_NULL)), owned_(std::exchange(o.owned_, false))
	{
	}
	~Communicator()
	{
		if (owned_ && comm_ != MPI_COMM_NULL)
			MPI_Comm_free(&comm_);
	}
	int rank() const
	{
		int r;
		MPI_Comm_rank(comm_, &r);
		return r;
	}
	int size() const
	{
		int s;
		MPI_Comm_size(comm_, &s);
		return s;
	}
	MPI_Comm get() const
	{
		return comm_;
	}
	Communicator cart(const std::array<int, 2> &d) const
	{
		int periods[2] = {0, 0};
		MPI_Comm c;
		check(MPI_Cart_create(comm_, 2, d.data(), periods, 1, &c), "cart");
		return Communicator(c, true);
	}
	std::pair<int, int> shift(int dim) const
	{
		int a, b;
		MPI_Cart_shift(comm_, dim, 1, &a, &b);
		return {a, b};
	}
};
class Request
{
	MPI_Request r_ = MPI_REQUEST_NULL;

public:
	Request() = default;
	Request(Request &&o) noexcept : r_(std::exchange(o.r_, MPI_REQUEST_NULL))
	{
	}
	Request &operator=(Request &&o) noexcept
	{
		std::swap(r_, o.r_);
		return *this;
	}
	~Request()
	{
		if (r_ != MPI_REQUEST_NULL)
			MPI_Wait(&r_, MPI_STATUS_IGNORE);
	}
	MPI_Request *ptr()
	{
		return &r_;
	}
};
template <class T> MPI_Datatype type();
template <> MPI_Datatype type<double>()
{
	return MPI_DOUBLE;
}
template <> MPI_Datatype type<float>()
{
	return MPI_FLOAT;
}
template <class T> Request isend(const std::vector<T> &v, int to, int tag, const Communicator &c)
{
	Request r;
	check(MPI_Isend(v.data(), int(v.size()), type<T>(), to, tag, c.get(), r.ptr()), "isend");
	return r;
}
template <class T> Request irecv(std::vector<T> &v, int from, int tag, const Communicator &c)
{
	Request r;
	check(MPI_Irecv(v.data(), int(v.size()), type<T>(), from, tag, c.get(), r.ptr()), "irecv");
	return r;
}
} // namespace mpi
template <class T> class Field
{
	int nx_, ny_;
	std::vector<T> d_;

public:
	Field(int nx, int ny, T v = T()) : nx_(nx), ny_(ny), d_((nx + 2) * (ny + 2), v)
	{
	}
	T &operator()(int i, int j)
	{
		return d_[(j + 1) * (nx_ + 2) + i + 1];
	}
	const T &operator()(int i, int j) const
	{
		return d_[(j + 1) * (nx_ + 2) + i + 1];
	}
	int nx() const
	{
		return nx_;
	}
	int ny() const
	{
		return ny_;
	}
	void swap(Field &o)
	{
		d_.swap(o.d_);
	}
	template <class F> void each(F f)
	{
		for (int j = 0; j < ny_; j++)
			for (int i = 0; i < nx_; i++)
				f(i, j, (*this)(i, j));
	}
};
template <class T> struct Halo {
	struct Side {
		int peer;
		std::vector<T> out, in;
		std::function<int(int)> x, y;
		std::function<int(int)> gx, gy;
		int n;
	};
	std::vector<std::unique_ptr<Side>> sides;
	const mpi::Communicator &comm;
	Halo(const mpi::Communicator &c, int nx, int ny) : comm(c)
	{
		for (int dim = 0; dim < 2; dim++) {
			auto p = c.shift(dim);
			for (int dir = 0; dir < 2; dir++) {
				int peer = dir ? p.second : p.first;
				if (peer == MPI_PROC_NULL)
					continue;
				int n = dim ? nx : ny;
				auto s = std::make_unique<Side>();
				s->peer = peer;
				s->n = n;
				s->out.resize(n);
				s->in.resize(n);
				int edge = dim ? (dir ? ny - 1 : 0) : (dir ? nx - 1 : 0), ghost = dir ? edge + 1 : edge - 1;
				if (dim) {
					s->x = s->gx = [](int k) { return k; };
					s->y = [edge](int) { return edge; };
					s->gy = [ghost](int) { return ghost; };
				} else {
					s->y = s->gy = [](int k) { return k; };
					s->x = [edge](int) { return edge; };
					s->gx = [ghost](int) { return ghost; };
				}
				sides.push_back(std::move(s));
			}
		}
	}
	void exchange(Field<T> &f, int tag)
	{
		std::vector<mpi::Request> pending;
		for (auto &s : sides)
			pending.push_back(mpi::irecv(s->in, s->peer, tag, comm));
		for (auto &s : sides) {
			for (int k = 0; k < s->n; k++)
				s->out[k] = f(s->x(k), s->y(k));
			pending.push_back(mpi::isend(s->out, s->peer, tag, comm));
		}
		pending.clear();
		for (auto &s : sides)
			for (int k = 0; k < s->n; k++)
				f(s->gx(k), s->gy(k)) = s->in[k];
	}
};
int main(int argc, char **argv)
{
	mpi::Environment env(argc, argv);
	mpi::Communicator world(MPI_COMM_WORLD);
	std::array<int, 2> dims{{0, 0}};
	MPI_Dims_create(world.size(), 2, dims.data());
	mpi::Communicator grid = world.cart(dims);
	int n = argc > 1 ? std::stoi(argv[1]) : 12;
	Field<double> u(n, n + 2), v(n, n + 2);
	int rank = grid.rank();
	u.each([&](int i, int j, double &x) { x = std::sin(i * 0.3 + rank) * std::cos(j * 0.1); });
	Halo<double> halo(grid, n, n + 2);
	try {
		for (int it = 0; it < 20; it++) {
			halo.exchange(u, 100 + it % 3);
			double change = 0;
			v.each([&](int i, int j, double &x) {
				x = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
				change += std::fabs(x - u(i, j));
			});
			u.swap(v);
			double all;
			MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, grid.get());
			if (!std::isfinite(all))
				throw mpi::Error("diverged");
			if (rank == 0 && it % 5 == 0)
				std::printf("%d: %g\n", it, all);
		}
	} catch (const mpi::Error &e) {
		std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
}
