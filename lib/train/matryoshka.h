/*
 * matryoshka - a loss of the first components of the embeddings, of several widths, so that a vector can be cut (Kusupati et al. 2022).
 *
 * The loss is the weighted sum of the losses of the vectors cut to each width.
 */
#ifndef TRAIN_MATRYOSHKA_H
#define TRAIN_MATRYOSHKA_H

#include <stddef.h>

struct matryoshka;

/* text: "384,256:0.5,128": widths, each with a weight, by default 1.  Dies naming --matryoshka if one is not below or equal to the
 * model's `width`. */
struct matryoshka *matryoshka_new(const char *text, size_t width);
void matryoshka_free(struct matryoshka *matryoshka);

/* Width `index`; 0: there are no more.  Sets its weight. */
size_t matryoshka_width(
    const struct matryoshka *matryoshka, size_t index, double *weight);

/* The first components of vectors [count, width of the model] as an array [count, width `index`], and room for its gradient; both nn
 * memory, borrowed until the next call. */
float *matryoshka_cut(struct matryoshka *matryoshka, size_t index, const float *vectors,
    size_t count, float **gradient);

/* Adds that gradient times the weight to the one of the whole vectors. */
void matryoshka_add(struct matryoshka *matryoshka, size_t index, float *gradient);

#endif
