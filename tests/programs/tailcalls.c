/*
 * tailcalls: functions that end in a jump to the next and so leave no frame. Between main and
 * `leaf` stand first and second, and only one way leads there; to `shared` lead two (left, right);
 * `even` and `odd` jump to each other; `through` jumps through a pointer; `plain` is called.
 * Each of the five burns a fifth of the time.
 */
/* flags: -O2 -g */
#include "burn.h"

static uint64_t used[5], quota;

#define BODY(n) \
	BURN(&used[n], quota); \
	return x + (int)(used[n] & 1)

static NOINLINE int leaf(int x)
{
	BODY(0);
}

static NOINLINE int second(int x)
{
	return leaf(x + 2);
}

static NOINLINE int first(int x)
{
	return second(x * 3);
}

static NOINLINE int shared(int x)
{
	BODY(1);
}

static NOINLINE int left(int x)
{
	return shared(x + 5);
}

static NOINLINE int right(int x)
{
	return shared(x - 5);
}

static NOINLINE int either(int x)
{
	if (x & 1)
		return left(x + 1);
	return right(x + 2);
}

static NOINLINE int odd(int x);

static NOINLINE int even(int x)
{
	if (x <= 0) {
		BODY(2);
	}
	return odd(x - 1);
}

static NOINLINE int odd(int x)
{
	return even(x - 1);
}

static NOINLINE int hidden(int x)
{
	BODY(3);
}

static int (*volatile pointer)(int) = hidden;

static NOINLINE int through(int x)
{
	return pointer(x + 1);
}

static NOINLINE int plain(int x)
{
	BODY(4);
}

int main(int argc, char **argv)
{
	uint64_t end = DEADLINE(argc, argv);
	volatile int sink = 0;

	while (WALL_NS() < end) {
		quota += 2 * MS;
		sink = sink + first(sink) + 1;
		sink = sink + either(sink) + 1;
		sink = sink + even(8) + 1;
		sink = sink + through(sink) + 1;
		sink = sink + plain(sink) + 1;
	}
	TELL_CPU("leaf", used[0]);
	TELL_CPU("shared", used[1]);
	TELL_CPU("even", used[2]);
	TELL_CPU("hidden", used[3]);
	TELL_CPU("plain", used[4]);
	TELL_CPU("total", CLOCK_NS(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
