/*
 * perf_record: the records that perf_event_open(2) writes into rings and perf.data files hold.
 *
 * Pure syntax: bytes in, fields out, for any perf_event_attr layout, without knowledge of
 * profiling. Input is hostile: every length is checked against the record that holds it. Nothing is
 * copied or allocated: pointers in a result point into the record and live as long as its bytes.
 *
 * A record starts 8-byte aligned. A record of a file of the other byte order is read with
 * layout.swap; its 64-bit arrays (chain, read values, registers, branches, namespaces) are then
 * turned to host order where they lie, so such a record is parsed once; without swap nothing is
 * written. Field order: perf_event_open(2), "MMAP layout", and the kernel's
 * include/uapi/linux/perf_event.h.
 *
 * Callers outside codec/, event/ and sample/ need no <linux/perf_event.h>: constants are here.
 */
#ifndef ALTPTTOP_PERF_RECORD_H
#define ALTPTTOP_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* as PERF_RECORD_* */
enum record_type {
	RECORD_MMAP = 1,
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_THROTTLE = 5,
	RECORD_UNTHROTTLE = 6,
	RECORD_FORK = 7,
	RECORD_READ = 8,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_AUX = 11,
	RECORD_ITRACE_START = 12,
	RECORD_LOST_SAMPLES = 13,
	RECORD_SWITCH = 14,
	RECORD_SWITCH_CPU_WIDE = 15,
	RECORD_NAMESPACES = 16,
	RECORD_KSYMBOL = 17,
	RECORD_BPF_EVENT = 18,
	RECORD_CGROUP = 19,
	RECORD_TEXT_POKE = 20,
	RECORD_AUX_OUTPUT_HW_ID = 21,
	RECORD_CALLCHAIN_DEFERRED = 22,
	RECORD_USER_TYPE_START = 64, /* written by tools, never by the kernel */
};

/* as PERF_SAMPLE_* */
enum record_field {
	FIELD_IP = 1 << 0,
	FIELD_TID = 1 << 1,
	FIELD_TIME = 1 << 2,
	FIELD_ADDR = 1 << 3,
	FIELD_READ = 1 << 4,
	FIELD_CALLCHAIN = 1 << 5,
	FIELD_ID = 1 << 6,
	FIELD_CPU = 1 << 7,
	FIELD_PERIOD = 1 << 8,
	FIELD_STREAM_ID = 1 << 9,
	FIELD_RAW = 1 << 10,
	FIELD_BRANCH = 1 << 11,
	FIELD_REGS_USER = 1 << 12,
	FIELD_STACK_USER = 1 << 13,
	FIELD_WEIGHT = 1 << 14,
	FIELD_DATA_SRC = 1 << 15,
	FIELD_IDENTIFIER = 1 << 16,
	FIELD_TRANSACTION = 1 << 17,
	FIELD_REGS_INTR = 1 << 18,
	FIELD_PHYS_ADDR = 1 << 19,
	FIELD_AUX = 1 << 20,
	FIELD_CGROUP = 1 << 21,
	FIELD_DATA_PAGE_SIZE = 1 << 22,
	FIELD_CODE_PAGE_SIZE = 1 << 23,
	FIELD_WEIGHT_STRUCT = 1 << 24,
	FIELDS_KNOWN = (1 << 25) - 1,
};

/* as PERF_FORMAT_* */
enum record_read_format {
	READ_TIME_ENABLED = 1 << 0,
	READ_TIME_RUNNING = 1 << 1,
	READ_ID = 1 << 2,
	READ_GROUP = 1 << 3,
	READ_LOST = 1 << 4,
	READS_KNOWN = (1 << 5) - 1,
};

/* header.misc & 7 */
enum record_cpumode {
	CPUMODE_UNKNOWN,
	CPUMODE_KERNEL,
	CPUMODE_USER,
	CPUMODE_HYPERVISOR,
	CPUMODE_GUEST_KERNEL,
	CPUMODE_GUEST_USER,
};

enum record_misc {
	MISC_CPUMODE = 7,
	MISC_MMAP_DATA = 1 << 13,
	MISC_COMM_EXEC = 1 << 13,
	MISC_SWITCH_OUT = 1 << 13,
	MISC_EXACT_IP = 1 << 14,
	MISC_MMAP_BUILD_ID = 1 << 14,
	MISC_SWITCH_PREEMPT = 1 << 14,
	MISC_LOST_SAMPLES_BPF = 1 << 15, /* perf's own: samples that a filter left out */
};

/* bits of branch_sample_type that change the layout, or what the entries are */
enum record_branch_type {
	BRANCH_CALL_STACK = 1 << 11,
	BRANCH_HW_INDEX = 1 << 17,
	BRANCH_COUNTERS = 1 << 19,
};

/* The first eight bytes of every record. */
struct record_header {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* of the whole record */
};

/* What of an attr decides how its records are laid out. */
struct record_layout {
	uint64_t sample_type; /* FIELD_* */
	uint64_t read_format; /* READ_* */
	uint64_t branch_type;
	uint64_t regs_user, regs_intr; /* register masks */
	bool sample_id_all;
	bool build_id; /* mappings were asked to tell it */
	bool swap;
};

/* perf_event_attr of any size and byte order (a file's, or our own). */
struct record_attr {
	uint32_t type, size;
	uint64_t config, config1, config2;
	uint64_t period; /* or frequency, with ATTR_FREQ */
	uint64_t flags;  /* ATTR_* */
	uint8_t precise;
	uint32_t bp_type;
	uint32_t stack_user;
	uint32_t clock; /* with ATTR_USE_CLOCKID */
	uint16_t max_stack;
	struct record_layout layout;
};

/* the attr's bit field, first field lowest */
enum record_attr_flag {
	ATTR_DISABLED = 1 << 0,
	ATTR_INHERIT = 1 << 1,
	ATTR_EXCLUDE_USER = 1 << 4,
	ATTR_EXCLUDE_KERNEL = 1 << 5,
	ATTR_EXCLUDE_HV = 1 << 6,
	ATTR_EXCLUDE_IDLE = 1 << 7,
	ATTR_MMAP = 1 << 8,
	ATTR_COMM = 1 << 9,
	ATTR_FREQ = 1 << 10,
	ATTR_INHERIT_STAT = 1 << 11,
	ATTR_TASK = 1 << 13,
	ATTR_MMAP_DATA = 1 << 17,
	ATTR_SAMPLE_ID_ALL = 1 << 18,
	ATTR_EXCLUDE_HOST = 1 << 19,
	ATTR_EXCLUDE_GUEST = 1 << 20,
	ATTR_MMAP2 = 1 << 23,
	ATTR_COMM_EXEC = 1 << 24,
	ATTR_USE_CLOCKID = 1 << 25,
	ATTR_CONTEXT_SWITCH = 1 << 26,
};

/*
 * Read @len bytes that hold a perf_event_attr (older: shorter, newer: longer than ours; what is
 * missing is zero). -EBADMSG: shorter than the first published attr (64 bytes).
 */
int record_attr_parse(const void *bytes, size_t len, bool swap, struct record_attr *ret_attr);

/* Whom a record belongs to: leading fields of a sample, trailing sample_id of every other. */
struct record_ident {
	uint64_t fields; /* FIELD_TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER that are there */
	uint64_t time;
	uint64_t id; /* of FIELD_IDENTIFIER, else FIELD_ID */
	uint64_t stream_id;
	pid_t pid, tid;
	uint32_t cpu;
};

/* A reading of one counter or of a group, in place. */
struct record_read {
	uint64_t format; /* READ_*: which of the following are there */
	uint64_t enabled_ns, running_ns;
	uint64_t nvalues;
	const uint64_t *values; /* nvalues × record_read_words(format) words */
};
struct record_read_value {
	uint64_t value, id, lost; /* id and lost 0 where the format has none */
};
struct record_read_value record_read_at(const struct record_read *r, uint64_t i);

struct record_branch {
	uint64_t from, to, flags; /* flags as the kernel's perf_branch_entry; 0 when swapped */
};

struct record_regs {
	uint64_t abi;  /* 0 none, 1: 32-bit, 2: 64-bit */
	uint64_t mask; /* registers that are there, lowest first */
	const uint64_t *r;
};

/* Everything a PERF_RECORD_SAMPLE may hold; what sample_type lacks is zero or NULL. */
struct record_sample {
	struct record_ident who;
	uint64_t fields; /* sample_type */
	uint8_t cpumode; /* enum record_cpumode */
	bool exact_ip;
	uint64_t ip, addr, period;
	struct record_read read;
	uint64_t nchain;
	const uint64_t *chain; /* with PERF_CONTEXT_* markers: record_chain_split */
	uint32_t raw_size;
	const uint8_t *raw;
	uint64_t nbranches, branch_index;
	const struct record_branch *branches; /* newest first */
	struct record_regs regs_user, regs_intr;
	uint64_t stack_asked; /* size of the dump in the record */
	uint64_t stack_bytes; /* of these, bytes that hold data */
	const uint8_t *stack;
	uint64_t weight, data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	uint64_t aux_size;
	const uint8_t *aux;
};

/* Any other record of the kernel's. */
struct record_side {
	struct record_header header;
	struct record_ident who; /* .fields 0 without sample_id_all */
	union {
		struct { /* MMAP, MMAP2 */
			pid_t pid, tid;
			uint64_t addr, len, pgoff;
			uint32_t major, minor, prot, flags; /* MMAP: 0 */
			uint64_t inode, inode_generation;
			const uint8_t *build_id; /* NULL none */
			uint8_t build_id_size;
			const char *path;
		} mmap;
		struct {
			pid_t pid, tid;
			bool exec;
			const char *name;
		} comm;
		struct { /* FORK, EXIT */
			pid_t pid, ppid, tid, ptid;
			uint64_t time;
		} task;
		struct { /* LOST; LOST_SAMPLES: id 0 */
			uint64_t id, count;
		} lost;
		struct { /* THROTTLE, UNTHROTTLE */
			uint64_t time, id, stream_id;
		} throttle;
		struct {
			pid_t pid, tid;
			struct record_read values;
		} read;
		struct { /* SWITCH, SWITCH_CPU_WIDE */
			bool out, preempted;
			pid_t other_pid, other_tid; /* CPU_WIDE: next (out) or previous; else -1 */
		} sched;
		struct {
			pid_t pid, tid;
			uint64_t n;
			const uint64_t *links; /* n × (device, inode) */
		} namespaces;
		struct {
			uint64_t addr;
			uint32_t len;
			uint16_t kind, flags; /* flags & 1: unregistered */
			const char *name;
		} ksymbol;
		struct {
			uint16_t kind, flags;
			uint32_t id;
			const uint8_t *tag; /* 8 bytes */
		} bpf;
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t addr;
			uint16_t old_len, new_len;
			const uint8_t *bytes; /* old, then new */
		} text_poke;
		struct {
			uint64_t offset, size, flags;
		} aux;
		struct { /* ITRACE_START */
			pid_t pid, tid;
		} itrace;
		struct { /* AUX_OUTPUT_HW_ID */
			uint64_t hw_id;
		} hw_id;
		struct {
			uint64_t cookie, n;
			const uint64_t *chain;
		} deferred;
	};
};

/*
 * The header of the record at @bytes, of which @available are there. -EBADMSG: its size is below 8
 * or beyond what is there, so nothing after it can be trusted.
 */
int record_header_parse(const void *bytes, size_t available, bool swap,
			struct record_header *ret_header);

/*
 * Parse one whole record of header.size bytes (checked with record_header_parse before). -EBADMSG:
 * a field does not fit its record; -ENOTSUP: a type (record_side_parse) or field this code does not
 * know. @ret is undefined then.
 */
int record_sample_parse(const struct record_layout *l, void *record, struct record_sample *ret);
int record_side_parse(const struct record_layout *l, void *record, struct record_side *ret);

/* Only whom it belongs to, of a sample or any other kernel record; cheap. Writes nothing. */
int record_ident_parse(const struct record_layout *l, const void *record, struct record_ident *ret);

/*
 * The id of a record whose layout is not known yet: all attrs of a file agree where it lies when
 * FIELD_IDENTIFIER is set (@l: any attr of the file). False: no such field or no room for it.
 */
bool record_id(const struct record_layout *l, const void *record, uint64_t *ret_id);

/* A callchain taken apart; innermost first, markers removed. */
struct record_chain {
	const uint64_t *kernel, *user;
	uint32_t nkernel, nuser;
	bool guest;    /* it held guest contexts, which are left out */
	bool deferred; /* the user part comes later, in a CALLCHAIN_DEFERRED record of @cookie */
	uint64_t cookie;
};

/*
 * Split a sample's chain by its PERF_CONTEXT_* markers. Entries before any marker go by @cpumode.
 * A class that comes in several runs is gathered in @scratch (room for @room words, NULL: only the
 * first run is kept).
 */
void record_chain_split(const uint64_t *chain, uint64_t n, uint8_t cpumode, uint64_t *scratch,
			size_t room, struct record_chain *ret);

#endif
