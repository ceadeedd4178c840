/*
 * known: functions that call each other in one way only and return soon, without frame pointers.
 * main calls outer, that middle and deeper; middle calls jump, which ends in a jump to inner;
 * deeper calls itself and at the end leaf. For ever.
 */
#include <stdint.h>

#define NOINLINE __attribute__((noipa))

static NOINLINE uint64_t inner(uint64_t x)
{
	for (int i = 0; i < 20; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static NOINLINE uint64_t jump(uint64_t x)
{
	return inner(x ^ 1);
}

static NOINLINE uint64_t middle(uint64_t x, uint64_t y)
{
	return jump(x) * 3 + jump(y) + x + y;
}

static NOINLINE uint64_t leaf(uint64_t x)
{
	for (int i = 0; i < 10; i++)
		x ^= x << 7 ^ x >> 9;
	return x;
}

static NOINLINE uint64_t deeper(uint64_t x, int n)
{
	return n ? deeper(x + (uint64_t)n, n - 1) * x + 1 : leaf(x) + 1;
}

static NOINLINE uint64_t outer(uint64_t x)
{
	return middle(x, x + 1) + deeper(x, 6);
}

int main(void)
{
	for (volatile uint64_t x = 1;;)
		x = outer(x);
}
