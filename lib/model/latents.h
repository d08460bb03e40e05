/*
 * latents - NV-Embed's latent attention (Lee et al. 2024): each last hidden state attends to a learned table of latents, and goes
 * through an MLP.  With LayerNorms n, heads h of D channels and L latents l:
 *	y = x + sum_h Wo_h softmax(q_h K_h^T / sqrt(D)) V_h	q = Wq n(x), K = Wk n'(l), V = Wv n'(l)
 *	z = y + Wd (u gelu(g)) + b				u, g = Wu n''(y) + c
 * The embedding is pooled from z.  Keys and values depend on weights alone, and are made once, when the model is opened.
 */
#ifndef MODEL_LATENTS_H
#define MODEL_LATENTS_H

#include "model/head.h"
#include "model/model.h"

/* Makes model->latents; without latent attention NULL. */
void latents_open(struct model *model);
void latents_close(struct model *model);

/* x[T,C], in place. */
void latents_forward(const struct model *model, float *x, size_t T);

/* The pooling of a folder without modules.json: the mean, by config.json without the prompt and normalised. */
void latents_pool(struct head *head, const struct tree *config);

#endif
