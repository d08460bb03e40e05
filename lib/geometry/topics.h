/*
 * topics - the words that distinguish the clusters of texts, by class-based TF-IDF (BERTopic, Grootendorst 2022, section 3.3).
 *
 * With the count n(w, c) of word w in the texts of cluster c, n(w) in all texts, and the average A of words per cluster,
 *
 *	weight(w, c) = n(w, c) log(1 + A / n(w))
 *
 * over words of at least `least` letters, in at most the share `most` of the texts, and not in `stop`.  Words are runs of letters
 * of one script in lower case, or two neighbouring Chinese characters.
 */
#ifndef GEOMETRY_TOPICS_H
#define GEOMETRY_TOPICS_H

#include <stdbool.h>
#include <stdint.h>

struct topics_options {
	const char *label; /* NULL without `clusters`: "group", where -1 is none */
	const char *field; /* embeddings for k-means; NULL: the only ones */
	int clusters;	   /* of k-means; 0: labels */
	uint32_t seed;
	const char *text; /* column; NULL: "text" */
	const char *stop; /* file of stop words; NULL: English ones */
	bool all;	  /* no stop words */
	double most;	  /* share of the texts, 0 to 1 */
	int least, top;
};

/*
 * Prints a line per word, at most `top` per cluster, largest clusters and weights first: cluster (its label, or a number from 1 in
 * this order), size (texts), word, count, weight.
 *
 * Dies as clusterings_read, if no word is left, and if k-means finds one cluster; warns of clusters without words.
 */
void topics_print(const char *path, const struct topics_options *options);

#endif
