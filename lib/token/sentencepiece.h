/*
 * sentencepiece - reads a model file of sentencepiece (spiece.model): pieces and normalization.
 *
 * The file is a protocol buffer: a sequence of fields, each a key (number << 3 | wire type) and a value.  Fields used:
 *
 *	ModelProto	1 pieces, 2 trainer_spec, 3 normalizer_spec
 *	SentencePiece	1 piece, 2 score (float), 3 type
 *	TrainerSpec	3 model_type, 24 treat_whitespace_as_suffix, 35 byte_fallback, 40 unk_id
 *	NormalizerSpec	2 precompiled_charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces, 5 escape_whitespaces
 */
#ifndef TOKEN_SENTENCEPIECE_H
#define TOKEN_SENTENCEPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SENTENCEPIECE_UNIGRAM = 1 };			    /* of `model` */
enum { SENTENCEPIECE_CONTROL = 3, SENTENCEPIECE_USER = 4 }; /* of `type` */

/* Texts are valid UTF-8, borrowed from the file's bytes. */
struct sentencepiece_piece {
	const char *text;
	size_t length;
	float score;
	int64_t type;
};

struct sentencepiece {
	struct sentencepiece_piece *piece;
	size_t count, room;
	const char *charsmap; /* NULL: none */
	size_t charsmap_length;
	int64_t model, unknown;
	bool byte_fallback, suffix, dummy_prefix, fewer_blanks, escape;
};

/* Dies if the bytes are not such a file.  path: for messages. */
struct sentencepiece *sentencepiece_read(
    const char *path, const char *bytes, size_t length);
void sentencepiece_free(struct sentencepiece *model);

#endif
