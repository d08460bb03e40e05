/*
 * utf8_check - compare utf8 with the standard; prints nothing when all is right
 * utf8_check ANY - print sums of the traits and mappings of all code points, as tests/golden/unicode.py does
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/utf8.h"

static void
expect(bool right, const char *what)
{
	if (!right)
		printf("wrong: %s\n", what);
}

/* Encodes and decodes every code point; every other sequence of three bytes is refused. */
static void
check_codes(void)
{
	char text[8];
	int32_t code;

	for (int32_t c = 0; c < 0x110000; c++) {
		size_t length = utf8_encode(c, text);
		bool surrogate = c >= 0xD800 && c < 0xE000;
		size_t back = utf8_decode(text, length, &code);
		if (surrogate ? code != -1 : code != c || back != length)
			printf("wrong: U+%04X\n", (unsigned)c);
	}
	expect(utf8_decode("\xC0\x80", 2, &code) == 1 && code == -1, "overlong");
	expect(utf8_decode("\xE0\x9F\xBF", 3, &code) == 1 && code == -1,
	    "overlong of three");
	expect(utf8_decode("\xF4\x90\x80\x80", 4, &code) == 1 && code == -1,
	    "above U+10FFFF");
	expect(utf8_decode("\xE2\x82", 2, &code) == 2 && code == -1, "cut");
	expect(
	    utf8_decode("\xF0\x9F\x98x", 4, &code) == 3 && code == -1, "bad fourth byte");
}

/* Table 3-11 of the Unicode Standard: U+FFFD for each maximal subpart. */
static void
check_repair(void)
{
	static const char bad[] = "\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64";
	static const char good[] = "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
				   "b\xEF\xBF\xBD"
				   "c"
				   "\xEF\xBF\xBD\xEF\xBF\xBD"
				   "d";
	char made[3 * sizeof bad];
	int64_t count = 0;
	size_t length = utf8_repair(made, bad, sizeof bad - 1, &count);

	expect(length == sizeof good - 1 && !memcmp(made, good, length), "repair");
	expect(count == 6, "repairs counted");
	expect(utf8_valid(bad, sizeof bad - 1) == 0, "nothing of it is valid");
	expect(
	    utf8_valid("0123456789\xC3\xA9\xFF", 13) == 12, "valid up to the last byte");
}

static void
check_forms(void)
{
	size_t length;
	int32_t part[UTF8_DECOMPOSED], run[] = { 0x301, 0x323, 0x300 }, scratch[3];
	char *text = utf8_normal("e\xCC\x81\xED\x95\x9C", 6, UTF8_NFC, &length);

	expect(length == 5 && !memcmp(text, "\xC3\xA9\xED\x95\x9C", 5), "NFC");
	free(text);
	text = utf8_normal("\xC3\xA9", 2, UTF8_NFD, &length);
	expect(length == 3 && !memcmp(text, "e\xCC\x81", 3), "NFD");
	free(text);
	expect(utf8_decompose(0x1E69, part) == 3 && part[0] == 's' && part[1] == 0x323 &&
		   part[2] == 0x307,
	    "decomposition");
	expect(utf8_decompose(0xD55C, part) == 3 && part[2] == 0x11AB, "Hangul");
	expect(utf8_decompose(0xFB01, part) == 1, "a ligature stays");
	utf8_order(run, scratch, 3);
	expect(run[0] == 0x323 && run[1] == 0x301 && run[2] == 0x300,
	    "canonical order, stable");
	expect(utf8_lower(0x130, part) == 2 && part[0] == 'i' && part[1] == 0x307,
	    "I with dot");
	expect(utf8_lower(0x3A3, part) == 1 && part[0] == 0x3C3, "sigma is never final");
}

static void
check_traits(void)
{
	expect(utf8_traits('$') == UTF8_PUNCT, "$ is punctuation");
	expect(utf8_traits(0x20AC) == 0, "the euro sign is not");
	expect(
	    utf8_traits(0x85) & UTF8_SPACE && utf8_traits(0x3000) & UTF8_SPACE, "spaces");
	expect(!(utf8_traits(0x200B) & UTF8_SPACE) && utf8_traits(0x200B) & UTF8_CONTROL,
	    "a space of no width is a format character");
	expect(utf8_traits(0x378) == 0, "an unassigned code point is nothing");
	expect(utf8_traits(0x301) & UTF8_MARK && utf8_combining(0x301) == 230, "a mark");
}

/* A text that is being built, and the number of its parts. */
struct sum {
	char *text;
	size_t length;
	long long count;
};

static void
add(struct sum *sum, int32_t code)
{
	sum->length += utf8_encode(code, sum->text + sum->length);
	sum->count++;
}

static void
print(const char *name, const char *text, size_t length, long long count)
{
	printf("%s\t%lld\t%lu\n", name, count,
	    crc32(0, (const unsigned char *)text, (unsigned)length));
}

/* The next code point that is no surrogate. */
static int32_t
next(int32_t code)
{
	return code == 0xD7FF ? 0xE000 : code + 1;
}

/* Whether no part of it is decomposed before marks are stripped. */
static bool
is_whole(int32_t c)
{
	int32_t part[UTF8_DECOMPOSED];

	return utf8_decompose(c, part) == 1 && part[0] == c;
}

static void
print_traits(struct sum *sum)
{
	static const char *const names[] = { "space", "punct", "mark", "control",
		"letter", "number", "word", "numeric", "combining" };
	int32_t part[2];

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		sum->length = 0;
		sum->count = 0;
		for (int32_t c = 0; c < 0x110000; c = next(c))
			if (utf8_traits(c) & 1U << i &&
			    (1U << i != UTF8_MARK || is_whole(c)))
				add(sum, c);
		print(names[i], sum->text, sum->length, sum->count);
	}
	sum->length = 0;
	for (int32_t c = 0; c < 0x110000; c = next(c)) {
		int count = utf8_lower(c, part);
		for (int i = 0; i < count; i++)
			add(sum, part[i]);
	}
	print("lower", sum->text, sum->length, (long long)sum->length);
}

/* Ranges of the characters that decompose, compose or are marks. */
static bool
is_mapped(int32_t c)
{
	return c < 0x3400 || (c >= 0xA000 && c < 0xAD00) ||
	       (c >= 0xD700 && c < 0x20000) || (c >= 0x2F800 && c < 0x2FA20) ||
	       (c >= 0xE0000 && c < 0xE0200);
}

static void
print_forms(struct sum *sum)
{
	static const char *const names[] = { "NFC", "NFD", "NFKC", "NFKD" };
	static const int32_t after[][3] = { { 0x301, 0x323 }, { 0x1161, 0x11A8 },
		{ 0x11A8 } };
	size_t one, length, made;
	char name[16];

	sum->length = 0;
	for (int32_t c = 0; c < 0x110000; c = next(c))
		if (is_mapped(c)) {
			add(sum, c);
			add(sum, '\n');
		}
	one = sum->length;
	for (int32_t c = 0; c < 0x110000; c = next(c)) {
		for (int i = 0; i < 3 && is_mapped(c); i++) {
			add(sum, c);
			for (const int32_t *more = after[i]; *more; more++)
				add(sum, *more);
		}
		if (is_mapped(c))
			add(sum, '\n');
	}
	char *apart = utf8_normal(sum->text, one, UTF8_NFD, &length);
	for (int form = UTF8_NFC; form <= UTF8_NFKD; form++) {
		char *text = utf8_normal(sum->text, sum->length, form, &made);
		print(names[form], text, made, (long long)made);
		free(text);
		text = utf8_normal(apart, length, form, &made);
		snprintf(name, sizeof name, "%s of NFD", names[form]);
		print(name, text, made, (long long)made);
		free(text);
	}
	free(apart);
}

/* Whether no cluster begins at LAST in the text FIRST, the character, BETWEEN, LAST. */
static bool
is_joined(const char *first, int32_t code, const char *between, const char *last)
{
	char text[32];
	size_t length = (size_t)(stpcpy(text, first) - text), at = 0;

	length += utf8_encode(code, text + length);
	size_t begin = (size_t)(stpcpy(text + length, between) - text);
	length = (size_t)(stpcpy(text + begin, last) - text);
	while (at < begin)
		at = utf8_cluster_end(text, length, at);
	return at > begin;
}

/* Prints the characters that extend a cluster; those that join two consonants (a prepended sign joins itself to the
 * second); those that a linked consonant joins. */
static void
print_clusters(struct sum *sum)
{
	static const char *const names[] = { "extends", "joins", "linked" };
	static const char ka[] = "\xE0\xA4\x95", kha[] = "\xE0\xA4\x96",
			  virama[] = "\xE0\xA5\x8D";
	char text[8] = "a";

	for (int i = 0; i < 3; i++) {
		sum->length = 0;
		sum->count = 0;
		for (int32_t c = 1; c < 0x110000; c = next(c)) {
			size_t length = 1 + utf8_encode(c, text + 1);
			if (i == 0   ? utf8_cluster_end(text, length, 0) == length
			    : i == 1 ? is_joined(ka, c, "", ka)
				     : is_joined("", c, virama, kha))
				add(sum, c);
		}
		print(names[i], sum->text, sum->length, sum->count);
	}
}

int
main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		struct sum sum = { .text = malloc(1 << 24) };
		print_traits(&sum);
		print_forms(&sum);
		print_clusters(&sum);
		free(sum.text);
		return 0;
	}
	check_codes();
	check_repair();
	check_forms();
	check_traits();
	return 0;
}
