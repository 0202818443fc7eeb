// spmv.cc: products with a sparse matrix whose columns are of other ranks, with templates, algorithms and
// exceptions.
#include <mpi.h>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>
template <class I, class T> class Csr
{
	std::vector<I> ptr{0}, col;
	std::vector<T> val;

public:
	void row(const std::vector<std::pair<I, T>> &e)
	{
		for (auto &[c, v] : e) {
			col.push_back(c);
			val.push_back(v);
		}
		ptr.push_back(I(col.size()));
	}
	I rows() const
	{
		return I(ptr.size()) - 1;
	}
	template <class F> void each(I r, F &&f) const
	{
		for (I k = ptr[r]; k < ptr[r + 1]; k++)
			f(col[k], val[k]);
	}
	std::vector<I> &columns()
	{
		return col;
	}
};
struct Bad : std::logic_error {
	using std::logic_error::logic_error;
};
struct Plan {
	std::vector<int> peers;
	std::vector<std::vector<int>> out;
	std::vector<int> recv;
	std::map<int, int> local;
	int ghosts = 0;
};
class Dist
{
	int rank, size, n, lo;
	Csr<int, double> a;
	Plan plan;

public:
	Dist(int each)
	{
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
		n = each * size;
		lo = each * rank;
		for (int i = lo; i < lo + each; i++) {
			std::vector<std::pair<int, double>> e{{i, 4.0}};
			for (int d : {1, 7}) {
				if (i >= d)
					e.emplace_back(i - d, -1.0);
				if (i + d < n)
					e.emplace_back(i + d, -1.0);
			}
			std::sort(e.begin(), e.end());
			a.row(e);
		}
		setup(each);
	}
	void setup(int each)
	{
		std::map<int, std::vector<int>> need;
		for (int c : a.columns())
			if (c < lo || c >= lo + each)
				need[c / each].push_back(c);
		std::vector<int> want(size), asked(size);
		for (auto &p : need) {
			std::sort(p.second.begin(), p.second.end());
			p.second.erase(std::unique(p.second.begin(), p.second.end()), p.second.end());
			want[p.first] = int(p.second.size());
		}
		MPI_Alltoall(want.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, MPI_COMM_WORLD);
		std::vector<MPI_Request> req;
		std::vector<std::vector<int>> lists(size);
		for (int p = 0; p < size; p++)
			if (asked[p]) {
				lists[p].resize(asked[p]);
				req.emplace_back();
				MPI_Irecv(lists[p].data(), asked[p], MPI_INT, p, 11, MPI_COMM_WORLD, &req.back());
			}
		for (auto &p : need)
			MPI_Send(p.second.data(), int(p.second.size()), MPI_INT, p.first, 11, MPI_COMM_WORLD);
		MPI_Waitall(int(req.size()), req.data(), MPI_STATUSES_IGNORE);
		int at = each;
		for (auto &p : need)
			for (int c : p.second)
				plan.local[c] = at++;
		plan.ghosts = at - each;
		for (int p = 0; p < size; p++)
			if (want[p] || asked[p]) {
				plan.peers.push_back(p);
				plan.recv.push_back(want[p]);
				std::vector<int> o;
				for (int c : lists[p]) {
					if (c < lo || c >= lo + each) {
						std::ostringstream s;
						s << "rank " << rank << " does not own " << c;
						throw Bad(s.str());
					}
					o.push_back(c - lo);
				}
				plan.out.push_back(std::move(o));
			}
		for (int &c : a.columns())
			c = c >= lo && c < lo + each ? c - lo : plan.local.at(c);
	}
	void multiply(std::vector<double> &x, std::vector<double> &y)
	{
		int each = a.rows();
		x.resize(each + plan.ghosts);
		std::vector<MPI_Request> req(plan.peers.size());
		int at = each;
		std::vector<std::vector<double>> bufs;
		for (size_t k = 0; k < plan.peers.size(); k++) {
			MPI_Irecv(x.data() + at, plan.recv[k], MPI_DOUBLE, plan.peers[k], 12, MPI_COMM_WORLD, &req[k]);
			at += plan.recv[k];
		}
		for (size_t k = 0; k < plan.peers.size(); k++) {
			std::vector<double> b;
			std::transform(plan.out[k].begin(), plan.out[k].end(), std::back_inserter(b),
						   [&](int i) { return x[i]; });
			MPI_Send(b.data(), int(b.size()), MPI_DOUBLE, plan.peers[k], 12, MPI_COMM_WORLD);
		}
		MPI_Waitall(int(req.size()), req.data(), MPI_STATUSES_IGNORE);
		for (int r = 0; r < each; r++) {
			double s = 0;
			a.each(r, [&](int c, double v) { s += v * x[c]; });
			y[r] = s;
		}
	}
	int id() const
	{
		return rank;
	}
};
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	try {
		Dist d(10);
		std::vector<double> x(10, 1.0), y(10);
		double lambda = 0;
		for (int k = 0; k < 8; k++) {
			d.multiply(x, y);
			double s = std::inner_product(y.begin(), y.end(), y.begin(), 0.0);
			MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
			lambda = std::sqrt(s);
			x.resize(10);
			std::transform(y.begin(), y.end(), x.begin(), [&](double v) { return v / lambda; });
		}
		if (d.id() == 0)
			std::cout << lambda << std::endl;
	} catch (const Bad &e) {
		std::cerr << e.what() << std::endl;
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
}
