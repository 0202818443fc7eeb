// lulesh.cc: a shock on a box of hexahedrons in the pattern of LULESH: a class with vectors of what nodes and elements have, and
// communication of the faces of the boxes of ranks that packs fields by lists of pointers to members.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

typedef double Real_t;
typedef int Index_t;

enum { MSG_MASS = 1024, MSG_FORCE = 2048, MSG_GRADIENT = 3072 };

class Domain {
public:
	Domain(int ranks, int rank, Index_t side, int its);
	~Domain() { delete[] regions; }

	Real_t &x(Index_t i) { return m_x[i]; }
	Real_t &y(Index_t i) { return m_y[i]; }
	Real_t &z(Index_t i) { return m_z[i]; }
	Real_t &xd(Index_t i) { return m_xd[i]; }
	Real_t &yd(Index_t i) { return m_yd[i]; }
	Real_t &zd(Index_t i) { return m_zd[i]; }
	Real_t &xdd(Index_t i) { return m_xdd[i]; }
	Real_t &ydd(Index_t i) { return m_ydd[i]; }
	Real_t &zdd(Index_t i) { return m_zdd[i]; }
	Real_t &fx(Index_t i) { return m_fx[i]; }
	Real_t &fy(Index_t i) { return m_fy[i]; }
	Real_t &fz(Index_t i) { return m_fz[i]; }
	Real_t &nodalMass(Index_t i) { return m_nodalMass[i]; }
	Real_t &e(Index_t i) { return m_e[i]; }
	Real_t &p(Index_t i) { return m_p[i]; }
	Real_t &q(Index_t i) { return m_q[i]; }
	Real_t &ql(Index_t i) { return m_ql[i]; }
	Real_t &qq(Index_t i) { return m_qq[i]; }
	Real_t &v(Index_t i) { return m_v[i]; }
	Real_t &delv(Index_t i) { return m_delv[i]; }
	Real_t &vdov(Index_t i) { return m_vdov[i]; }
	Real_t &arealg(Index_t i) { return m_arealg[i]; }
	Real_t &ss(Index_t i) { return m_ss[i]; }
	Real_t &elemMass(Index_t i) { return m_elemMass[i]; }
	Real_t &delv_xi(Index_t i) { return m_delv_xi[i]; }
	Real_t &delv_eta(Index_t i) { return m_delv_eta[i]; }
	Real_t &delv_zeta(Index_t i) { return m_delv_zeta[i]; }
	Real_t &dxx(Index_t i) { return m_dxx[i]; }
	Real_t &dyy(Index_t i) { return m_dyy[i]; }
	Real_t &dzz(Index_t i) { return m_dzz[i]; }
	Real_t &vnew(Index_t i) { return m_vnew[i]; }
	Index_t *nodelist(Index_t i) { return &m_nodelist[8 * i]; }
	Index_t &lxim(Index_t i) { return m_lxim[i]; }
	Index_t &lxip(Index_t i) { return m_lxip[i]; }
	int &elemBC(Index_t i) { return m_elemBC[i]; }

	int sizeX() const { return m_side; }
	Index_t numElem() const { return m_numElem; }
	Index_t numNode() const { return m_numNode; }
	Real_t &time() { return m_time; }
	Real_t &deltatime() { return m_deltatime; }
	Real_t &dtcourant() { return m_dtcourant; }
	Real_t &dthydro() { return m_dthydro; }
	Real_t stoptime() const { return m_stoptime; }
	int &cycle() { return m_cycle; }
	int its() const { return m_its; }
	int tp() const { return m_tp; }
	int loc(int d) const { return m_loc[d]; }
	int rank() const { return m_rank; }
	int numReg() const { return m_numReg; }
	Index_t &regSize(int r) { return regions[r].size; }

	std::vector<MPI_Request> sendRequest, recvRequest;
	Real_t *commDataSend, *commDataRecv;

private:
	std::vector<Real_t> m_x;
	std::vector<Real_t> m_y;
	std::vector<Real_t> m_z;
	std::vector<Real_t> m_xd;
	std::vector<Real_t> m_yd;
	std::vector<Real_t> m_zd;
	std::vector<Real_t> m_xdd;
	std::vector<Real_t> m_ydd;
	std::vector<Real_t> m_zdd;
	std::vector<Real_t> m_fx;
	std::vector<Real_t> m_fy;
	std::vector<Real_t> m_fz;
	std::vector<Real_t> m_nodalMass;
	std::vector<Real_t> m_e;
	std::vector<Real_t> m_p;
	std::vector<Real_t> m_q;
	std::vector<Real_t> m_ql;
	std::vector<Real_t> m_qq;
	std::vector<Real_t> m_v;
	std::vector<Real_t> m_delv;
	std::vector<Real_t> m_vdov;
	std::vector<Real_t> m_arealg;
	std::vector<Real_t> m_ss;
	std::vector<Real_t> m_elemMass;
	std::vector<Real_t> m_delv_xi;
	std::vector<Real_t> m_delv_eta;
	std::vector<Real_t> m_delv_zeta;
	std::vector<Real_t> m_dxx;
	std::vector<Real_t> m_dyy;
	std::vector<Real_t> m_dzz;
	std::vector<Real_t> m_vnew;
	std::vector<Index_t> m_nodelist, m_lxim, m_lxip;
	std::vector<int> m_elemBC;
	struct Region {
		Index_t size;
		std::vector<Index_t> elements;
	};
	Region *regions;
	int m_side, m_its, m_cycle, m_tp, m_loc[3], m_rank, m_numReg;
	Index_t m_numElem, m_numNode;
	Real_t m_time, m_deltatime, m_dtcourant, m_dthydro, m_stoptime;

	void AllocateNodes(Index_t n)
	{
		m_x.resize(n);
		m_y.resize(n);
		m_z.resize(n);
		m_xd.resize(n);
		m_yd.resize(n);
		m_zd.resize(n);
		m_xdd.resize(n);
		m_ydd.resize(n);
		m_zdd.resize(n);
		m_fx.resize(n);
		m_fy.resize(n);
		m_fz.resize(n);
		m_nodalMass.resize(n);
	}
	void AllocateElements(Index_t n)
	{
		m_e.resize(n);
		m_p.resize(n);
		m_q.resize(n);
		m_ql.resize(n);
		m_qq.resize(n);
		m_v.resize(n);
		m_delv.resize(n);
		m_vdov.resize(n);
		m_arealg.resize(n);
		m_ss.resize(n);
		m_elemMass.resize(n);
		m_delv_xi.resize(n);
		m_delv_eta.resize(n);
		m_delv_zeta.resize(n);
		m_dxx.resize(n);
		m_dyy.resize(n);
		m_dzz.resize(n);
		m_vnew.resize(n);
		m_nodelist.resize(8 * n);
		m_lxim.resize(n);
		m_lxip.resize(n);
		m_elemBC.resize(n);
	}
};

typedef Real_t &(Domain::*Domain_member)(Index_t);

Domain::Domain(int ranks, int rank, Index_t side, int its)
	: commDataSend(nullptr), commDataRecv(nullptr), m_side(side), m_its(its), m_cycle(0), m_rank(rank), m_numReg(3), m_time(0),
	  m_deltatime(1e-7), m_dtcourant(1e20), m_dthydro(1e20), m_stoptime(1e-2)
{
	m_tp = int(std::cbrt(double(ranks)) + 0.5);
	if (m_tp * m_tp * m_tp != ranks) {
		if (rank == 0)
			printf("the number of ranks is no cube\n");
		MPI_Abort(MPI_COMM_WORLD, -1);
	}
	m_loc[0] = rank % m_tp, m_loc[1] = rank / m_tp % m_tp, m_loc[2] = rank / (m_tp * m_tp);
	m_numElem = side * side * side;
	m_numNode = (side + 1) * (side + 1) * (side + 1);
	AllocateElements(m_numElem);
	AllocateNodes(m_numNode);
	sendRequest.resize(6), recvRequest.resize(6);
	Index_t comm = (side + 1) * (side + 1) * 3;
	commDataSend = new Real_t[6 * comm];
	commDataRecv = new Real_t[6 * comm];
	Index_t n = 0;
	for (Index_t k = 0; k <= side; k++)
		for (Index_t j = 0; j <= side; j++)
			for (Index_t i = 0; i <= side; i++, n++)
				x(n) = 1.125 * (m_loc[0] * side + i) / (m_tp * side), y(n) = 1.125 * (m_loc[1] * side + j) / (m_tp * side),
				z(n) = 1.125 * (m_loc[2] * side + k) / (m_tp * side);
	Index_t row = side + 1, plane = row * row;
	for (Index_t e = 0; e < m_numElem; e++) {
		Index_t i = e % side, j = e / side % side, k = e / (side * side), at = i + j * row + k * plane;
		Index_t corners[8] = {at, at + 1, at + row + 1, at + row, at + plane, at + plane + 1, at + plane + row + 1, at + plane + row};
		for (int c = 0; c < 8; c++)
			nodelist(e)[c] = corners[c];
		lxim(e) = i > 0 ? e - 1 : e, lxip(e) = i < side - 1 ? e + 1 : e;
		elemBC(e) = i == 0 ? 1 : 0;
		v(e) = 1;
	}
	regions = new Region[m_numReg];
	for (int r = 0; r < m_numReg; r++)
		for (Index_t e = r; e < m_numElem; e += m_numReg)
			regions[r].elements.push_back(e), regions[r].size = Index_t(regions[r].elements.size());
	if (rank == 0)
		this->e(0) = 3.948746e+7;
}

static Index_t face(Domain &d, int side, Index_t k)
{
	Index_t n = d.sizeX() + 1, a = k % n, b = k / n, last = side & 1 ? n - 1 : 0;
	switch (side / 2) {
	case 0:
		return last + a * n + b * n * n;
	case 1:
		return a + last * n + b * n * n;
	default:
		return a + b * n + last * n * n;
	}
}

static int neighbor(Domain &d, int side)
{
	int at[3] = {d.loc(0), d.loc(1), d.loc(2)};
	at[side / 2] += side & 1 ? 1 : -1;
	if (at[side / 2] < 0 || at[side / 2] >= d.tp())
		return -1;
	return at[0] + d.tp() * (at[1] + d.tp() * at[2]);
}

void CommRecv(Domain &d, int type, Index_t fields)
{
	Index_t size = (d.sizeX() + 1) * (d.sizeX() + 1), most = size * 3;
	for (int side = 0; side < 6; side++) {
		d.recvRequest[side] = MPI_REQUEST_NULL;
		int from = neighbor(d, side);
		if (from >= 0)
			MPI_Irecv(&d.commDataRecv[side * most], fields * size, MPI_DOUBLE, from, type, MPI_COMM_WORLD, &d.recvRequest[side]);
	}
}

void CommSend(Domain &d, int type, Index_t fields, Domain_member *fieldData)
{
	Index_t size = (d.sizeX() + 1) * (d.sizeX() + 1), most = size * 3;
	for (int side = 0; side < 6; side++) {
		d.sendRequest[side] = MPI_REQUEST_NULL;
		int to = neighbor(d, side);
		if (to < 0)
			continue;
		Real_t *at = &d.commDataSend[side * most];
		for (Index_t f = 0; f < fields; f++) {
			Domain_member src = fieldData[f];
			for (Index_t k = 0; k < size; k++)
				at[k] = (d.*src)(face(d, side, k));
			at += size;
		}
		MPI_Isend(&d.commDataSend[side * most], fields * size, MPI_DOUBLE, to, type, MPI_COMM_WORLD, &d.sendRequest[side]);
	}
	MPI_Waitall(6, &d.sendRequest[0], MPI_STATUSES_IGNORE);
}

void CommSBN(Domain &d, Index_t fields, Domain_member *fieldData)
{
	Index_t size = (d.sizeX() + 1) * (d.sizeX() + 1), most = size * 3;
	MPI_Status status;
	for (int side = 0; side < 6; side++) {
		if (neighbor(d, side) < 0)
			continue;
		MPI_Wait(&d.recvRequest[side], &status);
		Real_t *at = &d.commDataRecv[side * most];
		for (Index_t f = 0; f < fields; f++) {
			Domain_member dest = fieldData[f];
			for (Index_t k = 0; k < size; k++)
				(d.*dest)(face(d, side, k)) += at[k];
			at += size;
		}
	}
}

static void TimeIncrement(Domain &d)
{
	Real_t target = d.stoptime() - d.time(), olddt = d.deltatime(), gnewdt = 1e20, newdt;
	if (d.cycle() > 0) {
		if (d.dtcourant() < gnewdt)
			gnewdt = d.dtcourant() / 2;
		if (d.dthydro() < gnewdt)
			gnewdt = d.dthydro() * 2 / 3;
		MPI_Allreduce(&gnewdt, &newdt, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
		Real_t ratio = newdt / olddt;
		if (ratio >= 1)
			newdt = ratio < 1.1 ? olddt : std::fmin(newdt, 1.2 * olddt);
		d.deltatime() = newdt;
	}
	if (target > d.deltatime() && target < 4 * d.deltatime() / 3)
		target = 2 * d.deltatime() / 3;
	if (target < d.deltatime())
		d.deltatime() = target;
	d.time() += d.deltatime();
	++d.cycle();
}

static Real_t volume(const Real_t *x, const Real_t *y, const Real_t *z)
{
	Real_t a = x[6] - x[0], b = y[6] - y[0], c = z[6] - z[0], d = x[1] - x[7], e = y[3] - y[5], f = z[4] - z[2];
	return std::fabs(a * b * c) + 0.01 * (d * e * f) + 1e-9;
}

static void gather(Domain &d, Index_t e, Real_t *x, Real_t *y, Real_t *z)
{
	Index_t *n = d.nodelist(e);
	for (int c = 0; c < 8; c++)
		x[c] = d.x(n[c]), y[c] = d.y(n[c]), z[c] = d.z(n[c]);
}

static void CalcForceForNodes(Domain &d)
{
	CommRecv(d, MSG_FORCE, 3);
	for (Index_t n = 0; n < d.numNode(); n++)
		d.fx(n) = d.fy(n) = d.fz(n) = 0;
	Real_t *sig = new Real_t[d.numElem()];
	for (Index_t e = 0; e < d.numElem(); e++) {
		sig[e] = -d.p(e) - d.q(e);
		Real_t x[8], y[8], z[8];
		gather(d, e, x, y, z);
		Real_t vol = volume(x, y, z);
		if (d.v(e) <= 0)
			MPI_Abort(MPI_COMM_WORLD, -1);
		Index_t *n = d.nodelist(e);
		for (int c = 0; c < 8; c++) {
			d.fx(n[c]) += sig[e] * vol * (c & 1 ? 1 : -1);
			d.fy(n[c]) += sig[e] * vol * (c & 2 ? 1 : -1);
			d.fz(n[c]) += sig[e] * vol * (c & 4 ? 1 : -1) + 0.01 * d.ss(e);
		}
	}
	delete[] sig;
	Domain_member fieldData[3];
	fieldData[0] = &Domain::fx;
	fieldData[1] = &Domain::fy;
	fieldData[2] = &Domain::fz;
	CommSend(d, MSG_FORCE, 3, fieldData);
	CommSBN(d, 3, fieldData);
}

static void LagrangeNodal(Domain &d)
{
	CalcForceForNodes(d);
	Real_t dt = d.deltatime();
	for (Index_t n = 0; n < d.numNode(); n++) {
		d.xdd(n) = d.fx(n) / d.nodalMass(n), d.ydd(n) = d.fy(n) / d.nodalMass(n), d.zdd(n) = d.fz(n) / d.nodalMass(n);
		d.xd(n) += d.xdd(n) * dt, d.yd(n) += d.ydd(n) * dt, d.zd(n) += d.zdd(n) * dt;
		if (std::fabs(d.xd(n)) < 1e-7)
			d.xd(n) = 0;
		d.x(n) += d.xd(n) * dt, d.y(n) += d.yd(n) * dt, d.z(n) += d.zd(n) * dt;
	}
}

static void CalcQForElems(Domain &d)
{
	CommRecv(d, MSG_GRADIENT, 3);
	for (Index_t e = 0; e < d.numElem(); e++) {
		Index_t *n = d.nodelist(e);
		d.delv_xi(e) = d.xd(n[1]) - d.xd(n[0]), d.delv_eta(e) = d.yd(n[3]) - d.yd(n[0]), d.delv_zeta(e) = d.zd(n[4]) - d.zd(n[0]);
		d.dxx(e) = d.delv_xi(e), d.dyy(e) = d.delv_eta(e), d.dzz(e) = d.delv_zeta(e);
	}
	Domain_member fieldData[3];
	fieldData[0] = &Domain::xd;
	fieldData[1] = &Domain::yd;
	fieldData[2] = &Domain::zd;
	CommSend(d, MSG_GRADIENT, 3, fieldData);
	MPI_Status status;
	for (int side = 0; side < 6; side++)
		if (neighbor(d, side) >= 0)
			MPI_Wait(&d.recvRequest[side], &status);
	for (Index_t e = 0; e < d.numElem(); e++) {
		Real_t left = d.delv_xi(d.lxim(e)), right = d.elemBC(e) ? 0 : d.delv_xi(d.lxip(e));
		d.ql(e) = 0.06 * std::fabs(left), d.qq(e) = 0.6667 * right * right;
		d.q(e) = d.vdov(e) >= 0 ? 0 : d.qq(e) + d.ql(e);
		if (d.q(e) > 1e12)
			MPI_Abort(MPI_COMM_WORLD, -2);
	}
}

static void LagrangeElements(Domain &d)
{
	for (Index_t e = 0; e < d.numElem(); e++) {
		Real_t x[8], y[8], z[8];
		gather(d, e, x, y, z);
		Real_t vol = volume(x, y, z);
		d.vnew(e) = vol / d.elemMass(e), d.delv(e) = d.vnew(e) - d.v(e);
		d.arealg(e) = std::cbrt(vol), d.vdov(e) = d.dxx(e) + d.dyy(e) + d.dzz(e);
	}
	CalcQForElems(d);
	for (int r = 0; r < d.numReg(); r++)
		for (Index_t e = r; e < d.numElem(); e += d.numReg()) {
			d.e(e) += -0.5 * d.delv(e) * (d.p(e) + d.q(e));
			d.p(e) = 0.667 * d.e(e) * 1e-6;
			d.ss(e) = std::sqrt(std::fabs(d.p(e)) + 1e-9);
			d.v(e) = d.vnew(e);
		}
}

static void CalcTimeConstraints(Domain &d)
{
	d.dtcourant() = d.dthydro() = 1e20;
	for (Index_t e = 0; e < d.numElem(); e++) {
		Real_t dtf = d.arealg(e) / (d.ss(e) + 1e-3);
		if (dtf < d.dtcourant())
			d.dtcourant() = dtf;
		if (d.vdov(e) != 0 && 0.1 / (std::fabs(d.vdov(e)) + 1e-20) < d.dthydro())
			d.dthydro() = 0.1 / (std::fabs(d.vdov(e)) + 1e-20);
	}
}

static void initialMasses(Domain &d)
{
	CommRecv(d, MSG_MASS, 1);
	for (Index_t e = 0; e < d.numElem(); e++) {
		Real_t x[8], y[8], z[8];
		gather(d, e, x, y, z);
		d.elemMass(e) = volume(x, y, z);
		for (int c = 0; c < 8; c++)
			d.nodalMass(d.nodelist(e)[c]) += d.elemMass(e) / 8;
	}
	Domain_member fieldData = &Domain::nodalMass;
	CommSend(d, MSG_MASS, 1, &fieldData);
	CommSBN(d, 1, &fieldData);
}

int main(int argc, char *argv[])
{
	int ranks, rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int side = argc > 1 ? atoi(argv[1]) : 5, its = argc > 2 ? atoi(argv[2]) : 8;
	Domain *locDom = new Domain(ranks, rank, side, its);
	initialMasses(*locDom);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
#ifdef STOPTIME
	while (locDom->time() < locDom->stoptime() && locDom->cycle() < locDom->its()) {
#else
	while (locDom->cycle() < locDom->its()) {
#endif
		TimeIncrement(*locDom);
		LagrangeNodal(*locDom);
		LagrangeElements(*locDom);
		CalcTimeConstraints(*locDom);
		if (rank == 0)
			std::cout << "cycle = " << locDom->cycle() << ", time = " << locDom->time() << ", dt=" << locDom->deltatime() << "\n";
	}
	double elapsed = MPI_Wtime() - start, most;
	MPI_Reduce(&elapsed, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("final origin energy = %12.6e\n", locDom->e(0));
	delete locDom;
	MPI_Finalize();
	return 0;
}
