#include "token/sentencepiece.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* A message being read. */
struct protobuf_message {
	const char *path;
	const unsigned char *at, *end;
};

struct protobuf_field {
	uint64_t number;
	enum wire wire;
	uint64_t value;	   /* VARINT, FIXED32, FIXED64 */
	const char *bytes; /* BYTES */
	size_t length;
};

_Noreturn static void
die_damaged(const char *path)
{
	die("%s: not a model of sentencepiece, or damaged", path);
}

static uint64_t
varint(struct protobuf_message *message)
{
	uint64_t value = 0;

	for (int shift = 0; message->at < message->end && shift < 64; shift += 7) {
		unsigned char byte = *message->at++;
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
	die_damaged(message->path);
}

static uint64_t
fixed(struct protobuf_message *message, size_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(message->end - message->at) < bytes)
		die_damaged(message->path);
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)*message->at++ << 8 * i;
	return value;
}

/* The next field of a message; false at its end. */
static bool
next(struct protobuf_message *message, struct protobuf_field *field)
{
	if (message->at == message->end)
		return false;
	uint64_t key = varint(message);
	*field =
	    (struct protobuf_field){ .number = key >> 3, .wire = (enum wire)(key & 7) };
	switch (field->wire) {
	case VARINT: field->value = varint(message); break;
	case FIXED64: field->value = fixed(message, 8); break;
	case FIXED32: field->value = fixed(message, 4); break;
	case BYTES:
		field->value = varint(message);
		if (field->value > (uint64_t)(message->end - message->at))
			die_damaged(message->path);
		field->length = (size_t)field->value;
		field->bytes = (const char *)message->at;
		message->at += field->length;
		break;
	default: die_damaged(message->path);
	}
	return true;
}

/* A message that is the value of a field. */
static struct protobuf_message
inner(const struct protobuf_message *message, const struct protobuf_field *field)
{
	const unsigned char *bytes = (const unsigned char *)field->bytes;

	if (field->wire != BYTES)
		die_damaged(message->path);
	return (struct protobuf_message){ message->path, bytes, bytes + field->length };
}

static void
read_piece(struct sentencepiece *model, struct protobuf_message message)
{
	struct sentencepiece_piece piece = { .text = "", .type = 1 };
	struct protobuf_field field;

	while (next(&message, &field)) {
		uint32_t bits = (uint32_t)field.value;
		if (field.number == 1 && field.wire == BYTES) {
			piece.text = field.bytes;
			piece.length = field.length;
		} else if (field.number == 2 && field.wire == FIXED32) {
			memcpy(&piece.score, &bits, sizeof bits);
		} else if (field.number == 3 && field.wire == VARINT) {
			piece.type = (int64_t)field.value;
		}
	}
	if (utf8_valid(piece.text, piece.length) != piece.length)
		die("%s: piece %zu is not UTF-8", message.path, model->count);
	model->piece =
	    mem_grow(model->piece, &model->room, model->count + 1, sizeof *model->piece);
	model->piece[model->count++] = piece;
}

static void
read_trainer(struct sentencepiece *model, struct protobuf_message message)
{
	struct protobuf_field field;

	while (next(&message, &field)) {
		if (field.wire != VARINT)
			continue;
		switch (field.number) {
		case 3: model->model = (int64_t)field.value; break;
		case 24: model->suffix = field.value; break;
		case 35: model->byte_fallback = field.value; break;
		case 40: model->unknown = (int64_t)field.value; break;
		default: break;
		}
	}
}

static void
read_normalizer(struct sentencepiece *model, struct protobuf_message message)
{
	struct protobuf_field field;

	while (next(&message, &field)) {
		if (field.number == 2 && field.wire == BYTES && field.length) {
			model->charsmap = field.bytes;
			model->charsmap_length = field.length;
		}
		if (field.wire != VARINT)
			continue;
		switch (field.number) {
		case 3: model->dummy_prefix = field.value; break;
		case 4: model->fewer_blanks = field.value; break;
		case 5: model->escape = field.value; break;
		default: break;
		}
	}
}

struct sentencepiece *
sentencepiece_read(const char *path, const char *bytes, size_t length)
{
	struct sentencepiece *model = mem_zero(1, sizeof *model);
	const unsigned char *start = (const unsigned char *)bytes;
	struct protobuf_message message = { path, start, start + length };
	struct protobuf_field field;
	bool trainer = false, normalizer = false;

	model->model = SENTENCEPIECE_UNIGRAM; /* defaults of the format */
	model->dummy_prefix = model->fewer_blanks = model->escape = true;
	while (next(&message, &field)) {
		if (field.number == 1)
			read_piece(model, inner(&message, &field));
		else if (field.number == 2)
			read_trainer(model, inner(&message, &field));
		else if (field.number == 3)
			read_normalizer(model, inner(&message, &field));
		trainer |= field.number == 2;
		normalizer |= field.number == 3;
	}
	if (!model->count)
		die("%s: has no pieces; it is not a model of sentencepiece", path);
	if (!trainer || !normalizer)
		die("%s: has no %s; it is cut short", path,
		    trainer ? "normalizer_spec" : "trainer_spec");
	return model;
}

void
sentencepiece_free(struct sentencepiece *model)
{
	free(model->piece);
	free(model);
}
