// halo.cc: a mesh without structure whose halos ranks exchange: fields are classes with virtual functions, and lists of neighbors
// are vectors in a map.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct Cell {
	int global, owner, faces[3];
	double volume, center[2];
};

class Mesh {
public:
	int rank, size, own = 0;
	std::vector<Cell> cells;
	std::map<int, std::vector<int>> sends, receives; // by neighbor: numbers of cells here
	Mesh(int each, MPI_Comm comm)
	{
		MPI_Comm_rank(comm, &rank);
		MPI_Comm_size(comm, &size);
		int all = each * size;
		std::map<int, int> local;
		auto add = [&](int global) {
			auto at = local.find(global);
			if (at != local.end())
				return at->second;
			Cell c;
			c.global = global, c.owner = owner(global);
			c.faces[0] = (global + 1) % all, c.faces[1] = (global + all - 1) % all, c.faces[2] = (global * 5 + 3) % all;
			c.center[0] = std::cos(global * 0.1), c.center[1] = std::sin(global * 0.1), c.volume = 1 + 0.01 * global;
			cells.push_back(c);
			return local[global] = int(cells.size()) - 1;
		};
		for (int g = 0; g < all; g++)
			if (owner(g) == rank)
				add(g);
		own = int(cells.size());
		for (int c = 0; c < own; c++)
			for (int f = 0; f < 3; f++) {
				int other = cells[c].faces[f];
				if (owner(other) == rank)
					continue;
				size_t before = cells.size();
				int at = add(other);
				if (cells.size() > before)
					receives[owner(other)].push_back(at);
			}
		for (int g = 0; g < all; g++) { // the rows of the others, which need mine
			if (owner(g) == rank)
				continue;
			int faces[3] = {(g + 1) % all, (g + all - 1) % all, (g * 5 + 3) % all};
			for (int f : faces)
				if (owner(f) == rank) {
					std::vector<int> &list = sends[owner(g)];
					int at = local[f];
					if (std::find(list.begin(), list.end(), at) == list.end())
						list.push_back(at);
				}
		}
		for (auto &r : receives)
			std::sort(r.second.begin(), r.second.end(), [this](int a, int b) { return cells[a].global < cells[b].global; });
		for (auto &s : sends)
			std::sort(s.second.begin(), s.second.end(), [this](int a, int b) { return cells[a].global < cells[b].global; });
	}
	int owner(int global) const { return (global * 3 + global / 4) % size; }
};

class Field {
	std::string name_;

public:
	explicit Field(std::string name) : name_(std::move(name)) {}
	virtual ~Field() {}
	virtual int components() const = 0;
	virtual void pack(const std::vector<int> &cells, double *to) const = 0;
	virtual void unpack(const std::vector<int> &cells, const double *from) = 0;
	virtual double advance(const Mesh &mesh, double dt) = 0;
	const std::string &name() const { return name_; }
};

class Scalar : public Field {
	std::vector<double> value, next;

public:
	Scalar(const Mesh &m, std::string name) : Field(std::move(name)), value(m.cells.size(), 1), next(m.cells.size()) {}
	int components() const override { return 1; }
	void pack(const std::vector<int> &cells, double *to) const override
	{
		for (int c : cells)
			*to++ = value[c];
	}
	void unpack(const std::vector<int> &cells, const double *from) override
	{
		for (int c : cells)
			value[c] = *from++;
	}
	double advance(const Mesh &m, double dt) override
	{
		double change = 0;
		for (int c = 0; c < m.own; c++) {
			double flux = 0;
			for (int f = 0; f < 3; f++)
				flux += m.cells[c].center[f & 1] - value[c];
			next[c] = value[c] + dt * flux / m.cells[c].volume;
			change = std::max(change, std::fabs(next[c] - value[c]));
		}
		value.swap(next);
		return change;
	}
};

class Vector : public Field {
	struct Item {
		double u, v;
		bool fixed;
	};
	std::vector<Item> items;

public:
	Vector(const Mesh &m, std::string name) : Field(std::move(name)), items(m.cells.size(), Item{0, 1, false}) {}
	int components() const override { return 2; }
	void pack(const std::vector<int> &cells, double *to) const override
	{
		for (int c : cells)
			*to++ = items[c].u, *to++ = items[c].v;
	}
	void unpack(const std::vector<int> &cells, const double *from) override
	{
		for (int c : cells)
			items[c].u = *from++, items[c].v = *from++;
	}
	double advance(const Mesh &m, double dt) override
	{
		double most = 0;
		for (int c = 0; c < m.own; c++) {
			Item &i = items[c];
			if (!i.fixed)
				i.u += dt * i.v, i.v -= dt * i.u * m.cells[c].volume;
			most = std::max(most, i.u * i.u + i.v * i.v);
		}
		return most;
	}
};

class Exchange {
	const Mesh &mesh;
	MPI_Comm comm;
	std::map<int, std::vector<double>> out, in;
	std::vector<MPI_Request> requests;

public:
	Exchange(const Mesh &m, MPI_Comm c) : mesh(m), comm(c) {}
	void operator()(std::vector<std::unique_ptr<Field>> &fields, int tag)
	{
		requests.clear();
		int components = 0;
		for (auto &f : fields)
			components += f->components();
		for (auto &r : mesh.receives) {
			std::vector<double> &b = in[r.first];
			b.resize(r.second.size() * components);
			requests.emplace_back();
			MPI_Irecv(b.data(), int(b.size()), MPI_DOUBLE, r.first, tag, comm, &requests.back());
		}
		for (auto &s : mesh.sends) {
			std::vector<double> &b = out[s.first];
			b.resize(s.second.size() * components);
			double *at = b.data();
			for (auto &f : fields) {
				f->pack(s.second, at);
				at += s.second.size() * f->components();
			}
			requests.emplace_back();
			MPI_Isend(b.data(), int(b.size()), MPI_DOUBLE, s.first, tag, comm, &requests.back());
		}
		if (MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
			std::cerr << "MPI_Waitall failed\n";
			std::abort();
		}
		for (auto &r : mesh.receives) {
			const double *at = in[r.first].data();
			for (auto &f : fields) {
				f->unpack(r.second, at);
				at += r.second.size() * f->components();
			}
		}
	}
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int each = argc > 1 ? std::atoi(argv[1]) : 24, steps = 10;
	Mesh mesh(each, MPI_COMM_WORLD);
	std::vector<std::unique_ptr<Field>> fields;
	fields.emplace_back(new Scalar(mesh, "pressure"));
	fields.emplace_back(new Vector(mesh, "velocity"));
	fields.emplace_back(new Scalar(mesh, "temperature"));
	Exchange exchange(mesh, MPI_COMM_WORLD);
	double dt = 0.01;
	for (int step = 0; step < steps; step++) {
		exchange(fields, step % 3);
		double change = 0, most = 0;
		for (auto &f : fields)
			change = std::max(change, f->advance(mesh, dt));
		if (!(change < 1e6)) {
			std::cerr << "step " << step << " diverges\n";
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		dt = 0.02 / (1 + most);
		if (mesh.rank == 0)
			std::cout << "step " << step << ", " << fields[0]->name() << " changes by " << most << "\n";
	}
	MPI_Finalize();
	return 0;
}
