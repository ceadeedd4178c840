/*
 * insnbytes: tables of opcodes and mnemonics. Only what leaves the straight line is in them.
 */
#include "import/insnbytes.h"

#include <stdint.h>
#include <string.h>

#define INSN_MOST 16 /* bytes; x86 has 15 */

struct opcode { /* the first after the prefixes, from … to */
	uint8_t from, to;
	enum insn_class kind;
};

static const struct opcode x86_one[] = {
	{0x70, 0x7f, INSN_JCC},     {0xe0, 0xe3, INSN_JCC},    {0xe8, 0xe8, INSN_CALL},
	{0x9a, 0x9a, INSN_CALL},    {0xe9, 0xeb, INSN_JMP},    {0xc2, 0xc3, INSN_RETURN},
	{0xca, 0xcb, INSN_RETURN},  {0xcf, 0xcf, INSN_RETURN}, {0xcc, 0xcd, INSN_SYSCALL},
	{0xf1, 0xf1, INSN_SYSCALL},
};
static const struct opcode x86_two[] = {
	/* behind 0f */
	{0x80, 0x8f, INSN_JCC},    {0x05, 0x05, INSN_SYSCALL}, {0x34, 0x34, INSN_SYSCALL},
	{0x07, 0x07, INSN_RETURN}, {0x35, 0x35, INSN_RETURN},
};
static const struct opcode x86_group[] = {
	/* behind ff: bits 3 to 5 of the next */
	{2, 3, INSN_CALL},
	{4, 5, INSN_JMP},
};

static const struct {
	uint32_t mask, value;
	enum insn_class kind;
} arm64_words[] = {
	{0xfc000000, 0x94000000, INSN_CALL},    {0xfffffc1f, 0xd63f0000, INSN_CALL},
	{0xfefff800, 0xd63f0800, INSN_CALL},    {0xfffffc1f, 0xd65f0000, INSN_RETURN},
	{0xfffffbff, 0xd65f0bff, INSN_RETURN},  {0xffffffff, 0xd69f03e0, INSN_RETURN},
	{0xfc000000, 0x14000000, INSN_JMP},     {0xfffffc1f, 0xd61f0000, INSN_JMP},
	{0xfefff800, 0xd61f0800, INSN_JMP},     {0xff000000, 0x54000000, INSN_JCC},
	{0x7e000000, 0x34000000, INSN_JCC},     {0x7e000000, 0x36000000, INSN_JCC},
	{0xffe0001f, 0xd4000001, INSN_SYSCALL},
};

static const struct {
	const char *word; /* a mnemonic begins with it */
	enum insn_class kind;
} mnemonics[] = {
	{"call", INSN_CALL},      {"lcall", INSN_CALL},      {"ret", INSN_RETURN},
	{"lret", INSN_RETURN},    {"iret", INSN_RETURN},     {"sysret", INSN_RETURN},
	{"sysexit", INSN_RETURN}, {"syscall", INSN_SYSCALL}, {"sysenter", INSN_SYSCALL},
	{"int", INSN_SYSCALL},    {"jmp", INSN_JMP},         {"ljmp", INSN_JMP},
	{"j", INSN_JCC},          {"loop", INSN_JCC},
};

/* "rep", "bnd", "notrack" and their like stand before the mnemonic they change. */
static const char *const prefix_words[] = {"rep ", "repz ",    "repne ",
					   "bnd ", "notrack ", "data16 "};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Pairs of digits with a blank between them and nothing else; 0: it is no such text. */
static unsigned read_bytes(const char *s, size_t n, uint8_t *bytes)
{
	unsigned len = 0;
	for (size_t i = 0; i + 1 < n; i += 3) {
		int high = digit_of(s[i]), low = digit_of(s[i + 1]);
		if (high < 0 || low < 0 || len == INSN_MOST || (i + 2 < n && s[i + 2] != ' '))
			return 0;
		bytes[len++] = (uint8_t)(high << 4 | low);
	}
	return len;
}

static enum insn_class look_up(const struct opcode *table, size_t n, uint8_t byte)
{
	for (size_t i = 0; i < n; i++)
		if (byte >= table[i].from && byte <= table[i].to)
			return table[i].kind;
	return INSN_NONE;
}
#define LOOK_UP(table, byte) look_up(table, sizeof(table) / sizeof *(table), byte)

static enum insn_class x86_class(const uint8_t *b, unsigned n)
{
	static const char prefixes[] = "\x66\x67\x2e\x36\x3e\x26\x64\x65\xf0\xf2\xf3";
	unsigned i = 0;
	while (i + 1 < n && (memchr(prefixes, b[i], sizeof prefixes - 1) || b[i] >> 4 == 4))
		i++;
	if (b[i] == 0x0f)
		return i + 1 < n ? LOOK_UP(x86_two, b[i + 1]) : INSN_NONE;
	if (b[i] == 0xff)
		return i + 1 < n ? LOOK_UP(x86_group, b[i + 1] >> 3 & 7) : INSN_NONE;
	return LOOK_UP(x86_one, b[i]);
}

static enum insn_class arm64_class(const uint8_t *b)
{
	uint32_t word = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
			(uint32_t)b[3] << 24;
	for (size_t i = 0; i < sizeof arm64_words / sizeof *arm64_words; i++)
		if ((word & arm64_words[i].mask) == arm64_words[i].value)
			return arm64_words[i].kind;
	return INSN_NONE;
}

static enum insn_class mnemonic_class(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof prefix_words / sizeof *prefix_words; i++) {
		size_t len = strlen(prefix_words[i]);
		if (n > len && !memcmp(s, prefix_words[i], len)) {
			s += len;
			n -= len;
		}
	}
	for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++) {
		size_t len = strlen(mnemonics[i].word);
		if (n >= len && !memcmp(s, mnemonics[i].word, len))
			return mnemonics[i].kind;
	}
	return INSN_NONE;
}

enum insn_class insnbytes_class(const char *text, size_t n, bool arm64, unsigned *ret_len)
{
	uint8_t bytes[INSN_MOST];
	unsigned len = read_bytes(text, n, bytes);
	*ret_len = len;
	if (!len)
		return mnemonic_class(text, n);
	return arm64 && len == 4 ? arm64_class(bytes) : x86_class(bytes, len);
}
