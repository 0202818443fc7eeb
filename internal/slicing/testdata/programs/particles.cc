// particles.cc: particles in a box that move between ranks, in the pattern of particle-in-cell codes: templates, a map of vectors
// of structures, and a field whose borders ranks exchange.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <vector>

template <typename Real, int D> struct Particle {
	std::array<Real, D> x, v;
	Real charge, energy;
	int id;
};

template <typename Real> class Grid {
	std::vector<Real> rho, phi, force;
	int n;

public:
	explicit Grid(int cells) : rho(cells + 2), phi(cells + 2), force(cells + 2), n(cells) {}
	void clear() { std::fill(rho.begin(), rho.end(), Real(0)); }
	void deposit(Real at, Real charge)
	{
		int c = std::min(std::max(int(at * n), 0), n - 1) + 1;
		rho[c] += charge;
	}
	void borders(int left, int right, MPI_Comm comm)
	{
		MPI_Sendrecv(&rho[n], 1, MPI_DOUBLE, right, 1, &rho[0], 1, MPI_DOUBLE, left, 1, comm, MPI_STATUS_IGNORE);
		MPI_Sendrecv(&rho[1], 1, MPI_DOUBLE, left, 2, &rho[n + 1], 1, MPI_DOUBLE, right, 2, comm, MPI_STATUS_IGNORE);
	}
	void solve(int sweeps, int left, int right, MPI_Comm comm)
	{
		for (int s = 0; s < sweeps; s++) {
			for (int c = 1; c <= n; c++)
				force[c] = Real(0.5) * (phi[c - 1] + phi[c + 1] + rho[c]);
			std::swap(phi, force);
			MPI_Sendrecv(&phi[n], 1, MPI_DOUBLE, right, 3, &phi[0], 1, MPI_DOUBLE, left, 3, comm, MPI_STATUS_IGNORE);
			MPI_Sendrecv(&phi[1], 1, MPI_DOUBLE, left, 4, &phi[n + 1], 1, MPI_DOUBLE, right, 4, comm, MPI_STATUS_IGNORE);
		}
		for (int c = 1; c <= n; c++)
			if (std::isnan(phi[c]))
				throw std::runtime_error("the potential is no number");
	}
	Real energy() const
	{
		Real e = 0;
		for (int c = 1; c <= n; c++)
			e += rho[c] * phi[c];
		return e;
	}
};

template <typename P> class Swarm {
	std::vector<P> here;
	std::map<int, std::vector<P>> leaving;
	int rank, size;

public:
	Swarm(int each, MPI_Comm comm)
	{
		MPI_Comm_rank(comm, &rank);
		MPI_Comm_size(comm, &size);
		for (int k = 0; k < each; k++) {
			P p{};
			p.id = rank * each + k;
			p.x[0] = (k + 0.5) / each;
			p.v[0] = 0.013 * ((p.id * 7) % 11 - 5);
			p.v[1] = 0.5 / (1 + p.id);
			p.charge = k % 2 ? 1 : -1;
			here.push_back(p);
		}
	}
	size_t count() const { return here.size(); }
	template <typename G> void deposit(G &grid) const
	{
		grid.clear();
		for (const P &p : here)
			grid.deposit(p.x[0], p.charge);
	}
	void move(double dt)
	{
		for (P &p : here) {
			for (size_t d = 0; d < p.x.size(); d++)
				p.x[d] += dt * p.v[d];
			p.energy = 0.5 * (p.v[0] * p.v[0] + p.v[1] * p.v[1]) * std::fabs(p.charge);
			if (p.energy < 0)
				MPI_Abort(MPI_COMM_WORLD, 3);
		}
	}
	void migrate(MPI_Comm comm)
	{
		leaving.clear();
		std::vector<P> stay;
		for (P &p : here) {
			int to = rank;
			if (p.x[0] < 0)
				to = (rank + size - 1) % size, p.x[0] += 1;
			else if (p.x[0] >= 1)
				to = (rank + 1) % size, p.x[0] -= 1;
			if (to == rank)
				stay.push_back(p);
			else
				leaving[to].push_back(p);
		}
		here.swap(stay);
		int partners[2] = {(rank + 1) % size, (rank + size - 1) % size};
		for (int side = 0; side < 2; side++) {
			std::vector<P> &out = leaving[partners[side]];
			int n = int(out.size()), more = 0;
			MPI_Sendrecv(&n, 1, MPI_INT, partners[side], 10 + side, &more, 1, MPI_INT, partners[1 - side], 10 + side, comm, MPI_STATUS_IGNORE);
			std::vector<P> in(more);
			MPI_Sendrecv(out.data(), n * int(sizeof(P)), MPI_BYTE, partners[side], 20 + side, in.data(), more * int(sizeof(P)), MPI_BYTE,
				partners[1 - side], 20 + side, comm, MPI_STATUS_IGNORE);
			here.insert(here.end(), in.begin(), in.end());
			if (size == 2)
				leaving.erase(partners[side]);
		}
	}
	double energy() const
	{
		double sum = 0;
		for (const P &p : here)
			sum += p.energy;
		return sum;
	}
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	Swarm<Particle<double, 3>> swarm(40, MPI_COMM_WORLD);
	Grid<double> grid(32);
	for (int step = 0; step < 12; step++) {
		swarm.deposit(grid);
		grid.borders(left, right, MPI_COMM_WORLD);
		grid.solve(4, left, right, MPI_COMM_WORLD);
		swarm.move(0.9);
		swarm.migrate(MPI_COMM_WORLD);
		double both[2] = {swarm.energy(), grid.energy()}, sums[2];
		MPI_Reduce(both, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		if (rank == 0)
			std::printf("step %d: kinetic %g, potential %g\n", step, sums[0], sums[1]);
	}
	MPI_Finalize();
	return 0;
}
