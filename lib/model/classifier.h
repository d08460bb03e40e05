/*
 * classifier - the head of a cross-encoder: from hidden states to a score for each label of a text, or of a pair of texts.
 *
 * It is the head of transformers' *ForSequenceClassification, whose layers the family names (family.h), as modules after the
 * pooling (head.h), so that an "embedding" of the model is a text's scores; or modules that modules.json lists, of which the last
 * Dense makes "scores" (ettin-reranker).  The last module is activated as
 * sentence-transformers' CrossEncoder does: by "activation_fn" of config_sentence_transformers.json, else of
 * "sentence_transformers" in config.json, else by "sbert_ce_default_activation_function" there; else by a sigmoid if there is one
 * label.
 */
#ifndef MODEL_CLASSIFIER_H
#define MODEL_CLASSIFIER_H

#include "model/head.h"
#include "model/spec.h"
#include "text/tree.h"

/* The folder of the transformer in a cross-encoder's folder, which the caller frees; dies if the folder is of another kind of
 * model. */
char *classifier_folder(const char *dir);

/* Whether modules.json lists the head: a Pooling follows the transformer. */
bool classifier_of_modules(const char *dir);

/* Whether config.json is that of a classifier, by "architectures". */
bool classifier_known(const struct tree *config);

/* Makes config.json, which is not one of a classifier, that of a classifier with one label, whose name is LABEL_0 as in
 * transformers.  dir: for messages. */
void classifier_begin(struct tree *config, const char *dir);

/* Sets the head to that of the classifier.  config: config.json of the folder `dir`; dies where it is not one of a classifier.
 * logits: without the last activation.  answers: the model is a language model that answers (answers.h), and the head has one
 * layer, from the last token. */
void classifier_configure(struct head *head, const struct spec *spec,
    const struct tree *config, const char *dir, bool logits, bool answers);

#endif
