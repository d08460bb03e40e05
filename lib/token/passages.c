#include "token/passages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/outline.h"

/* Upper bound of the mean bytes of a token in a passage of text. */
enum { TOKEN_BYTES = 64 };

struct passages {
	const struct tokenizer *tokenizer;
	struct frame *frame;
	size_t most, overlap;
};

/* The state of a document. */
struct cutter {
	const struct passages *passages;
	const char *text;
	size_t length;
	const char *head; /* [head_length]; 0: none */
	size_t head_length;
	char *headed; /* the head, a blank and a piece of the text */
	size_t headed_room;
	struct outline outline;
	struct framed string;
	struct ids ids;
	size_t counted; /* offset whose line is `line` */
	int64_t line;
	struct passage_list *to;
};

struct passages *
passages_new(struct frame *frame, const struct tokenizer *tokenizer, const char *prompt,
    size_t most, size_t overlap)
{
	struct passages *passages = mem_zero(1, sizeof *passages);

	*passages = (struct passages){ tokenizer, frame, most, overlap };
	frame_prompt(passages->frame, prompt ? prompt : "");
	return passages;
}

/* Measuring. ----------------------------------------------------------------------- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

typedef bool is_place(const struct cutter *cutter, size_t at);

static bool
is_character(const struct cutter *cutter, size_t at)
{
	return at == cutter->length || ((unsigned char)cutter->text[at] & 0xC0) != 0x80;
}

static bool
is_word_end(const struct cutter *cutter, size_t at)
{
	return at && !is_blank(cutter->text[at - 1]) &&
	       (at == cutter->length || is_blank(cutter->text[at]));
}

static bool
is_word(const struct cutter *cutter, size_t at)
{
	return at && is_blank(cutter->text[at - 1]) &&
	       (at == cutter->length || !is_blank(cutter->text[at]));
}

/* The last place in (least, most] that `is` accepts; 0: none. */
static size_t
last_place(const struct cutter *cutter, is_place *is, size_t least, size_t most)
{
	for (size_t at = most; at > least; at--)
		if (is(cutter, at))
			return at;
	return 0;
}

/* A place inside (low, high), near `at` if that is inside, else in the middle; 0: none. */
static size_t
place_inside(
    const struct cutter *cutter, is_place *is, size_t low, size_t high, size_t at)
{
	at = at > low && at < high ? at : (low + high) / 2;
	size_t found = last_place(cutter, is, low, at);
	while (!found && ++at < high)
		if (is(cutter, at))
			found = at;
	return found;
}

static bool
fits(struct cutter *cutter, size_t from, size_t to)
{
	const char *text = cutter->text + from;
	size_t length = to - from, head = cutter->head_length;

	cutter->ids.count = 0;
	if (head) {
		cutter->headed =
		    mem_grow(cutter->headed, &cutter->headed_room, head + 1 + length, 1);
		memcpy(cutter->headed, cutter->head, head);
		cutter->headed[head] = ' ';
		memcpy(cutter->headed + head + 1, text, length);
		text = cutter->headed;
		length += head + 1;
	}
	return !frame_encode(
	    cutter->passages->frame, text, length, &cutter->string, &cutter->ids);
}

/* The last such place up to which the text makes a passage, where it does not up to `high`; `from`: there is none.
 * The beginning of a word may be more tokens than the word, so that only places of one kind are compared. */
static size_t
reach_place(struct cutter *cutter, is_place *is, size_t from, size_t high)
{
	size_t most = cutter->passages->most;
	size_t low = from, guess = from + 4 * most, probe;

	while ((probe = place_inside(cutter, is, low, high, guess))) {
		guess = 0;
		if (fits(cutter, from, probe)) {
			low = probe;
			guess = low + (most - cutter->ids.count + 1) * (low - from) /
					  (cutter->ids.count + 1);
		} else {
			high = probe;
		}
	}
	return low;
}

/* The farthest end of a passage: of a word, or if the first word does not fit, of a character. */
static size_t
reach(struct cutter *cutter, size_t from, size_t end)
{
	size_t most = TOKEN_BYTES * cutter->passages->most, high = end, at;

	if (end - from > most) {
		high = last_place(cutter, is_word_end, from, from + most);
		high = high ? high : last_place(cutter, is_character, from, from + most);
	}
	if (fits(cutter, from, high))
		return high;
	if ((at = reach_place(cutter, is_word_end, from, high)) > from ||
	    (at = reach_place(cutter, is_character, from, high)) > from)
		return at;
	return place_inside(cutter, is_character, from, high + 1, from + 1);
}

/* The first word after `from` from which the text up to `end` has at most `overlap` tokens; `end`: none. */
static size_t
reach_back(struct cutter *cutter, size_t from, size_t end)
{
	const struct passages *passages = cutter->passages;
	size_t low = from, high = end, probe;

	if (end - from > TOKEN_BYTES * passages->overlap)
		low = end - TOKEN_BYTES * passages->overlap;
	while ((probe = place_inside(cutter, is_word, low, high, 0))) {
		cutter->ids.count = 0;
		tokenizer_encode(passages->tokenizer, cutter->text + probe, end - probe,
		    0, false, &cutter->ids);
		if (cutter->ids.count > passages->overlap)
			low = probe;
		else
			high = probe;
	}
	return high;
}

/* Places. -------------------------------------------------------------------------- */

/* Whether a list item or a row of a table starts at `at`. */
static bool
is_item(const struct cutter *cutter, size_t at)
{
	const char *text = cutter->text + at, *end = cutter->text + cutter->length;
	const char *digits = text;

	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	if (end - text < 2)
		return false;
	if (strchr("-*+", *text) && *text)
		return text[1] == ' ';
	for (digits = text; text < end && *text >= '0' && *text <= '9';)
		text++;
	return *digits == '|' || (text > digits && end - text >= 2 &&
				     (*text == '.' || *text == ')') && text[1] == ' ');
}

/* Whether a sentence starts at `at`: after . ? ! and white space, after a full stop of Chinese or Japanese, or at the
 * start of a block or list item. */
static bool
is_sentence(const struct cutter *cutter, size_t at)
{
	const char *text = cutter->text;
	size_t last = at;

	if (at >= 3 &&
	    (!memcmp(text + at - 3, "\u3002", 3) || !memcmp(text + at - 3, "\uFF01", 3) ||
		!memcmp(text + at - 3, "\uFF1F", 3)))
		return true;
	if (!at || !is_blank(text[at - 1]))
		return false;
	if (text[at - 1] == '\n' &&
	    (is_item(cutter, at) || (at > 1 && text[at - 2] == '\n')))
		return true;
	while (last && is_blank(text[last - 1]))
		last--;
	while (last && strchr("\"')]*_`", text[last - 1]) && text[last - 1])
		last--;
	return last && text[last - 1] && strchr(".?!", text[last - 1]);
}

static bool
is_line(const struct cutter *cutter, size_t at)
{
	return at && cutter->text[at - 1] == '\n';
}

/* The last mark at or before a byte. */
static size_t
mark_of(const struct cutter *cutter, size_t at)
{
	size_t low = 0, high = cutter->outline.count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		if (cutter->outline.marks[middle].at <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The end of a passage that starts at `from`, in (least, most]. */
static size_t
choose(const struct cutter *cutter, size_t from, size_t least, size_t most)
{
	const struct outline_mark *marks = cutter->outline.marks;
	size_t half = from + (most - from) / 2, at;

	for (size_t m = mark_of(cutter, most); marks[m].at > least; m--)
		if (!marks[m].bound)
			return marks[m].at;
	if (half < least)
		half = least;
	bool code = marks[mark_of(cutter, most - 1)].kind == OUTLINE_CODE;
	if (!code && (at = last_place(cutter, is_sentence, half, most)))
		return at;
	if ((at = last_place(cutter, is_line, half, most)) ||
	    (at = last_place(cutter, is_word, least, most)))
		return at;
	return most;
}

/* The start of the next passage inside this one: of a sentence, in code of a line, else of a word; `end`: no overlap.
 * */
static size_t
overlap(struct cutter *cutter, size_t from, size_t end)
{
	size_t first = reach_back(cutter, from, end);
	bool code = cutter->outline.marks[mark_of(cutter, first)].kind == OUTLINE_CODE;
	is_place *is = code ? is_line : is_sentence;

	for (size_t at = first; at < end; at++)
		if (is(cutter, at) && !is_blank(cutter->text[at]))
			return at;
	return first;
}

/* Cutting. ------------------------------------------------------------------------- */

/* Skips white space from `at`, but keeps the indentation of a line. */
static size_t
begin(const struct cutter *cutter, size_t at, size_t end)
{
	size_t first = utf8_space_end(cutter->text, end, at), line = first;

	while (line > at &&
	       (cutter->text[line - 1] == ' ' || cutter->text[line - 1] == '\t'))
		line--;
	return !line || is_line(cutter, line) ? line : first;
}

static int64_t
line_of(struct cutter *cutter, size_t at)
{
	for (; cutter->counted < at; cutter->counted++)
		cutter->line += cutter->text[cutter->counted] == '\n';
	for (; cutter->counted > at; cutter->counted--)
		cutter->line -= cutter->text[cutter->counted - 1] == '\n';
	return cutter->line;
}

static void
put(struct cutter *cutter, size_t from, size_t to)
{
	struct passage_list *list = cutter->to;

	to = utf8_space_start(cutter->text, to, from);
	if (to == from)
		return;
	list->items =
	    mem_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
	list->items[list->count++] = (struct passage){ from, to, line_of(cutter, from) };
}

/* Cuts a section. */
static void
cut_section(struct cutter *cutter, size_t from, size_t end)
{
	from = begin(cutter, from, end); /* the outline knows ASCII's white space alone */
	size_t done = from;		 /* the text before it is in passages */

	end = utf8_space_start(cutter->text, end, from);
	while (from < end) {
		size_t most = reach(cutter, from, end), to = end;
		if (most <= done && from < done) {
			from = done; /* the overlap leaves no room */
			continue;
		}
		most = utf8_space_end(cutter->text, end, most);
		if (most < end)
			to = choose(cutter, from, done, most);
		/* the end of a text may have more tokens than the same bytes before another word */
		while (to < end &&
		       !fits(cutter, from, utf8_space_start(cutter->text, to, from)) &&
		       (most = last_place(cutter, is_character, done, to - 1)))
			to = choose(cutter, from, done, most);
		put(cutter, from, to);
		done = begin(cutter, to, end);
		size_t again = done;
		if (cutter->passages->overlap && done < end)
			again = begin(cutter, overlap(cutter, from, to), end);
		from = again > from && again < to ? again : done;
	}
}

/* Sets the head if it leaves half of the ids to the text. */
static void
set_head(struct cutter *cutter, const char *head, size_t length)
{
	cutter->ids.count = 0;
	tokenizer_encode(
	    cutter->passages->tokenizer, head, length, 0, false, &cutter->ids);
	if (cutter->ids.count > cutter->passages->most / 2)
		return;
	cutter->head = head;
	cutter->head_length = length;
}

void
passages_cut(const struct passages *passages, const struct passage_text *text,
    struct passage_list *to)
{
	struct cutter cutter = { .passages = passages,
		.text = text->text,
		.length = text->length,
		.line = 1,
		.to = to };

	if (text->head_length)
		set_head(&cutter, text->head, text->head_length);
	outline_read(&cutter.outline, text->text, text->length, text->rst);
	for (size_t m = 0; m < cutter.outline.count;) {
		size_t from = cutter.outline.marks[m].at;
		do
			m++;
		while (m < cutter.outline.count &&
		       (cutter.outline.marks[m].kind != OUTLINE_SECTION ||
			   cutter.outline.marks[m].bound));
		cut_section(&cutter, from,
		    m < cutter.outline.count ? cutter.outline.marks[m].at : text->length);
	}
	outline_free(&cutter.outline);
	free(cutter.string.text);
	free(cutter.headed);
	ids_free(&cutter.ids);
}

void
passages_free(struct passages *passages)
{
	frame_free(passages->frame);
	free(passages);
}
