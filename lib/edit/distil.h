/*
 * distil - a table of static embeddings made of an encoder, as model2vec 0.10 makes it (Tulkens and van Dongen 2024).
 *
 * Each token t of the pruned vocabulary (token/pruned.h) by itself, with the special tokens that the tokenizer puts
 * around a text, goes through the model; x[t] is the mean of all its last hidden states, whatever the folder pools.
 * Then, of V tokens counted from 0,
 *
 *	y[t] = E (x[t] - mean of x)			E: the first eigenvectors of the covariance of x
 *	row t = y[t] a / (a + p[t])			a = 1e-4
 *	p[t] = 1 / (t + 2) / sum over all tokens of it	a frequency by Zipf's law: the vocabulary is in its order
 *
 * (SIF, Arora et al. 2017).  The sign of an eigenvector is that by which the greatest |y| is positive.  With no more
 * tokens than values wanted, y is x.
 */
#ifndef EDIT_DISTIL_H
#define EDIT_DISTIL_H

/* Make a folder of model2vec, rows of `width` values or the model's if those are fewer, in half precision, which are
 * brought to unit length after the mean.  Dies where the model has task experts or no blocks. */
void distil(const char *from, const char *dir, int width);

#endif
