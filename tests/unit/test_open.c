/* open, vdso, zip: files as a running process sees them, and files that are not the ones meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf_maker.h"
#include "module/open.h"
#include "module/zip.h"

static const struct made_fde fdes[] = {FDE(MADE_TEXT, 16, "")};
static const struct made_elf first = {.machine = EM_X86_64,
				      .fdes = fdes,
				      .nfdes = 1,
				      .entry = 0x11111,
				      .build_id = "AAAAAAAAAAAAAAAAAAAA"};
static const struct made_elf second = {.machine = EM_X86_64,
				       .fdes = fdes,
				       .nfdes = 1,
				       .entry = 0x22222,
				       .build_id = "BBBBBBBBBBBBBBBBBBBB"};
static const struct module_access live = {.live = true}, recorded = {0};

/* A process that maps a file's text and waits to be killed. */
static pid_t mapper(const char *path, const char *root)
{
	int ready[2];
	char c;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (root &&
		    (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		     mount(root, "/mnt", NULL, MS_BIND, NULL)))
			_exit(1);
		int fd = path ? open(path, O_RDONLY) : memfd_create("made", 0);
		if (!path) {
			size_t size;
			uint8_t *bytes = elf_bytes(&first, &size);
			if (write(fd, bytes, size) < 0)
				_exit(1);
		}
		void *p = mmap(NULL, MADE_TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			       MADE_TEXT_OFFSET);
		if (path)
			close(fd);
		if (p == MAP_FAILED || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	ssize_t n = read(ready[0], &c, 1);
	close(ready[0]);
	if (n == 1)
		return pid;
	waitpid(pid, NULL, 0);
	return -1;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The module as its maps tell of it: the line whose path holds @part. */
static struct module mapped(struct tables *t, pid_t pid, const char *part)
{
	struct module m = {.kind = MODULE_FILE, .pid = pid};
	char name[64], line[4096];
	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		int at = 0;
		if (!strstr(line, part) ||
		    sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64 " %n",
			   &m.map_start, &m.map_end, &m.dev_major, &m.dev_minor, &m.inode, &at) < 5)
			continue;
		line[strcspn(line, "\n")] = 0;
		char *gone = strstr(line, " (deleted)");
		m.deleted = gone != NULL;
		if (gone)
			*gone = 0;
		m.path = tables_str(t, line + at);
		break;
	}
	fclose(f);
	assert_int_not_equal(m.map_start, 0);
	return m;
}

/* Its entry point, which tells one made file from another; 0: refused. */
static uint64_t entry_of(struct tables *t, const struct module *m, const struct module_access *a,
			 int *ret_error)
{
	struct image *i;
	struct err err = {0};
	uint64_t entry;
	int rc = module_image(t, m, a, &i, &err);
	if (ret_error)
		*ret_error = rc;
	if (rc) {
		assert_int_not_equal(err.msg[0], 0);
		return 0;
	}
	entry = i->entry;
	image_close(i);
	return entry;
}

static void write_file(const char *path, const struct made_elf *e)
{
	size_t size;
	uint8_t *bytes = elf_bytes(e, &size);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	free(bytes);
}

static void plain_file(void **state)
{
	struct tables *t = tables_new();
	char path[64];
	(void)state;
	strcpy(path, elf_file(&first));
	pid_t pid = mapper(path, NULL);
	struct module m = mapped(t, pid, path);
	assert_int_equal(entry_of(t, &m, &live, NULL), first.entry);
	end(pid);
	assert_int_equal(entry_of(t, &m, &live, NULL),
			 first.entry); /* gone: the path, same inode */
	unlink(path);
	tables_free(t);
}

static void deleted_file(void **state)
{
	struct tables *t = tables_new();
	char path[64];
	(void)state;
	strcpy(path, elf_file(&first));
	pid_t pid = mapper(path, NULL);
	unlink(path);
	struct module m = mapped(t, pid, path);
	assert_true(m.deleted);
	if (geteuid() == 0) /* map_files wants a capability */
		assert_int_equal(entry_of(t, &m, &live, NULL), first.entry);
	end(pid);
	tables_free(t);
}

/* Another file took its name: never that one. */
static void replaced_file(void **state)
{
	struct tables *t = tables_new();
	char path[64];
	int rc;
	(void)state;
	strcpy(path, elf_file(&first));
	pid_t pid = mapper(path, NULL);
	struct module before = mapped(t, pid, path);
	unlink(path);
	write_file(path, &second);
	struct module after = mapped(t, pid, path);
	uint64_t entry = entry_of(t, &before, &live, NULL);
	if (geteuid() == 0)
		assert_int_equal(entry, first.entry);
	else
		assert_int_equal(entry, 0);
	assert_int_not_equal(entry_of(t, &after, &live, NULL), second.entry);
	end(pid);
	assert_int_equal(entry_of(t, &before, &live, &rc), 0); /* the right one is lost now */
	assert_int_equal(rc, -ESTALE);
	unlink(path);
	tables_free(t);
}

static void build_id_decides(void **state)
{
	struct tables *t = tables_new();
	struct module m = {.kind = MODULE_FILE};
	char path[64];
	int rc;
	(void)state;
	strcpy(path, elf_file(&first));
	m.path = tables_str(t, path);
	assert_int_equal(entry_of(t, &m, &recorded, NULL),
			 first.entry); /* nothing known: believed */
	m.build_id_size = 20;
	memcpy(m.build_id, "AAAAAAAAAAAAAAAAAAAA", 20);
	m.inode = 1; /* of the machine that recorded */
	assert_int_equal(entry_of(t, &m, &recorded, NULL), first.entry);
	m.build_id[19] = 'B';
	assert_int_equal(entry_of(t, &m, &recorded, &rc), 0);
	assert_int_equal(rc, -ESTALE);
	assert_int_equal(entry_of(t, &m, &live, &rc), 0);
	assert_int_equal(rc, -ESTALE);
	unlink(path);
	tables_free(t);
}

static void symfs_comes_first(void **state)
{
	struct tables *t = tables_new();
	struct module m = {.kind = MODULE_FILE};
	char dir[] = "/tmp/altpttop-symfs-XXXXXX", path[128], flat[128];
	(void)state;
	assert_non_null(mkdtemp(dir));
	const struct module_access access = {.symfs = dir};
	snprintf(path, sizeof path, "%s/opt", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/opt/prog", dir);
	snprintf(flat, sizeof flat, "%s/prog", dir);
	m.path = tables_str(t, "/opt/prog");
	assert_int_equal(entry_of(t, &m, &access, NULL), 0);
	write_file(flat, &second);
	assert_int_equal(entry_of(t, &m, &access, NULL), second.entry);
	write_file(path, &first);
	assert_int_equal(entry_of(t, &m, &access, NULL), first.entry);
	m.build_id_size = 20;
	memcpy(m.build_id, "BBBBBBBBBBBBBBBBBBBB", 20);
	assert_int_equal(entry_of(t, &m, &access, NULL), second.entry); /* the other is not it */
	unlink(path);
	unlink(flat);
	*strrchr(path, '/') = 0;
	rmdir(path);
	rmdir(dir);
	tables_free(t);
}

static void memory_file(void **state)
{
	struct tables *t = tables_new();
	(void)state;
	pid_t pid = mapper(NULL, NULL);
	struct module m = mapped(t, pid, "/memfd:made");
	assert_int_equal(entry_of(t, &m, &live, NULL),
			 first.entry); /* through its descriptor at least */
	end(pid);
	tables_free(t);
}

/* The same path names another file in the target's mount namespace. */
static void other_mount_namespace(void **state)
{
	struct tables *t = tables_new();
	char dir[] = "/tmp/altpttop-ns-XXXXXX", path[64];
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/prog", dir);
	write_file(path, &first);
	pid_t pid = mapper("/mnt/prog", dir);
	if (pid > 0) {
		struct module m = mapped(t, pid, "/mnt/prog");
		assert_string_equal(tables_text(t, m.path), "/mnt/prog");
		assert_int_not_equal(access("/mnt/prog", F_OK), 0);
		assert_int_equal(entry_of(t, &m, &live, NULL), first.entry);
		end(pid);
	}
	unlink(path);
	rmdir(dir);
	tables_free(t);
	if (pid < 0) {
		print_message("skipped: no mount namespace of one's own without privilege\n");
		skip();
	}
}

static void special_files_are_refused(void **state)
{
	static const char *const paths[] = {"/dev/zero", "/tmp", "/proc/self/mem", "/nowhere",
					    "[heap]"};
	struct tables *t = tables_new();
	(void)state;
	for (size_t k = 0; k < 5; k++) {
		struct module m = {.kind = MODULE_FILE, .path = tables_str(t, paths[k])};
		assert_int_equal(entry_of(t, &m, &recorded, NULL), 0);
	}
	char dir[] = "/tmp/altpttop-fifo-XXXXXX", fifo[64];
	assert_non_null(mkdtemp(dir));
	snprintf(fifo, sizeof fifo, "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	struct module m = {.kind = MODULE_FILE, .path = tables_str(t, fifo)};
	assert_int_equal(entry_of(t, &m, &recorded, NULL),
			 0); /* and it does not wait for a writer */
	unlink(fifo);
	rmdir(dir);
	m.kind = MODULE_JIT;
	int rc;
	assert_int_equal(entry_of(t, &m, &live, &rc), 0);
	assert_int_equal(rc, -ENOTSUP);
	tables_free(t);
}

static void vdso(void **state)
{
	struct tables *t = tables_new();
	struct image *i;
	(void)state;
	pid_t pid = mapper("/proc/self/exe", NULL);
	struct module m = mapped(t, pid, "[vdso]");
	m.kind = MODULE_VDSO;
	m.base = m.map_start;
	m.size = m.map_end - m.map_start;
	assert_int_equal(module_image(t, &m, &live, &i, NULL), 0);
	assert_true(i->nsegments > 0);
	assert_true(i->eh_frame_hdr != 0 || i->arch == ARCH_AARCH64);
	m.build_id_size = i->build_id_size;
	memcpy(m.build_id, i->build_id, sizeof m.build_id);
	image_close(i);
	assert_int_equal(module_image(t, &m, &recorded, &i, NULL), 0); /* ours is the same one */
	image_close(i);
	m.build_id[0] ^= 1;
	assert_int_equal(module_image(t, &m, &recorded, &i, NULL), -ESTALE);
	end(pid);
	tables_free(t);
}

static void file_in_an_archive(void **state)
{
	struct tables *t = tables_new();
	struct module m = {.kind = MODULE_FILE};
	char path[] = "/tmp/altpttop-zip-XXXXXX", name[128];
	struct zip_member z;
	size_t size;
	int fd;
	uint8_t *bytes = elf_bytes(&first, &size);
	(void)state;
	close(mkstemp(path));
	write_zip(path, "lib/x86_64/libmade.so", bytes, size, 0);
	snprintf(name, sizeof name, "%s!/lib/x86_64/libmade.so", path);
	m.path = tables_str(t, name);
	assert_int_equal(entry_of(t, &m, &recorded, NULL), first.entry);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(zip_by_offset(fd, 4096 + MADE_TEXT_OFFSET, &z), 0);
	assert_string_equal(z.name, "lib/x86_64/libmade.so");
	assert_int_equal(z.offset, 4096);
	assert_int_equal(z.size, size);
	assert_int_equal(zip_by_offset(fd, 100, &z), -ENOENT);
	assert_int_equal(zip_by_name(fd, "lib", &z), -ENOENT);
	for (off_t cut = 8; cut < 200; cut += 8) { /* every way to end early */
		struct stat st;
		fstat(fd, &st);
		assert_int_equal(truncate(path, st.st_size - 8), 0);
		assert_true(zip_by_name(fd, "lib/x86_64/libmade.so", &z) < 0);
	}
	close(fd);
	write_zip(path, "lib/x86_64/libmade.so", bytes, size, 8);
	assert_int_equal(entry_of(t, &m, &recorded, NULL), 0); /* compressed: cannot be mapped */
	free(bytes);
	unlink(path);
	tables_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_file),
		cmocka_unit_test(deleted_file),
		cmocka_unit_test(replaced_file),
		cmocka_unit_test(build_id_decides),
		cmocka_unit_test(symfs_comes_first),
		cmocka_unit_test(memory_file),
		cmocka_unit_test(other_mount_namespace),
		cmocka_unit_test(special_files_are_refused),
		cmocka_unit_test(vdso),
		cmocka_unit_test(file_in_an_archive),
	};
	return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
