/*
 * Attributes with callbacks that call MPI, info objects, names, and what MPI says
 * of itself.
 */
#include "check.h"

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	int n;
	OK(MPI_Comm_size(comm, &n));
	CHECK(extra == &copies && key != MPI_KEYVAL_INVALID);
	copies += n;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
	int here;
	OK(MPI_Comm_rank(comm, &here));
	CHECK(here == rank && value && extra && key != MPI_KEYVAL_INVALID);
	deletions++;
	return MPI_SUCCESS;
}

static void attributes(void)
{
	int key, type_key, flag, value = 42, *got;
	MPI_Comm comm, dup;
	MPI_Datatype type;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_create_keyval(copy, delete, &key, &copies));
	OK(MPI_Comm_set_attr(comm, key, &value));
	OK(MPI_Comm_dup(comm, &dup));
	OK(MPI_Comm_get_attr(dup, key, &got, &flag));
	CHECK(flag && got == &value && copies == size);
	OK(MPI_Comm_delete_attr(dup, key));
	OK(MPI_Comm_get_attr(dup, key, &got, &flag));
	CHECK(!flag && deletions == 1);
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_free(&comm));
	CHECK(deletions == 2);
	OK(MPI_Comm_free_keyval(&key));
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &got, &flag));
	CHECK(flag && *got >= 32767);
	OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
	OK(MPI_Type_dup(MPI_INT, &type));
	OK(MPI_Type_set_attr(type, type_key, &value));
	OK(MPI_Type_get_attr(type, type_key, &got, &flag));
	CHECK(flag && *got == 42);
	OK(MPI_Type_free(&type));
	OK(MPI_Type_free_keyval(&type_key));
}

static void infos(void)
{
	MPI_Info info, dup;
	char key[MPI_MAX_INFO_KEY], value[32];
	int n, length, flag;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "colour", "red and blue"));
	OK(MPI_Info_set(info, "size", "7"));
	OK(MPI_Info_dup(info, &dup));
	OK(MPI_Info_delete(info, "colour"));
	OK(MPI_Info_get_nkeys(info, &n));
	CHECK(n == 1);
	OK(MPI_Info_get_nthkey(info, 0, key));
	CHECK(!strcmp(key, "size"));
	OK(MPI_Info_get(dup, "colour", sizeof value - 1, value, &flag));
	CHECK(flag && !strcmp(value, "red and blue"));
	OK(MPI_Info_get(info, "colour", sizeof value - 1, value, &flag));
	CHECK(!flag);
	OK(MPI_Info_get_valuelen(dup, "size", &length, &flag));
	CHECK(flag && length == 1);
	OK(MPI_Info_free(&info));
	OK(MPI_Info_free(&dup));
	CHECK(info == MPI_INFO_NULL);
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME], text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length, version, subversion, flag, level;
	MPI_Comm comm;
	OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
	CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
	OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
	OK(MPI_Comm_set_name(comm, "myself"));
	OK(MPI_Comm_get_name(comm, name, &length));
	CHECK(!strcmp(name, "myself"));
	OK(MPI_Comm_free(&comm));
	OK(MPI_Type_get_name(MPI_DOUBLE, name, &length));
	say("%s", name);
	OK(MPI_Get_version(&version, &subversion));
	OK(MPI_Get_library_version(text, &length));
	CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION && length > 0);
	OK(MPI_Query_thread(&level));
	OK(MPI_Initialized(&flag));
	CHECK(flag);
	OK(MPI_Finalized(&flag));
	CHECK(!flag);
	double before = MPI_Wtime(), after = MPI_Wtime();
	CHECK(before >= 0 && after >= before && MPI_Wtick() > 0);
}

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
	say("%s", (char *)value);
	return comm == MPI_COMM_SELF && key != MPI_KEYVAL_INVALID && !extra ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int main(int argc, char **argv)
{
	int flag, key;
	CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
	begin(&argc, &argv);
	attributes();
	infos();
	names();
	/* Deleted by MPI_Finalize, before anything else. */
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL));
	OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, "finalizing"));
	int code = end();
	CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
	return code;
}
