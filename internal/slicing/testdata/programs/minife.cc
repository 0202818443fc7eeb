// minife.cc: finite elements in the pattern of miniFE: a box of elements, a sparse matrix of templates, exchange of externals, conjugate
// gradients, with classes that inherit, containers, output to streams and exceptions.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fe {

template <typename GlobalOrdinal> struct Box {
	GlobalOrdinal lo[3], hi[3];
	GlobalOrdinal nodes() const { return (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1) * (hi[2] - lo[2] + 1); }
};

struct Parameters {
	int nx = 6, ny = 6, nz = 6, iterations = 10;
	std::string name = "box";
};

class Timer {
	std::map<std::string, double> times;
	double begun = 0;

public:
	void start() { begun = MPI_Wtime(); }
	void stop(const std::string &what) { times[what] += MPI_Wtime() - begun; }
	double of(const std::string &what) const
	{
		auto it = times.find(what);
		return it == times.end() ? 0 : it->second;
	}
};

template <typename Scalar, typename LocalOrdinal, typename GlobalOrdinal> struct CSRMatrix {
	typedef Scalar ScalarType;
	typedef LocalOrdinal LocalOrdinalType;
	std::vector<GlobalOrdinal> rows;
	std::vector<LocalOrdinal> row_offsets, external_local;
	std::vector<GlobalOrdinal> packed_cols;
	std::vector<Scalar> packed_coefs;
	std::map<GlobalOrdinal, LocalOrdinal> externals;
	std::vector<int> neighbors, recv_length, send_length, elements_to_send;
	std::vector<Scalar> send_buffer;
	std::vector<MPI_Request> request;
	int num_cols = 0;

	size_t nonzeros() const { return packed_cols.size(); }
	void row(size_t r, LocalOrdinal &begin, LocalOrdinal &end) const
	{
		if (r + 1 >= row_offsets.size())
			throw std::out_of_range("CSRMatrix::row: no such row");
		begin = row_offsets[r], end = row_offsets[r + 1];
	}
};

template <typename Scalar> struct Vector {
	std::vector<Scalar> coefs;
	explicit Vector(size_t n, Scalar value = 0) : coefs(n, value) {}
	size_t size() const { return coefs.size(); }
};

class Decomposition {
public:
	int rank, size, px, py, pz;
	Box<long> global, local;
	Decomposition(const Parameters &p, MPI_Comm comm)
	{
		MPI_Comm_rank(comm, &rank);
		MPI_Comm_size(comm, &size);
		int dims[3] = {0, 0, 0};
		MPI_Dims_create(size, 3, dims);
		px = dims[0], py = dims[1], pz = dims[2];
		if (px * py * pz != size)
			throw std::runtime_error("the ranks are no grid");
		int at[3] = {rank % px, rank / px % py, rank / (px * py)}, n[3] = {p.nx, p.ny, p.nz}, d[3] = {px, py, pz};
		for (int i = 0; i < 3; i++) {
			global.lo[i] = 0, global.hi[i] = n[i] * d[i];
			local.lo[i] = n[i] * at[i], local.hi[i] = n[i] * (at[i] + 1);
		}
	}
	int owner(long x, long y, long z) const
	{
		long n[3] = {x, y, z}, d[3] = {px, py, pz}, at[3];
		for (int i = 0; i < 3; i++) {
			long each = (global.hi[i] - global.lo[i]) / d[i];
			at[i] = std::min(n[i] / each, d[i] - 1);
		}
		return int(at[0] + px * (at[1] + py * at[2]));
	}
	long id(long x, long y, long z) const
	{
		return x + (global.hi[0] + 1) * (y + (global.hi[1] + 1) * z);
	}
	bool mine(long x, long y, long z) const { return owner(x, y, z) == rank; }
};

class Element {
public:
	virtual ~Element() {}
	virtual int nodes() const = 0;
	virtual double stiffness(int i, int j, double h) const = 0;
	virtual double load(int i, double h) const = 0;
};

class Hex8 : public Element {
public:
	int nodes() const override { return 8; }
	double stiffness(int i, int j, double h) const override
	{
		int d = i ^ j, bits = (d & 1) + (d >> 1 & 1) + (d >> 2 & 1);
		return h * (bits == 0 ? 1.0 / 3 : bits == 1 ? 0 : -1.0 / 12);
	}
	double load(int, double h) const override { return h * h * h / 8; }
};

template <typename Matrix> void make_structure(Matrix &A, const Decomposition &d)
{
	typedef typename Matrix::LocalOrdinalType Local;
	A.row_offsets.push_back(0);
	for (long z = d.local.lo[2]; z <= d.local.hi[2]; z++)
		for (long y = d.local.lo[1]; y <= d.local.hi[1]; y++)
			for (long x = d.local.lo[0]; x <= d.local.hi[0]; x++) {
				if (!d.mine(x, y, z))
					continue;
				A.rows.push_back(d.id(x, y, z));
				for (long k = std::max(z - 1, 0L); k <= std::min(z + 1, d.global.hi[2]); k++)
					for (long j = std::max(y - 1, 0L); j <= std::min(y + 1, d.global.hi[1]); j++)
						for (long i = std::max(x - 1, 0L); i <= std::min(x + 1, d.global.hi[0]); i++) {
							A.packed_cols.push_back(d.id(i, j, k));
							A.packed_coefs.push_back(0);
						}
				A.row_offsets.push_back(Local(A.packed_cols.size()));
			}
}

template <typename Matrix> void sum_into(Matrix &A, long row, long col, double value)
{
	auto it = std::lower_bound(A.rows.begin(), A.rows.end(), row);
	if (it == A.rows.end() || *it != row)
		return;
	int begin, end;
	A.row(size_t(it - A.rows.begin()), begin, end);
	for (int k = begin; k < end; k++)
		if (A.packed_cols[k] == col)
			A.packed_coefs[k] += value;
}

template <typename Matrix, typename V> void assemble(Matrix &A, V &b, const Decomposition &d, const Element &e)
{
	double h = 1.0 / double(d.global.hi[0]);
	for (long z = d.local.lo[2]; z < d.local.hi[2]; z++)
		for (long y = d.local.lo[1]; y < d.local.hi[1]; y++)
			for (long x = d.local.lo[0]; x < d.local.hi[0]; x++)
				for (int i = 0; i < e.nodes(); i++) {
					long row = d.id(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
					for (int j = 0; j < e.nodes(); j++)
						sum_into(A, row, d.id(x + (j & 1), y + (j >> 1 & 1), z + (j >> 2)), e.stiffness(i, j, h));
					auto it = std::lower_bound(A.rows.begin(), A.rows.end(), row);
					if (it != A.rows.end() && *it == row)
						b.coefs[it - A.rows.begin()] += e.load(i, h);
				}
}

// make_local tells each owner which of its rows are needed here.
template <typename Matrix> void make_local(Matrix &A, const Decomposition &d, MPI_Comm comm)
{
	std::map<long, int> local;
	for (size_t r = 0; r < A.rows.size(); r++)
		local[A.rows[r]] = int(r);
	std::map<int, std::set<long>> needed;
	long nx = d.global.hi[0] + 1, ny = d.global.hi[1] + 1;
	for (size_t k = 0; k < A.packed_cols.size(); k++) {
		long id = A.packed_cols[k];
		if (local.count(id) == 0)
			needed[d.owner(id % nx, id / nx % ny, id / (nx * ny))].insert(id);
	}
	int next = int(A.rows.size());
	for (auto &n : needed) {
		A.neighbors.push_back(n.first);
		A.recv_length.push_back(int(n.second.size()));
		for (long id : n.second)
			A.externals[id] = next++;
	}
	A.num_cols = next;
	for (auto &c : A.packed_cols) {
		auto own = local.find(c);
		c = own != local.end() ? own->second : A.externals[c];
	}
	// a row is a neighbor of one that it needs: what to send follows from the lists of the others
	A.send_length.resize(A.neighbors.size());
	A.request.resize(A.neighbors.size());
	for (size_t i = 0; i < A.neighbors.size(); i++)
		MPI_Irecv(&A.send_length[i], 1, MPI_INT, A.neighbors[i], 99, comm, &A.request[i]);
	for (size_t i = 0; i < A.neighbors.size(); i++)
		MPI_Send(&A.recv_length[i], 1, MPI_INT, A.neighbors[i], 99, comm);
	for (size_t i = 0; i < A.neighbors.size(); i++) {
		MPI_Status status;
		if (MPI_Wait(&A.request[i], &status) != MPI_SUCCESS)
			throw std::runtime_error("make_local: MPI_Wait failed");
	}
	int total = 0;
	for (int n : A.send_length)
		total += n;
	std::vector<long> wanted(total);
	size_t at = 0;
	for (size_t i = 0; i < A.neighbors.size(); i++) {
		MPI_Irecv(&wanted[at], A.send_length[i], MPI_LONG, A.neighbors[i], 100, comm, &A.request[i]);
		at += A.send_length[i];
	}
	auto n = needed.begin();
	for (size_t i = 0; i < A.neighbors.size(); i++, ++n) {
		std::vector<long> list(n->second.begin(), n->second.end());
		MPI_Send(list.data(), int(list.size()), MPI_LONG, A.neighbors[i], 100, comm);
	}
	MPI_Waitall(int(A.request.size()), A.request.data(), MPI_STATUSES_IGNORE);
	for (long id : wanted)
		A.elements_to_send.push_back(local[id]);
	A.send_buffer.resize(total);
}

template <typename Matrix, typename V> void exchange_externals(Matrix &A, V &x, MPI_Comm comm)
{
	double *at = &x.coefs[A.rows.size()];
	for (size_t i = 0; i < A.neighbors.size(); i++) {
		MPI_Irecv(at, A.recv_length[i], MPI_DOUBLE, A.neighbors[i], 101, comm, &A.request[i]);
		at += A.recv_length[i];
	}
	for (size_t i = 0; i < A.elements_to_send.size(); i++)
		A.send_buffer[i] = x.coefs[A.elements_to_send[i]];
	double *from = A.send_buffer.data();
	for (size_t i = 0; i < A.neighbors.size(); i++) {
		MPI_Send(from, A.send_length[i], MPI_DOUBLE, A.neighbors[i], 101, comm);
		from += A.send_length[i];
	}
	MPI_Status status;
	for (size_t i = 0; i < A.neighbors.size(); i++)
		if (MPI_Wait(&A.request[i], &status) != MPI_SUCCESS) {
			std::cerr << "MPI_Wait failed" << std::endl;
			MPI_Abort(comm, -1);
		}
}

template <typename V> double dot(const V &x, const V &y, size_t n, MPI_Comm comm)
{
	double local = 0, global = 0;
	for (size_t i = 0; i < n; i++)
		local += x.coefs[i] * y.coefs[i];
	MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, comm);
	return global;
}

template <typename Matrix, typename V> struct matvec_std {
	void operator()(Matrix &A, V &x, V &y, MPI_Comm comm)
	{
		exchange_externals(A, x, comm);
		int begin, end;
		for (size_t r = 0; r < A.rows.size(); r++) {
			A.row(r, begin, end);
			typename Matrix::ScalarType sum = 0;
			for (int k = begin; k < end; k++)
				sum += A.packed_coefs[k] * x.coefs[A.packed_cols[k]];
			y.coefs[r] = sum;
		}
	}
};

template <typename V> void waxpby(double a, const V &x, double b, const V &y, V &w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w.coefs[i] = a * x.coefs[i] + b * y.coefs[i];
}

template <typename Matrix, typename V, typename MatVec>
void cg_solve(Matrix &A, const V &b, V &x, MatVec matvec, int iterations, double tolerance, int &done, double &norm,
	Timer &timer, MPI_Comm comm)
{
	size_t rows = A.rows.size();
	V r(rows), p(A.num_cols), Ap(rows);
	waxpby(1.0, x, 0.0, x, p, rows);
	matvec(A, p, Ap, comm);
	waxpby(1.0, b, -1.0, Ap, r, rows);
	double rtrans = dot(r, r, rows, comm), old = 0;
	norm = std::sqrt(rtrans);
#ifdef CONVERGE
	for (done = 1; done <= iterations && norm > tolerance; done++) {
#else
	for (done = 1; done <= iterations; done++) {
#endif
		timer.start();
		double beta = done == 1 ? 0 : rtrans / old;
		waxpby(1.0, r, beta, p, p, rows);
		matvec(A, p, Ap, comm);
		timer.stop("MATVEC");
		double p_ap = dot(Ap, p, rows, comm);
#ifdef BREAKDOWN
		if (p_ap < 0)
			throw std::runtime_error("numerical breakdown");
#endif
		double alpha = rtrans / p_ap;
		waxpby(1.0, x, alpha, p, x, rows);
		waxpby(1.0, r, -alpha, Ap, r, rows);
		old = rtrans;
		timer.start();
		rtrans = dot(r, r, rows, comm);
		timer.stop("DOT");
		norm = std::sqrt(rtrans);
		int rank;
		MPI_Comm_rank(comm, &rank);
		if (rank == 0 && done % 5 == 0)
			std::cout << "Iteration = " << done << "   Residual = " << norm << std::endl;
	}
}

void get_parameters(int argc, char **argv, Parameters &p, MPI_Comm comm)
{
	int rank, numbers[4];
	MPI_Comm_rank(comm, &rank);
	if (rank == 0) {
		std::string all;
		for (int i = 1; i < argc; i++)
			all += argv[i], all += ' ';
		std::istringstream in(all);
		int n;
		if (in >> n) {
			if (n <= 0)
				throw std::invalid_argument("nx must be positive");
			p.nx = p.ny = p.nz = n;
		}
		numbers[0] = p.nx, numbers[1] = p.ny, numbers[2] = p.nz, numbers[3] = p.iterations;
	}
	MPI_Bcast(numbers, 4, MPI_INT, 0, comm);
	p.nx = numbers[0], p.ny = numbers[1], p.nz = numbers[2], p.iterations = numbers[3];
}

int driver(const Parameters &p, MPI_Comm comm)
{
	typedef CSRMatrix<double, int, long> Matrix;
	typedef Vector<double> V;
	Timer timer;
	Decomposition d(p, comm);
	Matrix A;
	timer.start();
	make_structure(A, d);
	std::unique_ptr<Element> element(new Hex8);
	V b(A.rows.size());
	assemble(A, b, d, *element);
	timer.stop("ASSEMBLE");
	long counts[2] = {long(A.rows.size()), long(A.nonzeros())}, sums[2];
	MPI_Allreduce(counts, sums, 2, MPI_LONG, MPI_SUM, comm);
	if (d.rank == 0)
		std::cout << p.name << ": " << sums[0] << " rows, " << sums[1] << " nonzeros\n";
	make_local(A, d, comm);
	V x(A.num_cols);
	int done = 0;
	double norm = 0;
	cg_solve(A, b, x, matvec_std<Matrix, V>(), p.iterations, 1e-10, done, norm, timer, comm);
	double times[2] = {timer.of("MATVEC"), timer.of("DOT")}, most[2];
	MPI_Reduce(times, most, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
	if (d.rank == 0) {
		std::ostringstream text;
		text << "final residual " << norm << " after " << done - 1 << " iterations, " << most[0] << " s";
		std::cout << text.str() << std::endl;
	}
	return 0;
}

} // namespace fe

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int result = 1;
	try {
		fe::Parameters p;
		fe::get_parameters(argc, argv, p, MPI_COMM_WORLD);
		result = fe::driver(p, MPI_COMM_WORLD);
	} catch (const std::exception &e) {
		std::cerr << "minife: " << e.what() << std::endl;
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
	return result;
}
