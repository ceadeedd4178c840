/*
 * makerec: made recordings of any size: makerec chrome|pprof|leaves|folded MEGABYTES [MORE] >FILE
 *
 * chrome: spans of four threads, 500 names; in order of time, or (MORE: buffers) 64 of a thread at
 * a time as tracers flush their buffers, or (shuffled) 65,536 at a time in any order; or (edges,
 * threads) begins and ends to six deep, in order of time, or a whole thread after the other. pprof:
 * samples whose stacks, 8 to 40 deep, come from one tree of calls; @UNIQUE different ones, each
 * told for many values of a label, or (0) all different. leaves: all differ, but only in the
 * innermost of their frames, as a program's do that waits in many places: 5,000 stacks above it.
 * folded: the stacks of pprof as text, all different.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 20000
#define TRUNKS    5000

static uint64_t state = 88172645463325252ull;

static uint32_t randomly(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % below;
}

#define BLOCK 65536 /* spans that are put into another order together */

static uint64_t put_span(unsigned n)
{
	return (uint64_t)printf(
		"{\"ph\":\"X\",\"cat\":\"work\",\"name\":\"function_%u\",\"pid\":1234,\"tid\":%u,"
		"\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"n\":%u}},\n",
		n * 7 % 500, 1234 + n % 4, n * 0.5, n % 16 ? 0.4 + n % 7 : 30.0, n);
}

#define EDGE_BYTES 95 /* of one, about */

/* The next begin or end of a thread; names by the depth, as a program's calls have. */
static uint64_t put_edge(unsigned thread, unsigned n)
{
	static unsigned names[4][6], depths[4];
	static double times[4];
	unsigned *depth = &depths[thread], *name = names[thread];
	bool begins = *depth < 6 && (!*depth || randomly(2));
	if (begins)
		name[(*depth)++] = randomly(5);
	unsigned at = begins ? *depth - 1 : --*depth;
	times[thread] += 0.125 + randomly(13) / 8.0;
	return (uint64_t)printf(
		"{\"ph\":\"%c\",\"cat\":\"work\",\"name\":\"function_%u_%u\",\"pid\":1234,"
		"\"tid\":%u,\"ts\":%.3f,\"args\":{\"n\":%u}},\n",
		begins ? 'B' : 'E', at, name[at], 1234 + thread, times[thread], n);
}

static void make_edges(uint64_t bytes, bool threads)
{
	unsigned n = (unsigned)(bytes / EDGE_BYTES);
	printf("[\n");
	for (unsigned i = 0; i < n; i++)
		put_edge(threads ? (unsigned)((uint64_t)i * 4 / n) : i % 4, i);
	printf("{}]\n");
}

static void make_chrome(uint64_t bytes, const char *order)
{
	static unsigned block[BLOCK];
	bool buffers = !strcmp(order, "buffers"), shuffled = !strcmp(order, "shuffled");
	uint64_t done = (uint64_t)printf("[\n");
	for (unsigned first = 0; done < bytes; first += BLOCK) {
		for (unsigned i = 0; i < BLOCK; i++)
			block[i] = first + (buffers ? i / 256 * 256 + i % 64 * 4 + i / 64 % 4 : i);
		for (unsigned i = BLOCK; shuffled && i > 1; i--) {
			unsigned other = randomly(i), swap = block[i - 1];
			block[i - 1] = block[other];
			block[other] = swap;
		}
		for (unsigned i = 0; i < BLOCK && done < bytes; i++)
			done += put_span(block[i]);
	}
	printf("{}]\n");
}

struct bytes {
	uint8_t data[4096];
	size_t n;
};

static void varint(struct bytes *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		b->data[b->n++] = (uint8_t)(v | 128);
	b->data[b->n++] = (uint8_t)v;
}

static void number(struct bytes *b, unsigned field, uint64_t v)
{
	varint(b, field << 3);
	varint(b, v);
}

static void block(struct bytes *b, unsigned field, const void *data, size_t n)
{
	varint(b, field << 3 | 2);
	varint(b, n);
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

static uint64_t put(unsigned field, const struct bytes *inner)
{
	struct bytes b = {.n = 0};
	block(&b, field, inner->data, inner->n);
	fwrite(b.data, 1, b.n, stdout);
	return b.n;
}

static uint64_t put_text(const char *text)
{
	struct bytes b = {.n = 0};
	block(&b, 6, text, strlen(text));
	fwrite(b.data, 1, b.n, stdout);
	return b.n;
}

/* Outermost first, by what @seed makes of the tree. Returns the depth. */
static unsigned make_path(uint64_t seed, uint32_t path[40])
{
	uint32_t node = 1;
	uint64_t keep = state;
	state = seed * 0x9e3779b97f4a7c15ull | 1;
	unsigned depth = 8 + randomly(33);
	for (unsigned i = 0; i < depth; i++) {
		path[i] = node;
		node = (node * 31 + (randomly(10) < 6 ? 0 : 1 + randomly(3)) + i) % FUNCTIONS + 1;
	}
	state = keep;
	return depth;
}

/* Innermost first; below it @leaf, 0: nothing. */
static void put_stack(struct bytes *sample, uint64_t seed, uint32_t leaf)
{
	struct bytes b = {.n = 0};
	uint32_t path[40];
	unsigned depth = make_path(seed, path);
	if (leaf)
		varint(&b, leaf);
	for (unsigned i = depth; i-- > 0;)
		varint(&b, path[i]);
	block(sample, 1, b.data, b.n);
}

static void make_pprof(uint64_t bytes, uint64_t unique, bool leaves)
{
	static const char *const texts[] = {"",    "samples",     "count",
					    "cpu", "nanoseconds", "request"};
	uint64_t done = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct bytes type = {.n = 0};
		number(&type, 1, 1 + 2 * i);
		number(&type, 2, 2 + 2 * i);
		done += put(1, &type);
	}
	for (unsigned i = 0; i < 6; i++)
		done += put_text(texts[i]);
	for (unsigned i = 1; i <= FUNCTIONS; i++) {
		struct bytes function = {.n = 0}, location = {.n = 0}, line = {.n = 0};
		char name[80];
		snprintf(name, sizeof name, "space::function_%u(int, char const*)", i);
		done += put_text(name);
		number(&function, 1, i);
		number(&function, 2, 5 + i);
		done += put(5, &function);
		number(&line, 1, i);
		number(&line, 2, i % 900);
		number(&location, 1, i);
		number(&location, 3, 0x400000 + i * 64);
		block(&location, 4, line.data, line.n);
		done += put(4, &location);
	}
	for (uint64_t n = 0; done < bytes; n++) {
		struct bytes sample = {.n = 0}, values = {.n = 0}, label = {.n = 0};
		if (leaves)
			put_stack(&sample, n % TRUNKS, 1 + (uint32_t)(n / TRUNKS % FUNCTIONS));
		else
			put_stack(&sample, unique ? n % unique : n, 0);
		varint(&values, 1);
		varint(&values, 10000000);
		block(&sample, 2, values.data, values.n);
		number(&label, 1, 5);
		number(&label, 3, n);
		block(&sample, 3, label.data, label.n);
		done += put(2, &sample);
	}
}

static void make_folded(uint64_t bytes)
{
	uint64_t done = 0;
	uint32_t path[40];
	for (uint64_t n = 0; done < bytes; n++) {
		unsigned depth = make_path(n, path);
		for (unsigned i = 0; i < depth; i++)
			done += (uint64_t)printf("%sfunction_%u", i ? ";" : "", path[i]);
		done += (uint64_t)printf(" 1\n");
	}
}

int main(int argc, char **argv)
{
	uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	if (!bytes)
		return 2;
	const char *more = argc > 3 ? argv[3] : "";
	if (!strcmp(argv[1], "chrome") && (!strcmp(more, "edges") || !strcmp(more, "threads")))
		make_edges(bytes, !strcmp(more, "threads"));
	else if (!strcmp(argv[1], "chrome"))
		make_chrome(bytes, more);
	else if (!strcmp(argv[1], "folded"))
		make_folded(bytes);
	else
		make_pprof(bytes, argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
			   !strcmp(argv[1], "leaves"));
	return 0;
}
