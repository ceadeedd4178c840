/*
 * symsource: where symbols lie in an ELF file.
 *
 * Every offset is checked against what holds it by image.h; tables are read entry by entry with
 * memcpy, because nothing promises alignment. PLT stubs are named by plt.c. Runs on the resolver
 * thread, inside guards.
 */
#include "symsource.h"

#include <errno.h>
#include <string.h>

static size_t entry_bytes(const struct image *image)
{
	return image->elf32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

static int open_section(const struct image *image, const struct image_section *s,
			struct symsource *ret_source, struct image_data *ret_strings)
{
	struct image_data strings;
	const uint8_t *symbols;
	size_t size;
	int rc;

	if (!s || s->link >= image->nsections || s->type == SHT_NOBITS)
		return -ENODATA;
	symbols = image_section_bytes(image, s, &size);
	if (!symbols || size / entry_bytes(image) < 2)
		return -ENODATA;
	rc = image_section_data(image, &image->sections[s->link], &strings);
	if (rc)
		return rc;
	*ret_strings = strings;
	ret_source->image = image;
	ret_source->symbols = symbols;
	ret_source->count = size / entry_bytes(image);
	return 0;
}

/* ---- without sections: what the dynamic linker goes by ---- */

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash;
};

static void read_dynamic(const struct image *image, struct dynamic *d)
{
	size_t size = image->dynamic_size;
	const uint8_t *p = image_at(image, image->dynamic, size, NULL);
	size_t step = image->elf32 ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn);

	memset(d, 0, sizeof *d);
	for (; p && size >= step; p += step, size -= step) {
		uint64_t tag, value;

		if (image->elf32) {
			Elf32_Dyn e;
			memcpy(&e, p, sizeof e);
			tag = (uint64_t)(int64_t)e.d_tag;
			value = e.d_un.d_val;
		} else {
			Elf64_Dyn e;
			memcpy(&e, p, sizeof e);
			tag = (uint64_t)e.d_tag;
			value = e.d_un.d_val;
		}
		if (tag == DT_NULL)
			break;
		else if (tag == DT_SYMTAB)
			d->symtab = value;
		else if (tag == DT_STRTAB)
			d->strtab = value;
		else if (tag == DT_STRSZ)
			d->strsz = value;
		else if (tag == DT_HASH)
			d->hash = value;
		else if (tag == DT_GNU_HASH)
			d->gnu_hash = value;
	}
}

/* The GNU table tells the number of symbols only by its longest chain. */
static size_t gnu_hash_count(const struct image *image, uint64_t addr)
{
	uint32_t head[4], last = 0, value;
	const uint8_t *p = image_at(image, addr, sizeof head, NULL);
	uint64_t buckets, chains;

	if (!p)
		return 0;
	memcpy(head, p, sizeof head);
	buckets = addr + sizeof head + (uint64_t)head[2] * (image->elf32 ? 4 : 8);
	chains = buckets + (uint64_t)head[0] * 4;
	p = image_at(image, buckets, (size_t)head[0] * 4, NULL);
	for (uint32_t i = 0; p && i < head[0]; i++) {
		memcpy(&value, p + (size_t)i * 4, 4);
		last = value > last ? value : last;
	}
	if (last < head[1])
		return head[1];
	do {
		p = image_at(image, chains + (uint64_t)(last - head[1]) * 4, 4, NULL);
		if (!p)
			return 0;
		memcpy(&value, p, 4);
		last++;
	} while (!(value & 1));
	return last;
}

static int open_dynamic(const struct image *image, struct symsource *ret_source,
			struct image_data *ret_strings)
{
	struct dynamic d;
	const uint8_t *p;
	size_t count = 0, avail;

	if (!image->dynamic_size)
		return -ENODATA;
	read_dynamic(image, &d);
	if (!d.symtab || !d.strtab || !d.strsz)
		return -ENODATA;
	if (d.hash && (p = image_at(image, d.hash, 8, NULL))) {
		uint32_t chains;
		memcpy(&chains, p + 4, 4);
		count = chains;
	} else if (d.gnu_hash) {
		count = gnu_hash_count(image, d.gnu_hash);
	}
	ret_source->symbols = image_at(image, d.symtab, entry_bytes(image), &avail);
	if (!ret_source->symbols || count < 2)
		return -ENODATA;
	if (count > avail / entry_bytes(image))
		count = avail / entry_bytes(image);
	p = image_at(image, d.strtab, d.strsz, NULL);
	if (!p)
		return -ENODATA;
	ret_source->image = image;
	ret_source->count = count;
	*ret_strings = (struct image_data){.bytes = p, .size = d.strsz};
	return 0;
}

static const struct image_section *by_type(const struct image *image, uint32_t type)
{
	for (uint32_t i = 0; i < image->nsections; i++)
		if (image->sections[i].type == type)
			return &image->sections[i];
	return NULL;
}

int symsource_open(const struct image *image, struct symsource *ret_source,
		   struct image_data *ret_strings)
{
	memset(ret_source, 0, sizeof *ret_source);
	if (!open_section(image, by_type(image, SHT_SYMTAB), ret_source, ret_strings)) {
		ret_source->full = true;
		return 0;
	}
	if (!open_section(image, by_type(image, SHT_DYNSYM), ret_source, ret_strings))
		return 0;
	return open_dynamic(image, ret_source, ret_strings);
}

bool symsource_entry(const struct symsource *s, size_t i, struct symsource_sym *ret_sym,
		     unsigned *ret_type)
{
	const uint8_t *p = s->symbols + i * entry_bytes(s->image);
	uint8_t info;
	uint16_t section;
	unsigned type;

	if (s->image->elf32) {
		Elf32_Sym e;
		memcpy(&e, p, sizeof e);
		*ret_sym = (struct symsource_sym){e.st_value, e.st_size, e.st_name, 0, false};
		info = e.st_info;
		section = e.st_shndx;
	} else {
		Elf64_Sym e;
		memcpy(&e, p, sizeof e);
		*ret_sym = (struct symsource_sym){e.st_value, e.st_size, e.st_name, 0, false};
		info = e.st_info;
		section = e.st_shndx;
	}
	*ret_type = type = ELF64_ST_TYPE(info);
	ret_sym->bind = ELF64_ST_BIND(info);
	ret_sym->function = type == STT_FUNC || type == STT_GNU_IFUNC;
	if (s->image->machine == EM_ARM && ret_sym->function)
		ret_sym->value &= ~(uint64_t)1; /* Thumb */
	if (s->image->type == ET_REL && section < s->image->nsections)
		ret_sym->value += s->image->sections[section].addr;
	return section != SHN_UNDEF && (section != SHN_ABS || ret_sym->function);
}

bool symsource_get(const struct symsource *s, size_t i, struct symsource_sym *ret_sym)
{
	unsigned type;

	return symsource_entry(s, i, ret_sym, &type) && (ret_sym->function || type == STT_NOTYPE);
}
