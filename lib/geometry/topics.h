/*
 * topics - the words that tell the clusters of texts apart: class-based TF-IDF (Grootendorst 2022, section 3.3).
 *
 * With n(w, c) of a word in the texts of a cluster, n(w) in all of them, and A words in a cluster on average,
 *
 *	weight(w, c) = n(w, c) log(1 + A / n(w))
 *
 * over the words that count: those of words.h of `least` letters at least, in no more than this share of the texts, and
 * not in `stop`.
 */
#ifndef GEOMETRY_TOPICS_H
#define GEOMETRY_TOPICS_H

#include <stdbool.h>
#include <stdint.h>

struct topics_options {
	const char *label, /* NULL, and no clusters: "group", of which -1 is none */
	    *field; /* what the clusters are of: one column; both NULL: the only embeddings */
	int clusters; /* of k-means; 0: labels */
	uint32_t seed;
	const char *text; /* column; NULL: "text" */
	const char
	    *stop; /* path: words that do not count; NULL: English ones (stop_words.h) */
	bool all;  /* no word is stopped */
	double most; /* share of the texts, 0 to 1 */
	int least, top;
};

/*
 * To standard output, a line a word, at most `top` of them a cluster, the greatest weights first, clusters with most
 * texts first: cluster (its label, or a number from 1 in this order), size (texts), word, count, weight.
 *
 * Dies, besides as clusterings_read, where no word counts and where k-means makes one cluster; warns of clusters without any.
 */
void topics_print(const char *path, const struct topics_options *options);

#endif
