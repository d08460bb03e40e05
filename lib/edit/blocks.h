/*
 * blocks - a model of some blocks of another, in any order: a smaller one of every second block, a deeper one that has blocks twice.
 */
#ifndef EDIT_BLOCKS_H
#define EDIT_BLOCKS_H

/*
 * Writes a folder with the `count` blocks blocks[count] of the model `from`, numbered anew.
 *
 * A repeated block is a copy that adds nothing yet, because the output layers of its attention and its MLP are
 * zeros (LLaMA Pro; Wu et al. 2024): where norms stand before the sums, embeddings stay the same.  Where norms follow the
 * sums, x = g n + b comes from a norm, and is normed twice more; one gain sqrt(mean(g^2) + var(b)) and one bias mean(b)
 * for all channels give back x but for each token's own variance (of width C, about sqrt(2 / C) of it).
 *
 * Task and token experts move with their blocks.  Dies naming the folder where blocks share weights, and where
 * config.json would give a block another window, rotation or MLP than it had.
 */
void model_stack_blocks(const char *from, const char *dir, const int *blocks, int count);

#endif
