/*
 * growrec: a perf.data of any size from a small one: growrec FILE MEGABYTES >LARGE
 *
 * All records come once as they are, save that nobody exits; then the samples again and again, each
 * round later by as much as a round lasts, until there is enough. So all stacks are real ones, and
 * other readers see one long recording. Files as perf record writes them here: one attr, no
 * compression, samples that tell their time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct section {
	uint64_t offset, size;
};

struct head {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, types;
	uint64_t features[4];
};

struct record {
	uint32_t type;
	uint16_t misc, size;
};

enum { EXIT = 4, SAMPLE = 9, FINISHED_ROUND = 68, TYPE_AT = 24 };
enum { IP = 1 << 0, TID = 1 << 1, TIME = 1 << 2, IDENTIFIER = 1 << 16 };

static uint8_t *read_whole(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	if (f && !fseek(f, 0, SEEK_END)) {
		*ret_size = (size_t)ftell(f);
		rewind(f);
		data = malloc(*ret_size);
		if (data && fread(data, 1, *ret_size, f) != *ret_size)
			data = NULL;
	}
	if (f)
		fclose(f);
	return data;
}

/* Take out the exits: what follows is of the living. What is left of @size bytes. */
static size_t without_exits(uint8_t *data, size_t size)
{
	size_t left = 0;
	struct record r;
	for (size_t at = 0; at + sizeof r <= size; at += r.size) {
		memcpy(&r, data + at, sizeof r);
		if (r.size < sizeof r || at + r.size > size)
			break;
		if (r.type == EXIT)
			continue;
		memmove(data + left, data + at, r.size);
		left += r.size;
	}
	return left;
}

/* Where in a sample its time is, 0: it has none. */
static size_t time_at(uint64_t type)
{
	size_t at = sizeof(struct record);
	for (uint64_t bit = 0; bit < 3; bit++) {
		static const uint64_t before[] = {IDENTIFIER, IP, TID};
		at += type & before[bit] ? 8 : 0;
	}
	return type & TIME ? at : 0;
}

/* The samples of a file's data, one after the other, and the span of their times. */
struct samples {
	uint8_t *data;
	size_t size, time;
	uint64_t first, last;
};

static uint64_t get(const uint8_t *at)
{
	uint64_t v;
	memcpy(&v, at, sizeof v);
	return v;
}

static struct samples samples_of(const uint8_t *data, size_t size, size_t time)
{
	struct samples s = {.data = malloc(size), .time = time, .first = UINT64_MAX};
	struct record r;
	for (size_t at = 0; s.data && at + sizeof r <= size; at += r.size) {
		memcpy(&r, data + at, sizeof r);
		if (r.size < sizeof r || at + r.size > size)
			break;
		if (r.type != SAMPLE && r.type != FINISHED_ROUND)
			continue;
		memcpy(s.data + s.size, data + at, r.size);
		s.size += r.size;
		uint64_t when = r.type == SAMPLE ? get(data + at + time) : s.last;
		s.first = when && when < s.first ? when : s.first;
		s.last = when > s.last ? when : s.last;
	}
	return s;
}

static void make_later(struct samples *s, uint64_t by)
{
	struct record r;
	for (size_t at = 0; at < s->size; at += r.size) {
		memcpy(&r, s->data + at, sizeof r);
		if (r.type != SAMPLE)
			continue;
		uint64_t when = get(s->data + at + s->time) + by;
		memcpy(s->data + at + s->time, &when, sizeof when);
	}
}

int main(int argc, char **argv)
{
	size_t size = 0;
	uint8_t *file = argc > 2 ? read_whole(argv[1], &size) : NULL;
	uint64_t want = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	struct head h;
	if (!file || size < sizeof h)
		return 2;
	memcpy(&h, file, sizeof h);
	if (memcmp(h.magic, "PERFILE2", 8) != 0 || h.data.offset + h.data.size > size ||
	    h.attrs.offset + 64 > size)
		return 2;
	uint64_t end = h.data.offset + h.data.size;
	h.data.size = without_exits(file + h.data.offset, h.data.size);
	struct samples s = samples_of(file + h.data.offset, h.data.size,
				      time_at(get(file + h.attrs.offset + TYPE_AT)));
	if (!s.data || !s.size || !s.time)
		return 2;
	uint64_t rounds = want > h.data.size ? (want - h.data.size) / s.size + 1 : 0;
	uint64_t large_end = h.data.offset + h.data.size + rounds * s.size;

	/* What lies behind the data moves: the table of features, which comes first, and they. */
	unsigned nfeatures = 0;
	for (unsigned i = 0; i < 4; i++)
		nfeatures += (unsigned)__builtin_popcountll(h.features[i]);
	for (unsigned i = 0; i < nfeatures; i++) {
		uint8_t *at = file + end + i * sizeof(struct section);
		if (at + sizeof(struct section) > file + size)
			return 2;
		uint64_t moved = get(at) + large_end - end;
		memcpy(at, &moved, sizeof moved);
	}
	uint64_t once = h.data.offset + h.data.size;
	h.data.size += rounds * s.size;
	memcpy(file, &h, sizeof h);
	fwrite(file, 1, once, stdout);
	for (uint64_t i = 0; i < rounds; i++) {
		make_later(&s, s.last - s.first + 1000);
		fwrite(s.data, 1, s.size, stdout);
	}
	fwrite(file + end, 1, size - end, stdout);
	free(s.data);
	free(file);
	return ferror(stdout) != 0;
}
