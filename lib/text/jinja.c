#include "text/jinja.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/jinja_internal.h"

enum { DEPTH = 64, VALUE = 128 }; /* VALUE: bytes that a value takes */
/* Work of a rendering, and more of it for each byte of the texts. */
enum { WORK_MOST = 1 << 26, WORK_BYTE = 64 };

/* The words that end a block. */
static const char *const ends[] = { "elif", "else", "endif", "endfor" };
enum end { END_ELIF, END_ELSE, END_IF, END_FOR, END_TEXT };

void
jinja_die(const struct jinja_run *run, const char *format, ...)
{
	char what[512];
	va_list arguments;
	int line = 1;

	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	for (const char *p = run->template->source; p < run->at; p++)
		line += *p == '\n';
	die("%s: line %d of the chat template: %s", run->template->name, line, what);
}

void
jinja_fault(struct jinja_run *run, const char *what)
{
	if (!run->fault)
		run->fault = mem_string(what);
}

void
jinja_enter(struct jinja_run *run)
{
	if (++run->depth > DEPTH)
		jinja_die(run, "blocks, parentheses or lists nest deeper than %d", DEPTH);
}

void
jinja_work(struct jinja_run *run, size_t amount)
{
	run->work = mem_add(run->work, amount, run->template->name);
	if (run->work > run->most)
		jinja_die(run, "it takes more than %zu steps", run->most);
}

const struct tree *
jinja_keep(struct jinja_run *run, struct tree *tree, bool borrows)
{
	jinja_work(run, VALUE + tree->length + tree->capacity * sizeof *tree->items);
	run->values = mem_grow(
	    run->values, &run->value_room, run->value_count + 1, sizeof *run->values);
	run->values[run->value_count++] = (struct jinja_value){ tree, borrows };
	return tree;
}

bool
jinja_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
starts(const struct jinja_run *run, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(run->end - run->at) >= length && !memcmp(run->at, text, length);
}

/* Text. ---------------------------------------------------------------------------- */

/* Where the next tag begins, or the end. */
static const char *
next_tag(const struct jinja_run *run)
{
	const char *p = run->at;

	for (; p + 1 < run->end; p++)
		if (*p == '{' && (p[1] == '{' || p[1] == '%' || p[1] == '#'))
			return p;
	return run->end;
}

/* The end of the text from `at` to `tag` without the white space that the tag removes. */
static const char *
text_end(const struct jinja_run *run, const char *tag)
{
	const char *end = tag, *line;
	char mark = tag[2]; /* NUL at the end */

	if (mark == '-')
		while (end > run->at && jinja_space(end[-1]))
			end--;
	if (mark == '-' || mark == '+' || tag[1] == '{')
		return end;
	for (line = tag; line > run->at && (line[-1] == ' ' || line[-1] == '\t'); line--)
		;
	bool begins = line > run->at ? line[-1] == '\n' : run->line_start;
	return begins ? line : end;
}

/* Reads white space after a tag: all of it if it strips, else a newline after a block. */
static void
end_tag(struct jinja_run *run, bool strips, bool block)
{
	run->line_start = false;
	if (strips)
		while (run->at < run->end && jinja_space(*run->at))
			run->at++;
	else if (block && run->at < run->end && *run->at == '\n')
		run->at++;
	else
		return;
	run->line_start = run->at > run->template->source && run->at[-1] == '\n';
}

/* Reads the end of a tag. */
static void
close_tag(struct jinja_run *run, const char *sign)
{
	bool strips = jinja_sign(run, "-"), stays = !strips && jinja_sign(run, "+");

	if (!starts(run, sign))
		jinja_die(run, "'%.*s' is not known there",
		    (int)(run->end - run->at < 16 ? run->end - run->at : 16), run->at);
	run->at += 2;
	end_tag(run, strips, *sign == '%' && !stays);
}

/* Reads the rest of a tag or comment, whatever it holds; texts in quotes in a tag may hold the sign. */
static void
skip_tag(struct jinja_run *run, const char *sign)
{
	const char *before = run->at;
	bool comment = *sign == '#';
	char quote = 0;

	for (; run->at < run->end; run->at++) {
		if (quote && *run->at == '\\' && run->at + 1 < run->end)
			run->at++;
		else if (quote)
			quote = *run->at == quote ? 0 : quote;
		else if (!comment && (*run->at == '"' || *run->at == '\''))
			quote = *run->at;
		else if (starts(run, sign)) {
			bool strips = run->at[-1] == '-', stays = run->at[-1] == '+';
			run->at += 2;
			jinja_work(run, (size_t)(run->at - before));
			end_tag(run, strips, *sign != '}' && !stays);
			return;
		}
	}
	jinja_die(run, "a %s has no end", comment ? "comment" : "tag");
}

/* Statements. ---------------------------------------------------------------------- */

static enum end render(struct jinja_run *run, bool live);

static void
set_local(
    struct jinja_run *run, const char *name, size_t length, const struct tree *value)
{
	run->locals =
	    mem_grow(run->locals, &run->room, run->count + 1, sizeof *run->locals);
	run->locals[run->count++] = (struct jinja_local){ name, length, value };
}

static void
run_set(struct jinja_run *run)
{
	const char *name, *member = NULL;
	size_t length = jinja_name(run, &name);

	if (length && jinja_sign(run, "."))
		member = jinja_need_name(run);
	if (!length || !jinja_sign(run, "="))
		jinja_die(run, "'set' is supported as 'set NAME = VALUE'");
	const struct tree *value = jinja_expression(run);
	close_tag(run, "%}");
	if (member)
		jinja_assign(run, jinja_variable(run, name, length), member, value);
	else
		set_local(run, name, length, value);
}

/* Blocks after "if": live is that of the whole. */
static void
run_if(struct jinja_run *run, bool live)
{
	bool done = false, branch = false;
	enum end end = END_ELIF;

	for (; end == END_ELIF || end == END_ELSE;) {
		branch = live && !done;
		if (branch && end == END_ELIF) {
			branch = jinja_true(jinja_expression(run));
			close_tag(run, "%}");
		} else {
			skip_tag(run, "%}");
		}
		done |= branch;
		end = render(run, branch);
	}
	if (end != END_IF)
		jinja_die(run, "'if' has no 'endif'");
	skip_tag(run, "%}");
}

static const struct tree *
loop_of(struct jinja_run *run, size_t i, size_t count)
{
	struct tree *loop = tree_object();

	tree_set(loop, "index", tree_of_integer((int64_t)i + 1));
	tree_set(loop, "index0", tree_of_integer((int64_t)i));
	tree_set(loop, "first", tree_of_boolean(!i));
	tree_set(loop, "last", tree_of_boolean(i + 1 == count));
	tree_set(loop, "length", tree_of_integer((int64_t)count));
	tree_set(loop, "revindex", tree_of_integer((int64_t)(count - i)));
	tree_set(loop, "revindex0", tree_of_integer((int64_t)(count - i - 1)));
	return jinja_keep(run, loop, false);
}

/* The items of a list for which the condition at this place is true. */
static const struct tree *
filter(struct jinja_run *run, const struct tree *list, const char *name, size_t length)
{
	struct tree *made = jinja_list(run, list->count);
	const char *condition = run->at;

	for (size_t i = 0; i < list->count; i++) {
		run->at = condition;
		set_local(run, name, length, list->items[i]);
		if (jinja_true(jinja_expression(run)))
			made->items[made->count++] = list->items[i];
		run->count--;
	}
	return made;
}

/* Reads a for tag, "NAME in LIST" or "NAME in LIST if CONDITION"; returns the list of the loop. */
static const struct tree *
read_loop(struct jinja_run *run, const char **name, size_t *length)
{
	*length = jinja_name(run, name);
	if (!*length || !jinja_word(run, "in"))
		jinja_die(run, "'for' is supported as 'for NAME in LIST'");
	const struct tree *list = jinja_choice(run);
	if (list && list->kind != TREE_LIST)
		jinja_die(run, "'for' is supported for lists");
	bool filters = jinja_word(run, "if");
	if (filters && list && list->count)
		list = filter(run, list, *name, *length);
	else if (filters) {
		skip_tag(run, "%}");
		return list;
	}
	close_tag(run, "%}");
	return list;
}

static void
run_for(struct jinja_run *run, bool live)
{
	const struct tree *list = NULL;
	const char *name = NULL;
	size_t length = 0, locals = run->count;

	if (live)
		list = read_loop(run, &name, &length);
	else
		skip_tag(run, "%}");
	const char *body = run->at;
	bool line_start = run->line_start;
	size_t count = list ? list->count : 0;
	enum end end;
	for (size_t i = 0; i < (count ? count : 1); i++) {
		run->at = body;
		run->line_start = line_start;
		if (count) {
			set_local(run, name, length, list->items[i]);
			set_local(run, "loop", 4, loop_of(run, i, count));
		}
		end = render(run, count);
		run->count = locals;
		if (end == END_ELSE) {
			skip_tag(run, "%}");
			end = render(run, live && !count);
			run->count = locals;
		}
		if (end != END_FOR)
			jinja_die(run, "'for' has no 'endfor'");
	}
	skip_tag(run, "%}");
}

/* A statement whose word was not yet read; returns the end that it is, END_TEXT: none. */
static enum end
run_statement(struct jinja_run *run, bool live)
{
	const char *word;
	size_t length;

	for (int i = 0; i < END_TEXT; i++)
		if (jinja_word(run, ends[i]))
			return (enum end)i;
	jinja_enter(run);
	if (jinja_word(run, "if"))
		run_if(run, live);
	else if (jinja_word(run, "for"))
		run_for(run, live);
	else if (!live)
		skip_tag(run, "%}");
	else if (jinja_word(run, "set"))
		run_set(run);
	else if (jinja_word(run, "generation") || jinja_word(run, "endgeneration"))
		close_tag(run, "%}"); /* transformers marks what a model says */
	else if ((length = jinja_name(run, &word)) > 0)
		jinja_die(run, "'%.*s' is not known", (int)length, word);
	else
		jinja_die(run, "a tag has no statement");
	run->depth--;
	return END_TEXT;
}

/* Renders up to the end of the block, whose word is read.  live: the text counts. */
static enum end
render(struct jinja_run *run, bool live)
{
	while (run->at < run->end) {
		const char *tag = next_tag(run);
		jinja_work(run, 1 + (size_t)(tag - run->at));
		const char *stop = tag < run->end ? text_end(run, tag) : tag;
		if (live)
			buffer_add(&run->out, run->at, (size_t)(stop - run->at));
		if (tag == run->end) {
			run->at = tag;
			break;
		}
		run->at = tag + 2;
		bool marked = run->at < run->end && (*run->at == '-' || *run->at == '+');
		run->at += marked;
		if (tag[1] == '#') {
			skip_tag(run, "#}");
		} else if (tag[1] == '{' && live) {
			size_t before = run->out.used;
			jinja_print(run, &run->out, jinja_expression(run));
			jinja_work(run, run->out.used - before);
			if (run->fault)
				jinja_die(run, "%s", run->fault);
			close_tag(run, "}}");
		} else if (tag[1] == '{') {
			skip_tag(run, "}}");
		} else {
			enum end end = run_statement(run, live);
			if (end != END_TEXT)
				return end;
		}
	}
	return END_TEXT;
}

/* ---------------------------------------------------------------------------------- */

struct jinja *
jinja_new(const char *source, size_t length, const char *name)
{
	struct jinja *template = mem_zero(1, sizeof *template);
	char *to = template->source = mem_new(length + 1, 1);

	for (size_t i = 0; i < length; i++) {
		bool ends_line = source[i] == '\r';
		*to++ = ends_line ? '\n' : source[i];
		i += ends_line && i + 1 < length && source[i + 1] == '\n';
	}
	if (to > template->source && to[-1] == '\n')
		to--;
	*to = '\0';
	template->length = (size_t)(to - template->source);
	template->name = mem_string(name);
	return template;
}

void
jinja_free(struct jinja *template)
{
	if (!template)
		return;
	free(template->name);
	free(template->source);
	free(template);
}

static void
free_values(struct jinja_run *run)
{
	for (size_t i = 0; i < run->value_count; i++) {
		struct jinja_value *value = &run->values[i];
		if (value->borrows)
			value->tree->count = 0;
		tree_free(value->tree);
	}
	free(run->values);
	free(run->members);
	free(run->locals);
}

/* Bytes of a value's texts. */
static size_t
text_size(const struct tree *value)
{
	size_t size = value->length;

	for (size_t i = 0; i < value->count; i++)
		size = mem_add(size, text_size(value->items[i]), "a text");
	return size;
}

char *
jinja_render(const struct jinja *template, const struct tree *variables, size_t *length)
{
	struct jinja_run run = { .template = template,
		.at = template->source,
		.end = template->source + template->length,
		.line_start = true,
		.most = mem_add(WORK_MOST,
		    mem_multiply(text_size(variables), WORK_BYTE, "a text"), "a text"),
		.variables = variables };

	enum end end = render(&run, true);
	if (end != END_TEXT)
		jinja_die(&run, "'%s' has no beginning", ends[end]);
	buffer_add(&run.out, "", 1);
	*length = run.out.used - 1;
	free_values(&run);
	return run.out.data;
}
