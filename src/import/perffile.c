/*
 * perffile: reading the header and the sections that describe a perf.data file, then its records'
 * bytes.
 */
#include "import/perffile.h"

#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES (1u << 20)
#define SECTION_MAX  (16u << 20)
#define IDS_MAX      (1u << 20)
#define FEATURE_BITS 256

static const char magic1[8] = "PERFFILE", magic2[8] = "PERFILE2", magic_swapped[8] = "2ELIFREP";

struct section {
	uint64_t offset, size;
};

uint64_t perffile_u64(const struct perffile *f, const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return f->swap ? bswap_64(v) : v;
}

uint32_t perffile_u32(const struct perffile *f, const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return f->swap ? bswap_32(v) : v;
}

bool perffile_recognise(const uint8_t *head, size_t n)
{
	return n >= 8 && (!memcmp(head, magic1, 8) || !memcmp(head, magic2, 8) ||
			  !memcmp(head, magic_swapped, 8));
}

/* --- bytes --- */

static bool read_at(const struct perffile *f, uint64_t offset, void *buf, size_t n)
{
	if (offset > f->size || n > f->size - offset)
		return false;
	size_t have = 0;
	while (have < n) {
		ssize_t got = pread(f->fd, (uint8_t *)buf + have, n - have, (off_t)(offset + have));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		have += (size_t)got;
	}
	return true;
}

size_t perffile_read(struct perffile *f, void *buf, size_t n)
{
	if (f->pipe)
		return stream_read(f->in, buf, n);
	size_t have = 0;
	while (have < n && f->data_at < f->data_end) {
		if (f->data_at < f->window_at || f->data_at >= f->window_at + f->window_len) {
			uint64_t left = f->data_end - f->data_at;
			size_t want = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
			if (!read_at(f, f->data_at, f->window, want))
				break;
			f->window_at = f->data_at;
			f->window_len = want;
		}
		size_t at = (size_t)(f->data_at - f->window_at), got = f->window_len - at;
		if (got > n - have)
			got = n - have;
		memcpy((uint8_t *)buf + have, f->window + at, got);
		f->data_at += got;
		have += got;
	}
	return have;
}

bool perffile_next_part(struct perffile *f)
{
	char name[32];
	struct stat st;
	if (f->part_fd >= 0)
		close(f->part_fd);
	snprintf(name, sizeof name, "data.%u", f->part++);
	f->part_fd = stream_beside(f->in, name);
	if (f->part_fd < 0 || fstat(f->part_fd, &st) || !S_ISREG(st.st_mode))
		return false;
	f->fd = f->part_fd;
	f->size = f->data_end = (uint64_t)st.st_size;
	f->data_at = f->window_at = f->window_len = 0;
	f->data_cut = false;
	return true;
}

uint64_t perffile_offset(const struct perffile *f)
{
	return f->pipe ? stream_offset(f->in) : f->data_at;
}

/* --- attributes --- */

static int add_attr(struct perffile *f, const uint8_t *bytes, size_t n, size_t *ret_index)
{
	struct perffile_attr a = {0};
	int rc = record_attr_parse(bytes, n, f->swap, &a.attr);
	if (rc)
		return rc;
	perffile_event_name(&a.attr, a.name, sizeof a.name);
	*ret_index = f->attrs.len;
	return vec_push(&f->attrs, a);
}

static void add_ids(struct perffile *f, size_t index, const uint8_t *ids, size_t bytes)
{
	for (size_t i = 0; i + 8 <= bytes && i < 8ull * IDS_MAX; i += 8)
		map64_put(&f->attr_of, perffile_u64(f, ids + i), (uint32_t)index);
}

static int read_attrs(struct perffile *f, struct section attrs, uint64_t entry, struct err *err)
{
	uint8_t buf[1024];
	if (entry < 64 + 16 || entry > sizeof buf || attrs.size / entry > 65536)
		return err_set(err, EBADMSG, "the header's attribute size (%llu) makes no sense",
			       (unsigned long long)entry);
	uint64_t budget = f->size; /* the ids of all attributes together lie in the file once */
	for (uint64_t at = 0; at + entry <= attrs.size; at += entry) {
		size_t index;
		if (!read_at(f, attrs.offset + at, buf, entry))
			return err_set(err, EBADMSG, "the event attributes lie outside the file");
		int rc = add_attr(f, buf, entry - 16, &index);
		if (rc)
			return err_set(err, EBADMSG, "an event attribute is damaged");
		struct section ids = {perffile_u64(f, buf + entry - 16),
				      perffile_u64(f, buf + entry - 8)};
		if (!ids.size || ids.size > 8ull * IDS_MAX || ids.size > budget ||
		    ids.offset > f->size || ids.size > f->size - ids.offset)
			continue;
		budget -= ids.size;
		uint8_t *bytes = malloc(ids.size);
		if (bytes && read_at(f, ids.offset, bytes, ids.size))
			add_ids(f, index, bytes, ids.size);
		free(bytes);
	}
	return 0;
}

static void set_name(struct perffile_attr *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	if (!len)
		return;
	if (len >= sizeof a->name)
		len = sizeof a->name - 1;
	memcpy(a->name, s, len);
	a->name[len] = 0;
}

/* --- features --- */

/* A string of the features: u32 length, then bytes, NUL-padded. Moves *@io_at past it. */
static bool feature_string(const struct perffile *f, const uint8_t *data, size_t n, size_t *io_at,
			   const char **ret_text, size_t *ret_len)
{
	if (*io_at > n || n - *io_at < 4)
		return false;
	uint32_t len = perffile_u32(f, data + *io_at);
	if (len > n - *io_at - 4)
		return false;
	*ret_text = (const char *)data + *io_at + 4;
	*ret_len = strnlen(*ret_text, len);
	*io_at += 4 + len;
	return true;
}

static void copy_string(const struct perffile *f, const uint8_t *data, size_t n, char *out,
			size_t size)
{
	size_t at = 0, len;
	const char *text;
	if (feature_string(f, data, n, &at, &text, &len))
		snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), text);
}

static void feature_host(struct perffile *f, const uint8_t *data, size_t n)
{
	copy_string(f, data, n, f->host, sizeof f->host);
}

static void feature_release(struct perffile *f, const uint8_t *data, size_t n)
{
	copy_string(f, data, n, f->release, sizeof f->release);
}

static void feature_cpu(struct perffile *f, const uint8_t *data, size_t n)
{
	copy_string(f, data, n, f->cpu, sizeof f->cpu);
}

static void feature_arch(struct perffile *f, const uint8_t *data, size_t n)
{
	static const struct {
		const char *name;
		enum arch arch;
	} names[] = {{"x86_64", ARCH_X86_64}, {"aarch64", ARCH_AARCH64}, {"arm64", ARCH_AARCH64},
		     {"i386", ARCH_X86},      {"i586", ARCH_X86},        {"i686", ARCH_X86},
		     {"armv7l", ARCH_ARM},    {"armv8l", ARCH_ARM}};
	copy_string(f, data, n, f->arch_name, sizeof f->arch_name);
	f->arch = f->arch_name[0] ? ARCH_OTHER : f->arch;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, f->arch_name))
			f->arch = names[i].arch;
}

static void feature_command(struct perffile *f, const uint8_t *data, size_t n)
{
	size_t at = 4, len, used = 0;
	const char *text;
	uint32_t count = n >= 4 ? perffile_u32(f, data) : 0;
	for (uint32_t i = 0; i < count && used + 1 < sizeof f->command; i++) {
		if (!feature_string(f, data, n, &at, &text, &len))
			break;
		int put = snprintf(f->command + used, sizeof f->command - used, "%s%.*s",
				   i ? " " : "", (int)len, text);
		used += put > 0 ? (size_t)put : 0;
	}
}

/* EVENT_DESC: the attributes once more, with names and ids. */
static void feature_events(struct perffile *f, const uint8_t *data, size_t n)
{
	if (n < 8)
		return;
	uint32_t count = perffile_u32(f, data), attr_size = perffile_u32(f, data + 4);
	size_t at = 8;
	for (uint32_t i = 0; i < count && attr_size <= n && at + attr_size + 4 <= n; i++) {
		at += attr_size;
		uint32_t ids = perffile_u32(f, data + at), index = i;
		at += 4;
		const char *name;
		size_t len;
		if (!feature_string(f, data, n, &at, &name, &len) || ids > (n - at) / 8)
			return;
		if (ids)
			map64_get(&f->attr_of, perffile_u64(f, data + at), &index);
		if (index < f->attrs.len) {
			set_name(&f->attrs.data[index], name, len);
			add_ids(f, index, data + at, 8ull * ids);
		}
		at += 8ull * ids;
	}
}

static uint64_t path_key(const char *path, bool kernel)
{
	return hash_pair(hash_bytes(path, strlen(path)), kernel);
}

const struct perffile_build_id *perffile_build_id(const struct perffile *f, const char *path,
						  bool kernel)
{
	uint32_t at;
	if (!map64_get(&f->build_id_of, path_key(path, kernel), &at))
		return NULL;
	const struct perffile_build_id *b = &f->build_ids.data[at];
	return b->kernel == kernel && !strcmp(b->path, path) ? b : NULL;
}

static void add_build_id(struct perffile *f, const uint8_t *record, size_t n, uint16_t misc)
{
	enum { FIXED = 8 + 4 + 24 };
	if (n <= FIXED)
		return;
	struct perffile_build_id b = {.kernel = (misc & MISC_CPUMODE) == CPUMODE_KERNEL,
				      .id_size = 20};
	memcpy(b.id, record + 12, 20);
	if (misc & (1 << 15) && record[32] <= 20) /* PERF_RECORD_MISC_BUILD_ID_SIZE */
		b.id_size = record[32];
	size_t len = strnlen((const char *)record + FIXED, n - FIXED);
	if (len >= sizeof b.path)
		return;
	memcpy(b.path, record + FIXED, len);
	if (perffile_build_id(f, b.path, b.kernel) || vec_push(&f->build_ids, b))
		return;
	(void)map64_put(&f->build_id_of, path_key(b.path, b.kernel),
			(uint32_t)f->build_ids.len - 1);
}

static void feature_build_ids(struct perffile *f, const uint8_t *data, size_t n)
{
	_Alignas(8) uint8_t head[8]; /* the entries lie at any multiple of 4 */
	for (size_t at = 0; n - at >= sizeof head;) {
		struct record_header h;
		memcpy(head, data + at, sizeof head);
		if (record_header_parse(head, n - at, f->swap, &h))
			return;
		add_build_id(f, data + at, h.size, h.misc);
		at += h.size;
	}
}

static void feature_times(struct perffile *f, const uint8_t *data, size_t n)
{
	if (n < 16)
		return;
	f->first_ns = perffile_u64(f, data);
	f->last_ns = perffile_u64(f, data + 8);
}

/* perf record --threads: this file has what was there before, and where program files lie. */
static void feature_parts(struct perffile *f, const uint8_t *data, size_t n)
{
	(void)data;
	f->parted = n >= 8;
}

static const struct {
	unsigned bit; /* HEADER_* */
	void (*read)(struct perffile *f, const uint8_t *data, size_t n);
} features[] = {
	{2, feature_build_ids}, {3, feature_host},   {4, feature_release},
	{6, feature_arch},      {8, feature_cpu},    {11, feature_command},
	{12, feature_events},   {21, feature_times}, {24, feature_parts},
};

static void read_feature(struct perffile *f, unsigned bit, const uint8_t *data, size_t n)
{
	for (size_t i = 0; i < sizeof features / sizeof *features; i++)
		if (features[i].bit == bit)
			features[i].read(f, data, n);
}

static void read_features(struct perffile *f, const uint64_t bits[FEATURE_BITS / 64], uint64_t at)
{
	for (unsigned bit = 0; bit < FEATURE_BITS; bit++) {
		if (!(bits[bit / 64] >> (bit % 64) & 1))
			continue;
		uint8_t entry[16];
		if (!read_at(f, at, entry, sizeof entry)) {
			f->cut = true;
			return;
		}
		at += sizeof entry;
		struct section s = {perffile_u64(f, entry), perffile_u64(f, entry + 8)};
		bool cut = s.offset > f->size || s.size > f->size - s.offset;
		f->cut |= cut;
		if (cut || s.size > SECTION_MAX || !s.size)
			continue;
		uint8_t *data = malloc(s.size);
		if (data && read_at(f, s.offset, data, s.size))
			read_feature(f, bit, data, s.size);
		free(data);
	}
}

void perffile_describe(struct perffile *f, const uint8_t *record, const struct record_header *h)
{
	size_t n = h->size, index;
	if (h->type == PERFFILE_HEADER_ATTR && n >= 8 + 64) {
		uint32_t size = perffile_u32(f, record + 12); /* perf_event_attr.size */
		if (!size)
			size = 64;
		if (size > n - 8 || add_attr(f, record + 8, size, &index))
			return;
		add_ids(f, index, record + 8 + size, n - 8 - size);
	} else if (h->type == PERFFILE_EVENT_UPDATE && n > 24 && perffile_u64(f, record + 8) == 2) {
		uint32_t at; /* PERF_EVENT_UPDATE__NAME */
		if (map64_get(&f->attr_of, perffile_u64(f, record + 16), &at) && at < f->attrs.len)
			set_name(&f->attrs.data[at], (const char *)record + 24, n - 24);
	} else if (h->type == PERFFILE_HEADER_FEATURE && n > 16) {
		uint64_t bit = perffile_u64(f, record + 8);
		if (bit < FEATURE_BITS)
			read_feature(f, (unsigned)bit, record + 16, n - 16);
	} else if (h->type == PERFFILE_BUILD_ID) {
		add_build_id(f, record, n, h->misc);
	}
}

/* --- opening --- */

static int open_file_mode(struct perffile *f, struct err *err)
{
	uint8_t h[104];
	int rc = stream_seekable(f->in, &f->fd, &f->size, err);
	if (rc)
		return rc;
	if (!read_at(f, 0, h, sizeof h))
		return err_set(err, EBADMSG, "the header is cut off");
	struct section attrs = {perffile_u64(f, h + 24), perffile_u64(f, h + 32)};
	struct section data = {perffile_u64(f, h + 40), perffile_u64(f, h + 48)};
	uint64_t bits[FEATURE_BITS / 64];
	for (unsigned i = 0; i < 4; i++)
		bits[i] = perffile_u64(f, h + 72 + 8 * i);
	rc = read_attrs(f, attrs, perffile_u64(f, h + 16), err);
	if (rc)
		return rc;
	if (data.offset > f->size)
		return err_set(err, EBADMSG, "the data section lies outside the file");
	f->data_at = data.offset;
	/* A recording that was not closed has no size in its header: read to the file's end. */
	bool cut = !data.size || data.size > f->size - data.offset;
	f->data_end = cut ? f->size : data.offset + data.size;
	f->data_cut = cut && data.size;
	f->unclosed = !data.size;
	if (!cut)
		read_features(f, bits, f->data_end);
	f->window = malloc(WINDOW_BYTES);
	return f->window ? 0 : err_set(err, ENOMEM, "no memory to read the recording");
}

int perffile_open(struct perffile *f, struct stream *in, struct err *err)
{
	*f = (struct perffile){.in = in, .fd = -1, .part_fd = -1, .arch = ARCH_X86_64};
#ifdef __aarch64__
	f->arch = ARCH_AARCH64;
#endif
	map64_init(&f->attr_of);
	map64_init(&f->build_id_of);
	const uint8_t *head;
	size_t n = stream_peek(in, 16, &head);
	if (n < 16)
		return err_set(err, EBADMSG, "the header is cut off");
	f->swap = !memcmp(head, magic_swapped, 8);
	uint64_t size = perffile_u64(f, head + 8);
	f->pipe = size == 16;
	if (!f->pipe)
		return open_file_mode(f, err);
	stream_skip(in, 16);
	return 0;
}

void perffile_close(struct perffile *f)
{
	map64_fini(&f->attr_of);
	map64_fini(&f->build_id_of);
	vec_fini(&f->attrs);
	vec_fini(&f->build_ids);
	free(f->window);
	if (f->part_fd >= 0)
		close(f->part_fd);
}

/* --- names --- */

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const software[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

void perffile_event_name(const struct record_attr *a, char *ret_name, size_t size)
{
	if (a->type == 0 && (a->config & 0xff) < sizeof hardware / sizeof *hardware)
		snprintf(ret_name, size, "%s", hardware[a->config & 0xff]);
	else if (a->type == 1 && a->config < sizeof software / sizeof *software)
		snprintf(ret_name, size, "%s", software[a->config]);
	else if (a->type == 4)
		snprintf(ret_name, size, "r%llx", (unsigned long long)a->config);
	else
		snprintf(ret_name, size, "event-%u:%llx", a->type, (unsigned long long)a->config);
}
