/*
 * perf_record: records as the kernel writes them, given as literal words, and damaged ones.
 * A record here is an array of 64-bit words; HEAD packs the header into the first.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/perf_record.h"

#define HEAD(type, misc, words) \
	((uint64_t)(type) | (uint64_t)(misc) << 32 | (uint64_t)(words)*8 << 48)
#define PAIR(lo, hi)    ((uint64_t)(uint32_t)(lo) | (uint64_t)(uint32_t)(hi) << 32)
#define COUNT(a)        (sizeof(a) / sizeof *(a))
#define CONTEXT(number) ((uint64_t) - (number))

static void test_header(void **state)
{
	uint64_t rec[4] = {HEAD(RECORD_SAMPLE, CPUMODE_USER, 4)};
	struct record_header h;

	(void)state;
	assert_int_equal(record_header_parse(rec, sizeof rec, false, &h), 0);
	assert_int_equal(h.type, RECORD_SAMPLE);
	assert_int_equal(h.misc, CPUMODE_USER);
	assert_int_equal(h.size, 32);
	assert_int_equal(record_header_parse(rec, 31, false, &h), -EBADMSG);
	assert_int_equal(record_header_parse(rec, 7, false, &h), -EBADMSG);
	rec[0] = HEAD(RECORD_SAMPLE, 0, 0);
	assert_int_equal(record_header_parse(rec, sizeof rec, false, &h), -EBADMSG);
	rec[0] = HEAD(RECORD_SAMPLE, 0, 1);
	assert_int_equal(record_header_parse((char *)rec + 1, 16, false, &h), -EBADMSG);
}

static const struct record_layout live = {
	.sample_type = FIELD_IDENTIFIER | FIELD_IP | FIELD_TID | FIELD_TIME | FIELD_CPU |
		       FIELD_PERIOD | FIELD_CALLCHAIN | FIELD_REGS_USER | FIELD_STACK_USER,
	.regs_user = 1 << 6 | 1 << 7 | 1 << 8,
	.sample_id_all = true,
};

/* clang-format off */
static const uint64_t live_sample[] = {
	HEAD(RECORD_SAMPLE, CPUMODE_KERNEL, 25),
	77, 0xffffffff81000010, PAIR(100, 101), 5000000, PAIR(3, 0), 1003009,
	6, CONTEXT(128), 0xffffffff81000010, 0xffffffff81000020, CONTEXT(512), 0x401000, 0x402000,
	2, 0x7ffe0010, 0x7ffe0000, 0x401000,
	32, 0x1111, 0x2222, 0x3333, 0, 24,
	0xdead, /* beyond what the fields need: a newer kernel's */
};
/* clang-format on */

static void test_live_sample(void **state)
{
	uint64_t rec[COUNT(live_sample)];
	struct record_sample s;
	struct record_chain c;

	(void)state;
	memcpy(rec, live_sample, sizeof rec);
	assert_int_equal(record_sample_parse(&live, rec, &s), 0);
	assert_int_equal(s.who.id, 77);
	assert_int_equal(s.who.pid, 100);
	assert_int_equal(s.who.tid, 101);
	assert_int_equal(s.who.time, 5000000);
	assert_int_equal(s.who.cpu, 3);
	assert_int_equal(s.ip, 0xffffffff81000010);
	assert_int_equal(s.period, 1003009);
	assert_int_equal(s.nchain, 6);
	assert_int_equal(s.regs_user.abi, 2);
	assert_int_equal(s.regs_user.mask, 0x1c0);
	assert_int_equal(s.regs_user.r[0], 0x7ffe0010);
	assert_int_equal(s.regs_user.r[2], 0x401000);
	assert_int_equal(s.stack_asked, 32);
	assert_int_equal(s.stack_bytes, 24);
	assert_memory_equal(s.stack, &live_sample[19], 24);
	assert_memory_equal(rec, live_sample, sizeof rec);

	record_chain_split(s.chain, s.nchain, s.cpumode, NULL, 0, &c);
	assert_int_equal(c.nkernel, 2);
	assert_int_equal(c.kernel[1], 0xffffffff81000020);
	assert_int_equal(c.nuser, 2);
	assert_int_equal(c.user[0], 0x401000);
	assert_false(c.guest);
}

/* Whatever the size says, nothing beyond it is read (run under ASan) and no field is believed. */
static void test_short_sample(void **state)
{
	struct record_sample s;

	(void)state;
	for (size_t words = 1; words < COUNT(live_sample); words++) {
		uint64_t *rec = malloc(words * 8);

		memcpy(rec, live_sample, words * 8);
		rec[0] = HEAD(RECORD_SAMPLE, CPUMODE_KERNEL, words);
		assert_int_equal(record_sample_parse(&live, rec, &s), words < 24 ? -EBADMSG : 0);
		free(rec);
	}
}

static void test_hostile_lengths(void **state)
{
	/* Word index and a value that must be refused there. */
	static const struct {
		size_t word;
		uint64_t value;
	} cases[] = {
		{7, 18},       {7, UINT64_MAX},      {7, UINT64_MAX / 8 + 2},
		{18, 1 << 16}, {18, UINT64_MAX - 7}, {23, 33},
	};
	struct record_sample s;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t rec[COUNT(live_sample)];

		memcpy(rec, live_sample, sizeof rec);
		rec[cases[i].word] = cases[i].value;
		assert_int_equal(record_sample_parse(&live, rec, &s), -EBADMSG);
	}
}

static void test_kernel_thread(void **state)
{
	uint64_t rec[] = {
		HEAD(RECORD_SAMPLE, CPUMODE_KERNEL, 10), 77, 1, PAIR(2, 2), 3, 0, 4, 0, 0, 0,
	};
	struct record_sample s;

	(void)state;
	assert_int_equal(record_sample_parse(&live, rec, &s), 0);
	assert_int_equal(s.regs_user.abi, 0);
	assert_null(s.regs_user.r);
	assert_null(s.stack);
	assert_int_equal(s.nchain, 0);
}

static void test_everything(void **state)
{
	const struct record_layout l = {
		.sample_type = FIELDS_KNOWN & ~FIELD_WEIGHT,
		.read_format = READ_GROUP | READ_ID | READ_TIME_ENABLED | READ_TIME_RUNNING,
		.branch_type = BRANCH_HW_INDEX,
		.regs_user = 1,
		.regs_intr = 3,
	};
	/* clang-format off */
	uint64_t rec[] = {
		HEAD(RECORD_SAMPLE, CPUMODE_USER | MISC_EXACT_IP, 49),
		9, 0x1000, PAIR(5, 6), 7, 0xadd4, 9, 10, PAIR(1, 0), 11,
		2, 100, 50, 1000, 9, 2000, 10, /* read */
		1, 0x1000,                     /* chain */
		PAIR(4, 0x64636261),           /* raw: "abcd" */
		2, 0, 0x10, 0x20, 1, 0x30, 0x40, 2, /* branches */
		2, 0x77,                       /* user regs */
		8, 0x99, 8,                    /* stack */
		PAIR(33, 0xffff),              /* weight */
		0xd5, 0x7a,                    /* data_src, transaction */
		1, 0xa, 0xb,                   /* intr regs */
		0xf00, 0xc6, 4096, 8192,       /* phys, cgroup, page sizes */
		16, 0x1, 0x2,                  /* aux */
		0, 0, 0, 0, 0, 0,
	};
	/* clang-format on */
	struct record_sample s;

	(void)state;
	assert_int_equal(record_sample_parse(&l, rec, &s), 0);
	assert_true(s.exact_ip);
	assert_int_equal(s.addr, 0xadd4);
	assert_int_equal(s.who.stream_id, 10);
	assert_int_equal(s.read.nvalues, 2);
	assert_int_equal(s.read.enabled_ns, 100);
	assert_int_equal(s.read.running_ns, 50);
	assert_int_equal(record_read_at(&s.read, 1).value, 2000);
	assert_int_equal(record_read_at(&s.read, 1).id, 10);
	assert_int_equal(record_read_at(&s.read, 2).value, 0);
	assert_int_equal(s.raw_size, 4);
	assert_memory_equal(s.raw, "abcd", 4);
	assert_int_equal(s.nbranches, 2);
	assert_int_equal(s.branches[1].to, 0x40);
	assert_int_equal(s.regs_user.r[0], 0x77);
	assert_int_equal(s.stack_bytes, 8);
	assert_int_equal(s.weight, 33);
	assert_int_equal(s.data_src, 0xd5);
	assert_int_equal(s.regs_intr.abi, 1);
	assert_int_equal(s.regs_intr.r[1], 0xb);
	assert_int_equal(s.cgroup, 0xc6);
	assert_int_equal(s.code_page_size, 8192);
	assert_int_equal(s.aux_size, 16);
}

static void test_unaligned_words_refused(void **state)
{
	const struct record_layout l = {.sample_type = FIELD_RAW | FIELD_BRANCH};
	uint64_t rec[] = {HEAD(RECORD_SAMPLE, 0, 8), PAIR(1, 0x61), 1, 1, 1, 1, 1, 1};
	struct record_sample s;

	(void)state;
	rec[1] = PAIR(1, 0x0161); /* raw of one byte: what follows lies at an odd address */
	rec[2] = 0;
	assert_int_equal(record_sample_parse(&l, rec, &s), -EBADMSG);
}

static void test_lone_read(void **state)
{
	const struct record_layout l = {
		.sample_type = FIELD_READ,
		.read_format = READ_TIME_ENABLED | READ_TIME_RUNNING | READ_ID | READ_LOST,
	};
	uint64_t rec[] = {HEAD(RECORD_SAMPLE, 0, 6), 1234, 20, 10, 5, 3};
	struct record_sample s;
	struct record_read_value v;

	(void)state;
	assert_int_equal(record_sample_parse(&l, rec, &s), 0);
	v = record_read_at(&s.read, 0);
	assert_int_equal(v.value, 1234);
	assert_int_equal(s.read.enabled_ns, 20);
	assert_int_equal(s.read.running_ns, 10);
	assert_int_equal(v.id, 5);
	assert_int_equal(v.lost, 3);
}

static void test_swapped(void **state)
{
	struct record_layout l = live;
	uint64_t rec[COUNT(live_sample)];
	uint8_t *b = (uint8_t *)rec;
	struct record_header h;
	struct record_sample s;

	(void)state;
	l.swap = true;
	for (size_t i = 1; i < COUNT(live_sample); i++)
		rec[i] = __builtin_bswap64(live_sample[i]);
	for (size_t pair = 3; pair <= 5; pair += 2) /* pid, tid and cpu, reserved */
		rec[pair] = rec[pair] << 32 | rec[pair] >> 32;
	memcpy(rec + 19, live_sample + 19, 32); /* stack bytes stay */
	/* type 9, misc 1, size 200, big end first */
	memcpy(b, "\0\0\0\x09\0\x01\0\xc8", 8);
	assert_int_equal(record_header_parse(rec, sizeof rec, true, &h), 0);
	assert_int_equal(h.type, RECORD_SAMPLE);
	assert_int_equal(h.size, 200);
	assert_int_equal(record_sample_parse(&l, rec, &s), 0);
	assert_int_equal(s.who.pid, 100);
	assert_int_equal(s.who.tid, 101);
	assert_int_equal(s.who.cpu, 3);
	assert_int_equal(s.cpumode, CPUMODE_KERNEL);
	assert_int_equal(s.chain[1], 0xffffffff81000010);
	assert_int_equal(s.regs_user.r[1], 0x7ffe0000);
	assert_int_equal(s.stack_bytes, 24);
}

static void test_ident(void **state)
{
	uint64_t rec[COUNT(live_sample)];
	/* EXIT of 100/101: fixed part, then sample_id of TID, TIME, CPU, IDENTIFIER */
	uint64_t exit[] = {
		HEAD(RECORD_EXIT, 0, 8), PAIR(100, 1), PAIR(101, 1), 4999,
		PAIR(100, 101),          5000,         PAIR(2, 0),   78,
	};
	struct record_ident who;
	struct record_side side;
	uint64_t id;

	(void)state;
	memcpy(rec, live_sample, sizeof rec);
	assert_int_equal(record_ident_parse(&live, rec, &who), 0);
	assert_int_equal(who.time, 5000000);
	assert_int_equal(who.id, 77);
	assert_true(record_id(&live, rec, &id));
	assert_int_equal(id, 77);
	assert_int_equal(record_ident_parse(&live, exit, &who), 0);
	assert_int_equal(who.time, 5000);
	assert_int_equal(who.cpu, 2);
	assert_int_equal(who.id, 78);
	assert_true(record_id(&live, exit, &id));
	assert_int_equal(id, 78);
	assert_int_equal(record_side_parse(&live, exit, &side), 0);
	assert_int_equal(side.task.pid, 100);
	assert_int_equal(side.task.tid, 101);
	assert_int_equal(side.task.ppid, 1);
	assert_int_equal(side.task.time, 4999);
	exit[0] = HEAD(RECORD_EXIT, 0, 4);
	assert_int_equal(record_ident_parse(&live, exit, &who), -EBADMSG);
	assert_int_equal(record_side_parse(&live, exit, &side), -EBADMSG);
	exit[0] = HEAD(RECORD_EXIT, 0, 6); /* fixed part and trailer would overlap */
	assert_int_equal(record_side_parse(&live, exit, &side), -EBADMSG);
}

static const struct record_layout bare = {0};

static void test_mmap2(void **state)
{
	uint64_t rec[12] = {
		HEAD(RECORD_MMAP2, CPUMODE_USER, 11),
		PAIR(7, 8),
		0x7f0000000000,
		0x2000,
		0x1000,
		PAIR(8, 1),
		4242,
		17,
		PAIR(5, 2),
	};
	struct record_side r;

	(void)state;
	memcpy(rec + 9, "/lib/libc.so", 13);
	assert_int_equal(record_side_parse(&bare, rec, &r), 0);
	assert_int_equal(r.mmap.pid, 7);
	assert_int_equal(r.mmap.tid, 8);
	assert_int_equal(r.mmap.addr, 0x7f0000000000);
	assert_int_equal(r.mmap.len, 0x2000);
	assert_int_equal(r.mmap.pgoff, 0x1000);
	assert_int_equal(r.mmap.major, 8);
	assert_int_equal(r.mmap.minor, 1);
	assert_int_equal(r.mmap.inode, 4242);
	assert_int_equal(r.mmap.prot, 5);
	assert_string_equal(r.mmap.path, "/lib/libc.so");
	assert_null(r.mmap.build_id);

	rec[0] = HEAD(RECORD_MMAP2, CPUMODE_USER | MISC_MMAP_BUILD_ID, 11);
	memcpy(rec + 5, "\x14\0\0\0ABCDEFGHIJKLMNOPQRST", 24);
	assert_int_equal(record_side_parse(&bare, rec, &r), 0);
	assert_int_equal(r.mmap.build_id_size, 20);
	assert_memory_equal(r.mmap.build_id, "ABCDEFGHIJKLMNOPQRST", 20);
	assert_int_equal(r.mmap.inode, 0);

	/* Another profiler's wish: the bit is set, and device and inode stand there all the same.
	 */
	static const uint32_t majors[] = {0, 8, 254, 259};
	for (size_t i = 0; i < sizeof majors / sizeof *majors; i++) {
		rec[5] = PAIR(majors[i], 1);
		rec[6] = 4242;
		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_null(r.mmap.build_id);
		assert_int_equal(r.mmap.major, majors[i]);
		assert_int_equal(r.mmap.inode, 4242);
		assert_string_equal(r.mmap.path, "/lib/libc.so");
	}
	struct record_layout asked = bare;
	asked.build_id = true;
	memcpy(rec + 5, "\x08\0\0\0ABCDEFGH\0\0\0\0\0\0\0\0\0\0\0\0", 24);
	assert_int_equal(record_side_parse(&asked, rec, &r), 0);
	assert_int_equal(r.mmap.build_id_size, 8);
	assert_memory_equal(r.mmap.build_id, "ABCDEFGH", 8);

	memset(rec + 9, 'x', 16); /* no end of text inside the record */
	assert_int_equal(record_side_parse(&bare, rec, &r), -EBADMSG);
}

static void test_side_types(void **state)
{
	struct record_side r;

	(void)state;
	{
		uint64_t rec[] = {HEAD(RECORD_COMM, MISC_COMM_EXEC, 3), PAIR(1, 2), 0};

		memcpy(rec + 2, "cat", 4);
		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_true(r.comm.exec);
		assert_string_equal(r.comm.name, "cat");
	}
	{
		uint64_t rec[] = {HEAD(RECORD_LOST, 0, 3), 5, 600};

		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_int_equal(r.lost.id, 5);
		assert_int_equal(r.lost.count, 600);
		rec[0] = HEAD(RECORD_LOST_SAMPLES, 0, 2);
		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_int_equal(r.lost.count, 5);
	}
	{
		uint64_t rec[] = {HEAD(RECORD_THROTTLE, 0, 4), 1, 2, 3};

		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_int_equal(r.throttle.id, 2);
	}
	{
		uint64_t rec[] = {HEAD(RECORD_SWITCH_CPU_WIDE, MISC_SWITCH_OUT, 2), PAIR(4, 5)};

		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_true(r.sched.out);
		assert_int_equal(r.sched.other_tid, 5);
		rec[0] = HEAD(RECORD_SWITCH, 0, 1);
		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_false(r.sched.out);
		assert_int_equal(r.sched.other_tid, -1);
	}
	{
		uint64_t rec[] = {HEAD(RECORD_KSYMBOL, 0, 5), 0xffffffffc0000000,
				  PAIR(64, 1 << 16 | 1), 0, 0};

		memcpy(rec + 3, "bpf_prog", 9);
		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_int_equal(r.ksymbol.len, 64);
		assert_int_equal(r.ksymbol.kind, 1);
		assert_int_equal(r.ksymbol.flags, 1);
		assert_string_equal(r.ksymbol.name, "bpf_prog");
	}
	{
		uint64_t rec[] = {HEAD(RECORD_NAMESPACES, 0, 5), PAIR(1, 1), 1, 4, 0xf0};

		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
		assert_int_equal(r.namespaces.links[1], 0xf0);
		rec[2] = 2;
		assert_int_equal(record_side_parse(&bare, rec, &r), -EBADMSG);
		rec[2] = UINT64_MAX / 16 + 1;
		assert_int_equal(record_side_parse(&bare, rec, &r), -EBADMSG);
	}
	{
		const struct record_layout l = {.read_format = READ_ID};
		uint64_t rec[] = {HEAD(RECORD_READ, 0, 4), PAIR(1, 2), 31, 7};

		assert_int_equal(record_side_parse(&l, rec, &r), 0);
		assert_int_equal(r.read.tid, 2);
		assert_int_equal(record_read_at(&r.read.values, 0).value, 31);
		assert_int_equal(record_read_at(&r.read.values, 0).id, 7);
	}
	{
		uint64_t rec[] = {HEAD(RECORD_TEXT_POKE, 0, 3), 0x100, PAIR(3 << 16 | 2, 0)};

		assert_int_equal(record_side_parse(&bare, rec, &r), -EBADMSG);
		rec[2] = PAIR(2 << 16 | 2, 0);
		assert_int_equal(record_side_parse(&bare, rec, &r), 0);
	}
	{
		uint64_t rec[] = {HEAD(RECORD_USER_TYPE_START, 0, 1)};

		assert_int_equal(record_side_parse(&bare, rec, &r), -ENOTSUP);
		rec[0] = HEAD(RECORD_SAMPLE, 0, 1);
		assert_int_equal(record_side_parse(&bare, rec, &r), -ENOTSUP);
	}
}

static void test_chain_runs(void **state)
{
	const uint64_t chain[] = {1, CONTEXT(32),
				  2, CONTEXT(2176),
				  9, CONTEXT(128),
				  3, CONTEXT(2560),
				  9, CONTEXT(512),
				  4, CONTEXT(512),
				  5, 6};
	const uint64_t deferred[] = {CONTEXT(128), 1, CONTEXT(640), 0xc00c1e};
	uint64_t scratch[8];
	struct record_chain c;

	(void)state;
	record_chain_split(chain, COUNT(chain), CPUMODE_USER, scratch, COUNT(scratch), &c);
	assert_int_equal(c.nkernel, 2);
	assert_int_equal(c.kernel[0], 2);
	assert_int_equal(c.kernel[1], 3);
	assert_int_equal(c.nuser, 4);
	assert_int_equal(c.user[0], 1);
	assert_int_equal(c.user[3], 6);
	assert_true(c.guest);
	record_chain_split(chain, COUNT(chain), CPUMODE_USER, NULL, 0, &c);
	assert_int_equal(c.nkernel, 1);
	assert_int_equal(c.nuser, 1);
	record_chain_split(deferred, COUNT(deferred), CPUMODE_KERNEL, NULL, 0, &c);
	assert_true(c.deferred);
	assert_int_equal(c.cookie, 0xc00c1e);
	assert_int_equal(c.nuser, 0);
	assert_int_equal(c.nkernel, 1);
	record_chain_split(NULL, 0, CPUMODE_USER, NULL, 0, &c);
	assert_int_equal(c.nuser, 0);
}

static void test_attr(void **state)
{
	uint64_t attr[18] = {PAIR(1, 136), 0, 1003009, FIELD_IP | FIELD_TID, READ_ID};
	uint64_t flags = ATTR_INHERIT | ATTR_SAMPLE_ID_ALL | ATTR_USE_CLOCKID | 2 << 15;
	uint8_t big[64] = {0};
	struct record_attr a;

	(void)state;
	attr[5] = flags;
	attr[9] = BRANCH_HW_INDEX;
	attr[10] = 0xff0fff;
	attr[11] = PAIR(8192, 1);
	attr[12] = 3;
	assert_int_equal(record_attr_parse(attr, 136, false, &a), 0);
	assert_int_equal(a.type, 1);
	assert_int_equal(a.period, 1003009);
	assert_int_equal(a.layout.sample_type, FIELD_IP | FIELD_TID);
	assert_int_equal(a.layout.read_format, READ_ID);
	assert_true(a.flags & ATTR_USE_CLOCKID);
	assert_true(a.layout.sample_id_all);
	assert_int_equal(a.precise, 2);
	assert_int_equal(a.layout.regs_user, 0xff0fff);
	assert_int_equal(a.stack_user, 8192);
	assert_int_equal(a.clock, 1);
	assert_int_equal(a.layout.regs_intr, 3);
	/* An attr of the first size: what follows is another structure's. */
	attr[0] = PAIR(1, 64);
	assert_int_equal(record_attr_parse(attr, 136, false, &a), 0);
	assert_int_equal(a.layout.regs_user, 0);
	assert_int_equal(record_attr_parse(attr, 64, false, &a), 0);
	assert_int_equal(record_attr_parse(attr, 63, false, &a), -EBADMSG);
	/* Big end first: type 2, size 64, inherit and precise 1 */
	memcpy(big, "\0\0\0\x02\0\0\0\x40", 8);
	big[40] = 0x40;
	big[42] = 0x80;
	assert_int_equal(record_attr_parse(big, 64, true, &a), 0);
	assert_int_equal(a.type, 2);
	assert_true(a.flags & ATTR_INHERIT);
	assert_int_equal(a.precise, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_live_sample),
		cmocka_unit_test(test_short_sample),
		cmocka_unit_test(test_hostile_lengths),
		cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_unaligned_words_refused),
		cmocka_unit_test(test_lone_read),
		cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_ident),
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_side_types),
		cmocka_unit_test(test_chain_runs),
		cmocka_unit_test(test_attr),
	};

	return cmocka_run_group_tests_name("perf_record", tests, NULL, NULL);
}
