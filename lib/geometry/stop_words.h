/*
 * stop_words - English words that say nothing of what a text is about: those of grammar, as words.h cuts them, so that
 * the halves of "don't" and "she'll" are among them.
 */
#ifndef GEOMETRY_STOP_WORDS_H
#define GEOMETRY_STOP_WORDS_H

/* In lower case, between blanks. */
extern const char stop_words_english[];

#endif
