// exceptions.cc: exceptions that decide what is sent: of classes that inherit, of numbers, texts and pointers, out of functions, virtual
// functions, constructors and loops, thrown again, by functions of the library, and because of what was received.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static int depth, log_, rank_, size_;

struct Guard {
	int weight;
	explicit Guard(int w) : weight(w) { depth += w; }
	~Guard() { depth -= weight, log_ = log_ * 3 + weight; }
};

struct Failure {
	int code;
	explicit Failure(int c) : code(c) {}
	Failure(const Failure &f) : code(f.code + 1) {}
	virtual ~Failure() { log_++; }
	virtual int weight() const { return code; }
};
struct Worse : Failure {
	explicit Worse(int c) : Failure(2 * c) {}
	int weight() const override { return code + 100; }
};
struct Stop {};

struct Step {
	virtual ~Step() {}
	virtual int run(int k) = 0;
};
struct First : Step {
	int run(int k) override
	{
		Guard g(1);
		if (k % 4 == 1)
			throw Failure(k);
		return k;
	}
};
struct Second : Step {
	Guard member;
	explicit Second(int k) : member(2)
	{
		if (k == 7)
			throw Worse(k);
	}
	int run(int k) override
	{
		Guard g(3);
		if (k % 4 == 2)
			throw Worse(k);
		if (k % 4 == 3)
			throw k * 10;
		return 2 * k;
	}
};

static int deep(int n, int k)
{
	Guard g(n);
	if (n == 0) {
		if (k % 3 == 0)
			throw "deep";
		return k;
	}
	return deep(n - 1, k) + 1;
}

static int again(int k)
{
	try {
		return deep(3, k);
	} catch (const char *text) {
		if (k % 6 == 0)
			throw std::string(text);
		return text[0];
	}
}

static void send(int n)
{
	static double data[4096];
	MPI_Bcast(data, (n & 4095), MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static int of_library(int k)
{
	std::vector<int> v(3, k);
	try {
		return v.at(k);
	} catch (const std::logic_error &) {
	}
	try {
		return std::stoi(k % 2 ? "x" : "12");
	} catch (const std::invalid_argument &) {
		std::function<int(int)> f;
		try {
			return f(1);
		} catch (const std::exception &) {
			return 77;
		}
	}
}

// A value that all ranks receive decides how long the loop goes on.
static void until_stopped()
{
	for (int k = 0;; k++) {
		try {
			int mine = rank_ + k, most;
			MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
			if (most >= size_ + 3)
				throw Stop();
		} catch (Stop &) {
			break;
		}
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
	MPI_Comm_size(MPI_COMM_WORLD, &size_);
	for (int k = 0; k < 9; k++) {
		int n = 0;
		try {
			std::unique_ptr<Step> step(k % 2 ? static_cast<Step *>(new First) : new Second(k));
			Second other(k);
			n = step->run(k) + other.run(k + 1);
		} catch (const Worse &w) {
			n = 1000 + w.weight();
		} catch (Failure f) {
			n = 2000 + f.weight();
		} catch (...) {
			try {
				throw;
			} catch (int i) {
				n = 3000 + i;
			}
		}
		send(n + log_);
		try {
			n = again(k);
		} catch (const std::string &text) {
			n = int(text.size());
		}
		send(n + depth);
		send(of_library(k));
	}
	try {
		try {
			throw Worse(3);
		} catch (Failure &f) {
			f.code = 9;
			throw;
		}
	} catch (Worse &w) {
		send(w.weight());
	}
	try {
		if (argc > 100)
			throw std::runtime_error("too many arguments");
	} catch (const std::exception &e) {
		fprintf(stderr, "%s\n", e.what());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	until_stopped();
	send(log_);
	MPI_Finalize();
	return 0;
}
