/* image and sectdata: addresses, sections, notes, compression, damage; libelf as the oracle on real
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "elf_maker.h"
#include "module/image.h"

static const struct made_fde fdes[] = {FDE(MADE_TEXT, 16, "")};
static const struct made_elf plain = {.machine = EM_X86_64,
				      .fdes = fdes,
				      .nfdes = 1,
				      .entry = MADE_TEXT + 4,
				      .build_id = "ABCDEFGHIJKLMNOPQRST"};

/*
 * First, because cmocka puts its own SIGBUS handler before each test's: only here is the guard's
 * installed over it.
 */
static void file_cut_short_while_held(void **state)
{
	const char *path = elf_file(&plain);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct image *i;
	uint8_t byte;
	(void)state;
	assert_int_equal(image_open(fd, 0, &i, NULL), 0);
	assert_int_equal(image_read(i, MADE_TEXT_OFFSET, &byte, 1), 0);
	assert_int_equal(byte, 0x90);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(image_read(i, MADE_TEXT_OFFSET, &byte, 1), -EFAULT);
	assert_int_equal(i->nsegments, 2); /* what was copied is still there */
	struct image *again;
	struct err err;
	assert_int_equal(image_open(fd, 0, &again, &err), 0); /* 100 bytes: header, no segments */
	assert_int_equal(again->nsegments, 0);
	image_close(again);
	image_close(i);
	close(fd);
	unlink(path);
}

static struct image *open_made(const struct made_elf *e)
{
	size_t size;
	uint8_t *bytes = elf_bytes(e, &size);
	struct image *i;
	assert_int_equal(image_take_bytes(bytes, size, &i, NULL), 0);
	return i;
}

static void headers(void **state)
{
	struct image *i = open_made(&plain);
	(void)state;
	assert_int_equal(i->arch, ARCH_X86_64);
	assert_false(i->elf32);
	assert_false(i->executable);
	assert_int_equal(i->entry, MADE_TEXT + 4);
	assert_int_equal(i->nsegments, 2);
	assert_int_equal(i->segments[0].vaddr, MADE_TEXT);
	assert_int_equal(i->eh_frame_hdr, 0x23000);
	assert_int_equal(i->build_id_size, 20);
	assert_memory_equal(i->build_id, plain.build_id, 20);
	assert_non_null(image_section(i, ".eh_frame"));
	assert_null(image_section(i, ".debug_info"));
	image_close(i);
}

static void addresses_go_by_segment(void **state)
{
	struct image *i = open_made(&plain);
	uint64_t v;
	size_t avail;
	(void)state;
	assert_true(image_vaddr(i, MADE_TEXT_OFFSET + 0x123, &v));
	assert_int_equal(v, MADE_TEXT + 0x123);
	assert_true(image_vaddr(i, 0x3010, &v));
	assert_int_equal(v, 0x23010);
	assert_false(image_vaddr(i, 0x800, &v)); /* the headers' page is in no segment */
	assert_true(image_offset(i, MADE_TEXT + 0x1fff, &v));
	assert_int_equal(v, MADE_TEXT_OFFSET + 0x1fff);
	assert_false(image_offset(i, MADE_TEXT + 0x2000, &v));
	assert_null(image_at(i, MADE_TEXT - 1, 1, NULL));
	assert_non_null(image_at(i, MADE_TEXT + 0x1ff0, 16, &avail));
	assert_int_equal(avail, 16);
	assert_null(image_at(i, MADE_TEXT + 0x1ff0, 17, NULL));
	image_close(i);
}

/* Two segments share a page of the file; the code's is the one meant. */
static void shared_page_belongs_to_code(void **state)
{
	size_t size;
	uint8_t *bytes = elf_bytes(&plain, &size);
	Elf64_Phdr *p = (Elf64_Phdr *)(bytes + sizeof(Elf64_Ehdr));
	struct image *i;
	uint64_t v;
	(void)state;
	p[1] = p[0];
	p[1].p_flags = PF_R;
	p[1].p_offset = 0x600;
	p[1].p_vaddr = 0x600;
	p[1].p_filesz = p[1].p_memsz = 0x1000; /* [0x600, 0x1600) */
	p[0].p_offset = 0x1580;
	p[0].p_vaddr = 0x12580;
	p[0].p_filesz = 0x100;
	assert_int_equal(image_take_bytes(bytes, size, &i, NULL), 0);
	assert_true(image_vaddr(i, 0x1590, &v)); /* in both */
	assert_int_equal(v, 0x12590);
	assert_true(image_vaddr(i, 0x1570, &v)); /* in the page of one, in the bytes of the other */
	assert_int_equal(v, 0x1570);
	assert_true(image_vaddr(i, 0x1690, &v)); /* behind both, in the code's last page */
	assert_int_equal(v, 0x12690);
	image_close(i);
}

static void refusals(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		size_t size;
	} cases[] = {{0, 'x', 4096},
		     {EI_CLASS, 9, 4096},
		     {EI_DATA, ELFDATA2MSB, 4096},
		     {0, 0x7f, 63},
		     {0, 0x7f, 4}};
	size_t size;
	uint8_t *bytes = elf_bytes(&plain, &size);
	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct image *i;
		struct err err = {0};
		uint8_t was = bytes[cases[k].at];
		bytes[cases[k].at] = cases[k].value;
		assert_int_equal(image_open_bytes(bytes, cases[k].size, &i, &err), -ENOEXEC);
		assert_int_not_equal(err.msg[0], 0);
		bytes[cases[k].at] = was;
	}
	free(bytes);
}

/* Counts and offsets that lie: what can be read is read, nothing else. */
static void lying_headers(void **state)
{
	size_t size;
	(void)state;
	for (int k = 0; k < 6; k++) {
		uint8_t *bytes = elf_bytes(&plain, &size);
		Elf64_Ehdr *h = (Elf64_Ehdr *)bytes;
		Elf64_Phdr *p = (Elf64_Phdr *)(bytes + sizeof *h);
		struct image *i;
		uint64_t v;
		switch (k) {
		case 0: h->e_phnum = 0xfffe; break;
		case 1: h->e_shnum = 0xfeff; break;
		case 2: h->e_shoff = UINT64_MAX - 8; break;
		case 3: h->e_phoff = size - 10; break;
		case 4: h->e_shstrndx = 0xfffe; break;
		default: p[0].p_filesz = UINT64_MAX - 16; break;
		}
		assert_int_equal(image_take_bytes(bytes, size, &i, NULL), 0);
		assert_true(i->nsegments < 0x10000);
		if (k == 5) {
			assert_true(image_offset(i, MADE_TEXT + 0x10, &v));
			assert_false(image_offset(i, MADE_TEXT + size, &v));
			assert_null(image_at(i, MADE_TEXT, size, NULL));
		}
		image_close(i);
	}
}

/* A section made of these bytes, in a file of nothing else. */
static struct image *one_section(const char *name, uint64_t flags, const void *data, size_t n)
{
	size_t size = 4096 + n;
	uint8_t *bytes = calloc(1, size);
	Elf64_Ehdr h = {.e_machine = EM_X86_64,
			.e_shoff = 64,
			.e_shentsize = 64,
			.e_shnum = 3,
			.e_shstrndx = 2};
	Elf64_Shdr s[3] = {{0},
			   {.sh_name = 1,
			    .sh_type = SHT_PROGBITS,
			    .sh_flags = flags,
			    .sh_offset = 4096,
			    .sh_size = n},
			   {.sh_type = SHT_STRTAB, .sh_offset = 512, .sh_size = 256}};
	struct image *i;
	memcpy(h.e_ident, ELFMAG "\2\1\1", 7);
	memcpy(bytes, &h, sizeof h);
	memcpy(bytes + 64, s, sizeof s);
	strcpy((char *)bytes + 513, name);
	memcpy(bytes + 4096, data, n);
	assert_int_equal(image_take_bytes(bytes, size, &i, NULL), 0);
	return i;
}

static int data_of(struct image *i, struct image_data *d)
{
	return image_section_data(i, &i->sections[1], d);
}

static void compressed_sections(void **state)
{
	static char text[100000], packed[100000];
	struct image_data d;
	(void)state;
	for (size_t k = 0; k < sizeof text; k++)
		text[k] = (char)(k * k >> 7);
	Elf64_Chdr c = {ELFCOMPRESS_ZLIB, 0, sizeof text, 1};
	uLongf n = sizeof packed - sizeof c;
	assert_int_equal(compress((Bytef *)packed + sizeof c, &n, (Bytef *)text, sizeof text),
			 Z_OK);
	memcpy(packed, &c, sizeof c);
	struct image *i = one_section(".debug_info", SHF_COMPRESSED, packed, sizeof c + n);
	assert_int_equal(data_of(i, &d), 0);
	assert_int_equal(d.size, sizeof text);
	assert_memory_equal(d.bytes, text, sizeof text);
	image_data_fini(&d);
	image_close(i);
	c.ch_size++; /* one byte more than there is */
	memcpy(packed, &c, sizeof c);
	i = one_section(".debug_info", SHF_COMPRESSED, packed, sizeof c + n);
	assert_int_equal(data_of(i, &d), -EBADMSG);
	image_close(i);
	c = (Elf64_Chdr){2 /* zstd */, 0, sizeof text, 1};
	size_t z = ZSTD_compress(packed + sizeof c, sizeof packed - sizeof c, text, sizeof text, 3);
	memcpy(packed, &c, sizeof c);
	i = one_section(".debug_info", SHF_COMPRESSED, packed, sizeof c + z);
	assert_int_equal(data_of(i, &d), 0);
	assert_memory_equal(d.bytes, text, sizeof text);
	image_data_fini(&d);
	image_close(i);
	c.ch_type = 77;
	memcpy(packed, &c, sizeof c);
	i = one_section(".debug_info", SHF_COMPRESSED, packed, sizeof c + z);
	assert_int_equal(data_of(i, &d), -ENOTSUP);
	image_close(i);
	i = one_section(".debug_info", 0, text, 100);
	assert_int_equal(data_of(i, &d), 0);
	assert_null(d.owned);
	assert_int_equal(d.size, 100);
	image_close(i);
}

static void bombs_are_refused_unopened(void **state)
{
	char bomb[64] = {0};
	Elf64_Chdr c = {ELFCOMPRESS_ZLIB, 0, (uint64_t)1 << 40, 1};
	struct image_data d;
	(void)state;
	for (int k = 0; k < 3; k++) {
		if (k == 1)
			c.ch_size = 1 << 20; /* 40 bytes explain 41,280 at most */
		if (k == 2)
			c = (Elf64_Chdr){2, 0, (uint64_t)2 << 30, 1};
		memcpy(bomb, &c, sizeof c);
		struct image *i = one_section(".debug_info", SHF_COMPRESSED, bomb, sizeof bomb);
		assert_int_equal(data_of(i, &d), -EFBIG);
		image_close(i);
	}
	struct image *i = one_section(".zdebug_info", 0, "ZLIB\xff\xff\xff\xff\0\0\0\0xxxx", 16);
	assert_int_equal(data_of(i, &d), -EFBIG);
	image_close(i);
}

static void links_to_other_files(void **state)
{
	struct image *i;
	char name[256];
	uint32_t crc;
	uint8_t id[32], id_size;
	(void)state;
	i = one_section(".gnu_debuglink", 0, "libx.debug\0\0\x78\x56\x34\x12", 16);
	assert_true(image_debuglink(i, name, &crc));
	assert_string_equal(name, "libx.debug");
	assert_int_equal(crc, 0x12345678);
	image_close(i);
	Elf64_Chdr c = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = 16};
	char packed[sizeof c + 64];
	uLongf n = 64;
	assert_int_equal(compress((Bytef *)packed + sizeof c, &n,
				  (const Bytef *)"libx.debug\0\0\x78\x56\x34\x12", 16),
			 Z_OK);
	memcpy(packed, &c, sizeof c);
	i = one_section(".gnu_debuglink", SHF_COMPRESSED, packed, sizeof c + n);
	assert_true(image_debuglink(i, name, &crc));
	assert_string_equal(name, "libx.debug");
	assert_int_equal(crc, 0x12345678);
	image_close(i);
	i = one_section(".gnu_debuglink", 0, "libx.debug", 10); /* no end, no CRC */
	assert_false(image_debuglink(i, name, &crc));
	image_close(i);
	i = one_section(".gnu_debugaltlink", 0, "x.dwz\0ABCDEFGHIJKLMNOPQRST", 26);
	assert_true(image_altlink(i, name, id, &id_size));
	assert_string_equal(name, "x.dwz");
	assert_int_equal(id_size, 20);
	assert_memory_equal(id, "ABCDEFGHIJKLMNOPQRST", 20);
	image_close(i);
	i = one_section(".debug_sup", 0, "\5\0\0x.dwz\0\4ABCD", 14);
	assert_true(image_altlink(i, name, id, &id_size));
	assert_string_equal(name, "x.dwz");
	assert_int_equal(id_size, 4);
	assert_memory_equal(id, "ABCD", 4);
	image_close(i);
	i = one_section(".debug_sup", 0, "\5\0\0x.dwz\0\4ABC", 13); /* cut off */
	assert_false(image_altlink(i, name, id, &id_size));
	image_close(i);
	i = one_section(".debug_sup", 0, "\5\0\1\0\4ABCD", 9); /* it is the supplement itself */
	assert_false(image_altlink(i, name, id, &id_size));
	assert_true(image_is_supplement(i, (const uint8_t *)"ABCD", 4));
	assert_false(image_is_supplement(i, (const uint8_t *)"ABCE", 4));
	assert_false(image_is_supplement(i, (const uint8_t *)"ABC", 3));
	image_close(i);
}

static void build_id_notes(void **state)
{
	static const char notes[] = "\4\0\0\0\4\0\0\0\1\0\0\0GNU\0xxxx" /* another note */
				    "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0abc\0";
	uint8_t id[32];
	(void)state;
	assert_int_equal(image_note_build_id(notes, sizeof notes - 1, 4, id), 3);
	assert_memory_equal(id, "abc", 3);
	assert_int_equal(image_note_build_id(notes, 20, 4, id), 0);
	assert_int_equal(image_note_build_id(notes, 38, 4, id), 0);
	assert_int_equal(image_note_build_id("\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0", 12, 4, id),
			 0);
}

/* Beside libelf: segments, sections and names of a file. Returns false when libelf refuses it. */
static bool agrees_with_libelf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct image *i;
	size_t nph = 0, nsh = 0, strndx = 0, loads = 0;
	if (elf_kind(elf) != ELF_K_ELF || image_open(fd, 0, &i, NULL)) {
		elf_end(elf);
		close(fd);
		return false;
	}
	elf_getphdrnum(elf, &nph);
	for (size_t k = 0; k < nph; k++) {
		GElf_Phdr p;
		if (!gelf_getphdr(elf, (int)k, &p) || p.p_type != PT_LOAD)
			continue;
		assert_true(loads < i->nsegments);
		assert_int_equal(i->segments[loads].vaddr, p.p_vaddr);
		assert_int_equal(i->segments[loads].offset, p.p_offset);
		assert_int_equal(i->segments[loads].filesz, p.p_filesz);
		assert_int_equal(i->segments[loads++].flags, p.p_flags);
	}
	if (elf_getshdrnum(elf, &nsh) == 0 && elf_getshdrstrndx(elf, &strndx) == 0 && i->nsections)
		assert_int_equal(i->nsections, nsh);
	for (size_t k = 1; k < nsh && i->nsections; k++) {
		GElf_Shdr s;
		if (!gelf_getshdr(elf_getscn(elf, k), &s))
			continue;
		const char *name = elf_strptr(elf, strndx, s.sh_name);
		assert_int_equal(i->sections[k].type, s.sh_type);
		assert_int_equal(i->sections[k].addr, s.sh_addr);
		assert_int_equal(i->sections[k].size, s.sh_size);
		if (name)
			assert_int_equal(strncmp(i->sections[k].name, name, IMAGE_NAME - 1), 0);
	}
	image_close(i);
	elf_end(elf);
	close(fd);
	return true;
}

static unsigned compare_directory(const char *dir)
{
	unsigned compared = 0;
	struct dirent *e;
	DIR *d = opendir(dir);
	while (d && (e = readdir(d))) {
		char path[512];
		struct stat st;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			compared += agrees_with_libelf(path);
	}
	if (d)
		closedir(d);
	return compared;
}

static void same_as_libelf(void **state)
{
	(void)state;
	elf_version(EV_CURRENT);
	assert_true(agrees_with_libelf("/proc/self/exe"));
	if (access("../shared/corpus/elf", R_OK)) {
		print_message("corpus not there: only our own program was compared\n");
		return;
	}
	assert_true(compare_directory("../shared/corpus/elf") > 40);
}

/* Broken files: whatever comes of them, no byte outside is touched (the sanitizers watch). */
static void broken_files(void **state)
{
	static const char dir[] = "../shared/corpus/elffuzz";
	unsigned opened = 0;
	struct dirent *e;
	DIR *d = opendir(dir);
	(void)state;
	if (!d) {
		print_message("skipped: no corpus beside the checkout\n");
		skip();
	}
	while ((e = readdir(d))) {
		char path[512];
		struct image *i;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (image_open(fd, 0, &i, NULL) == 0) {
			for (uint32_t k = 0; k < i->nsections; k++) {
				struct image_data data;
				if (image_section_data(i, &i->sections[k], &data) == 0)
					image_data_fini(&data);
			}
			opened++;
			image_close(i);
		}
		close(fd);
	}
	closedir(d);
	assert_true(opened > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_cut_short_while_held),
		cmocka_unit_test(headers),
		cmocka_unit_test(addresses_go_by_segment),
		cmocka_unit_test(shared_page_belongs_to_code),
		cmocka_unit_test(refusals),
		cmocka_unit_test(lying_headers),
		cmocka_unit_test(compressed_sections),
		cmocka_unit_test(bombs_are_refused_unopened),
		cmocka_unit_test(links_to_other_files),
		cmocka_unit_test(build_id_notes),
		cmocka_unit_test(same_as_libelf),
		cmocka_unit_test(broken_files),
	};
	return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
