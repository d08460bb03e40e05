#include "token/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

struct frame {
	const struct tokenizer *tokenizer;
	const struct template *template;
	struct chat *chat; /* NULL: none */
	enum frame_prepare prepare;
	size_t most;
	char *prompt;	    /* set by frame_prompt; NULL: not yet */
	char prompt_end;    /* last byte of the prompt; NUL: none */
	char *head, *after; /* BEFORE PROMPT; AFTER */
	size_t head_length, after_length;
	size_t head_tokens;
	struct ids tail;
	size_t characters; /* most characters of head and text; 0: no limit */
	int32_t unknown;   /* id to remove; -1: none */
};

struct frame *
frame_new(const struct tokenizer *tokenizer, const struct template *template,
    enum frame_prepare prepare, size_t most)
{
	struct frame *frame = mem_zero(1, sizeof *frame);

	*frame = (struct frame){ .tokenizer = tokenizer,
		.template = template,
		.prepare = prepare,
		.most = most,
		.unknown = -1 };
	const struct tokenizer_static *table = tokenizer_static(tokenizer);
	if (table) {
		frame->unknown = table->unknown;
		frame->characters =
		    most ? mem_multiply(most, table->characters, "characters") : 0;
	}
	return frame;
}

struct frame *
frame_new_chat(const struct tokenizer *tokenizer, struct chat *chat, size_t most)
{
	struct frame *frame = frame_new(tokenizer, NULL, FRAME_NONE, most);

	frame->chat = chat;
	return frame;
}

static void
replace(char *text, size_t length, char from, char to)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] == from)
			text[i] = to;
}

static void
set_strings(struct frame *frame, const char *prompt)
{
	const char *before = frame->template ? frame->template->before : "";
	char *head = mem_format("%s%s", before, prompt);
	char *after = mem_string(frame->template ? frame->template->after : "");

	if (frame->prepare == FRAME_MOEE) {
		replace(head + strlen(before), strlen(prompt), '"', '\'');
		replace(head, strlen(head), '_', ' ');
		replace(after, strlen(after), '_', ' ');
		size_t first = utf8_space_end(head, strlen(head), 0);
		memmove(head, head + first, strlen(head + first) + 1);
		after[utf8_space_start(after, strlen(after), 0)] = '\0';
	}
	frame->head = head;
	frame->after = after;
	frame->head_length = strlen(head);
	frame->after_length = strlen(after);
}

/* The ids of a text with special tokens. */
static struct ids
encode(const struct frame *frame, const char *text)
{
	struct ids ids = { 0 };

	tokenizer_encode(frame->tokenizer, text, strlen(text), 0, true, &ids);
	return ids;
}

/* Sets TAIL (frame.h). */
static void
set_tail(struct frame *frame, size_t before, size_t after)
{
	char *text = mem_format("a%s", frame->after);
	struct ids behind = encode(frame, text), word = encode(frame, "a"),
		   alone = encode(frame, frame->after);
	size_t first = word.count - after;
	int32_t code = 0;

	if (frame->after_length)
		utf8_decode(frame->after, frame->after_length, &code);
	bool joined = (code > 0 && utf8_traits(code) & UTF8_WORD) ||
		      behind.count < first + after ||
		      (first && memcmp(behind.id, word.id, first * sizeof *word.id));
	const struct ids *from = joined ? &alone : &behind;
	for (size_t i = joined ? before : first; i < from->count; i++)
		ids_push(&frame->tail, from->id[i]);
	ids_free(&behind);
	ids_free(&word);
	ids_free(&alone);
	free(text);
}

/* The prompt is the chat's instruction. */
static void
instruct(struct frame *frame, const char *prompt)
{
	chat_instruct(frame->chat, *prompt ? prompt : NULL);
	size_t least = chat_least(frame->chat);
	if (frame->most && least >= frame->most)
		die("%s: the chat template by itself takes %zu ids, and all is to have %zu at most; give more with --max-length",
		    chat_where(frame->chat), least, frame->most);
}

void
frame_prompt(struct frame *frame, const char *prompt)
{
	size_t before, after;

	if (frame->prompt && !strcmp(frame->prompt, prompt))
		return;
	free(frame->prompt);
	free(frame->head);
	free(frame->after);
	frame->prompt = mem_string(prompt);
	frame->head = frame->after = NULL;
	if (frame->chat) {
		instruct(frame, prompt);
		return;
	}
	frame->prompt_end = '\0';
	if (*prompt)
		frame->prompt_end = prompt[strlen(prompt) - 1];
	frame->tail.count = 0;
	set_strings(frame, prompt);
	tokenizer_template(frame->tokenizer, &before, &after);
	struct ids head = encode(frame, frame->head);
	frame->head_tokens = head.count - after;
	ids_free(&head);
	set_tail(frame, before, after);
	size_t around = frame->tail.count;
	if (!tokenizer_cuts_left(frame->tokenizer))
		around += frame->head_tokens;
	if (frame->most && before + after > frame->most)
		die("the special tokens by themselves are %zu ids, and all is to have %zu at most; give more with --max-length",
		    before + after, frame->most);
	if ((frame->template || *prompt) && frame->most && around >= frame->most)
		die("the %s by itself takes %zu ids, and all is to have %zu at most; give more with --max-length",
		    frame->template ? "template" : "prompt", around, frame->most);
}

size_t
frame_head(const struct frame *frame)
{
	return frame->head_length ? frame->head_tokens : 0;
}

/* Prepares a text as MoEE does, in place, where one byte more has room; returns its new length. */
static size_t
prepare(const struct frame *frame, char *text, size_t length)
{
	char last = length ? text[length - 1] : frame->prompt_end;

	if (!last || !strchr(".?!\"'", last))
		text[length++] = '.';
	replace(text, length, '"', '\'');
	replace(text, length, '_', ' ');
	return length;
}

/* Bytes of the text before the limit in characters. */
static size_t
taken(const struct frame *frame, const char *text, size_t length)
{
	size_t left = frame->characters, at = 0;
	int32_t code;

	if (!left || frame->head_length + length <= left)
		return length;
	for (size_t i = 0; i < frame->head_length && left; left--)
		i += utf8_decode(frame->head + i, frame->head_length - i, &code);
	for (; at < length && left; left--)
		at += utf8_decode(text + at, length - at, &code);
	return at;
}

static void
leave_out(struct ids *ids, size_t from, int32_t id)
{
	size_t kept = from;

	for (size_t i = from; i < ids->count; i++)
		if (ids->id[i] != id)
			ids->id[kept++] = ids->id[i];
	ids->count = kept;
}

bool
frame_encode(const struct frame *frame, const char *text, size_t length,
    struct framed *string, struct ids *out)
{
	size_t head = frame->head_length, tail = frame->tail.count;
	size_t whole = length, first_id = out->count;

	if (frame->chat)
		return chat_encode(
		    frame->chat, &(struct chat_text){ text, length }, frame->most, out);
	length = taken(frame, text, length);
	bool shorter = length < whole;
	if (head || frame->after_length || frame->prepare) {
		size_t around = mem_add(head, frame->after_length + 1, "a text");
		string->text = mem_grow(
		    string->text, &string->room, mem_add(around, length, "a text"), 1);
		memcpy(string->text, frame->head, head);
		memcpy(string->text + head, text, length);
		if (frame->prepare == FRAME_MOEE)
			length = prepare(frame, string->text + head, length);
		memcpy(string->text + head + length, frame->after, frame->after_length);
		text = string->text;
		length += head + frame->after_length;
	}
	if (frame->prepare) {
		size_t first = utf8_space_end(text, length, 0);
		length = utf8_space_start(text, length, first) - first;
		text += first;
	}
	bool cut =
	    tokenizer_encode(frame->tokenizer, text, length, frame->most, true, out);
	if (cut && frame->after_length && !tokenizer_cuts_left(frame->tokenizer))
		memcpy(
		    out->id + out->count - tail, frame->tail.id, tail * sizeof *out->id);
	if (frame->unknown >= 0)
		leave_out(out, first_id, frame->unknown);
	return cut || shorter;
}

void
frame_free(struct frame *frame)
{
	chat_free(frame->chat);
	free(frame->prompt);
	free(frame->head);
	free(frame->after);
	ids_free(&frame->tail);
	free(frame);
}
