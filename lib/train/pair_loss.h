/*
 * pair_loss - losses of scored pairs, as functions of the similarities s of the pairs and of their scores t.
 *
 * There are n pairs; e is the temperature.
 *	cosent		log(1 + sum over i, j with t_i < t_j of exp((s_i - s_j) / e))				(Su 2022)
 *	mse		mean of (s - t)^2
 *	contrastive	mean of (t d^2 + (1 - t) max(0, margin - d)^2) / 2; d = 1 - s				(Hadsell et al. 2006)
 *	online		sum of d^2 over the pairs with t = 1 that are farther than the nearest with t = 0, and of max(0, margin - d)^2 over
 *			those with t = 0 that are nearer than the farthest with t = 1
 * A row's candidates are its document and its negatives.
 *	margin		mean over all negatives of ((s_document - s_negative) - (t_document - t_negative))^2	(Hofstätter et al. 2020)
 *	triplet		mean over all negatives of max(0, s_negative - s_document + margin)			(Schroff et al. 2015)
 *	kl		mean over rows of e^2 KL(softmax(t / e) || softmax(s / e))
 *	listnet		mean over rows of -softmax(t / e) . log softmax(s)					(Cao et al. 2007)
 * Of a cross-encoder's logits s, with the weight p of positive pairs:
 *	bce		mean over all pairs of p t log(1 + exp(-s)) + (1 - t) log(1 + exp(s))
 * They are sentence-transformers' CoSENTLoss (AnglELoss is the same of another similarity), CosineSimilarityLoss, ContrastiveLoss,
 * OnlineContrastiveLoss, MarginMSELoss, TripletLoss of the cosine distance, DistillKLDivLoss, ListNetLoss and BinaryCrossEntropyLoss.  All in double precision, in host memory.
 */
#ifndef TRAIN_PAIR_LOSS_H
#define TRAIN_PAIR_LOSS_H

#include <stddef.h>
#include <stdint.h>

enum pair_loss_kind {
	PAIR_COSENT,
	PAIR_MSE,
	PAIR_CONTRASTIVE,
	PAIR_ONLINE,
	PAIR_MARGIN,
	PAIR_KL,
	PAIR_BCE,
	PAIR_LISTNET,
	PAIR_TRIPLET
};

struct pair_loss {
	enum pair_loss_kind kind;
	double temperature, margin, positive; /* e, margin, p */
	size_t rows, count;  /* pairs 0 .. rows-1 are the rows' documents */
	const int64_t *row;  /* [count - rows] of each negative, ascending */
	const double *s, *t; /* [count] */
	double *ds;	     /* [count] receives the gradient */
};

/* Returns the loss.  *correct: the number of rows whose document has the greatest s of its candidates; ties count their share. */
double pair_loss(const struct pair_loss *pairs, double *correct);

#endif
