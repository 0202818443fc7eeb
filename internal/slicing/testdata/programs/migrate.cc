// migrate.cc: particles that move to other ranks, in std::vector, std::map and std::unordered_map, with a
// datatype of their own.
#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>
struct Particle {
	double x[3], v[3];
	std::int64_t id;
	int species;
	bool operator<(const Particle &o) const
	{
		return id < o.id;
	}
};
class ParticleType
{
	MPI_Datatype t_;

public:
	ParticleType()
	{
		int len[4] = {3, 3, 1, 1};
		MPI_Aint off[4] = {offsetof(Particle, x), offsetof(Particle, v), offsetof(Particle, id),
						   offsetof(Particle, species)};
		MPI_Datatype ty[4] = {MPI_DOUBLE, MPI_DOUBLE, MPI_INT64_T, MPI_INT}, tmp;
		MPI_Type_create_struct(4, len, off, ty, &tmp);
		MPI_Type_create_resized(tmp, 0, sizeof(Particle), &t_);
		MPI_Type_commit(&t_);
		MPI_Type_free(&tmp);
	}
	~ParticleType()
	{
		MPI_Type_free(&t_);
	}
	operator MPI_Datatype() const
	{
		return t_;
	}
};
class Domain
{
	int rank_, size_;
	double lo_, hi_, length_;
	std::vector<Particle> own_;
	std::unordered_map<int, std::vector<std::size_t>> cells_;

public:
	std::map<std::string, double> stats;
	Domain(int n, double length) : length_(length)
	{
		MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
		MPI_Comm_size(MPI_COMM_WORLD, &size_);
		lo_ = length * rank_ / size_;
		hi_ = length * (rank_ + 1) / size_;
		std::mt19937 gen(42 + rank_);
		std::uniform_real_distribution<double> pos(lo_, hi_), vel(-0.5, 0.5);
		for (int i = 0; i < n; i++) {
			Particle p{};
			for (int d = 0; d < 3; d++) {
				p.x[d] = pos(gen);
				p.v[d] = vel(gen);
			}
			p.id = std::int64_t(rank_) * n + i;
			p.species = i % 3;
			own_.push_back(p);
		}
	}
	void build()
	{
		cells_.clear();
		for (std::size_t i = 0; i < own_.size(); i++)
			cells_[int((own_[i].x[0] - lo_) * 8)].push_back(i);
	}
	void kick(double dt)
	{
		build();
		for (auto &c : cells_)
			for (auto i : c.second)
				for (auto j : c.second)
					if (i < j) {
						double r = own_[i].x[1] - own_[j].x[1];
						own_[i].v[0] += dt * r;
						own_[j].v[0] -= dt * r;
					}
	}
	void drift(double dt)
	{
		for (auto &p : own_)
			for (int d = 0; d < 3; d++) {
				p.x[d] += dt * p.v[d];
				if (d == 0) {
					if (p.x[0] < 0)
						p.x[0] += length_;
					if (p.x[0] >= length_)
						p.x[0] -= length_;
				}
			}
	}
	void migrate(const ParticleType &type)
	{
		std::map<int, std::vector<Particle>> out;
		auto stays = [&](const Particle &p) { return p.x[0] >= lo_ && p.x[0] < hi_; };
		auto mid = std::stable_partition(own_.begin(), own_.end(), stays);
		for (auto it = mid; it != own_.end(); ++it)
			out[std::min(size_ - 1, int(it->x[0] / length_ * size_))].push_back(*it);
		own_.erase(mid, own_.end());
		std::vector<int> sc(size_), rc(size_), sd(size_ + 1), rd(size_ + 1);
		for (auto &o : out)
			sc[o.first] = int(o.second.size());
		MPI_Alltoall(sc.data(), 1, MPI_INT, rc.data(), 1, MPI_INT, MPI_COMM_WORLD);
		std::partial_sum(sc.begin(), sc.end(), sd.begin() + 1);
		std::partial_sum(rc.begin(), rc.end(), rd.begin() + 1);
		std::vector<Particle> send, recv(rd[size_]);
		for (auto &o : out)
			send.insert(send.end(), o.second.begin(), o.second.end());
		MPI_Alltoallv(send.data(), sc.data(), sd.data(), type, recv.data(), rc.data(), rd.data(), type,
					  MPI_COMM_WORLD);
		own_.insert(own_.end(), recv.begin(), recv.end());
		std::sort(own_.begin(), own_.end());
	}
	void energy()
	{
		double e = std::accumulate(own_.begin(), own_.end(), 0.0,
								   [](double s, const Particle &p) { return s + p.v[0] * p.v[0]; }),
			   all;
		long n = long(own_.size()), total;
		MPI_Reduce(&e, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		MPI_Allreduce(&n, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		stats["energy"] = rank_ ? 0 : all;
		stats["particles"] = double(total);
	}
	int rank() const
	{
		return rank_;
	}
};
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	{
		ParticleType type;
		Domain d(40, 4.0);
		for (int s = 0; s < 12; s++) {
			d.kick(0.02);
			d.drift(0.3);
			d.migrate(type);
			if (s % 4 == 0)
				d.energy();
		}
		if (d.rank() == 0)
			for (auto &s : d.stats)
				std::cout << s.first << " " << s.second << "\n";
	}
	MPI_Finalize();
}
