#include "train/option_conflicts.h"

#include <string.h>

#include "base/err.h"

static void
exclude(bool both, const char *one, const char *other)
{
	if (both)
		die_usage("--%s and --%s exclude each other", one, other);
}

/* Dies if the options of held-out data contradict each other. */
static void
demand_dev(const struct trainer_options *t)
{
	const char *files[] = { t->objective.dev, t->objective.dev_corpus };
	const char *needs = t->objective.dev_corpus ? "corpus"
			    : t->dev_every	    ? "every"
						    : NULL;

	if (!files[0] && needs)
		die_usage("--dev-%s needs --dev", needs);
	exclude(files[1] && t->objective.contrast.documents, "documents", "dev-corpus");
	if (!files[0] && (t->patience || t->last_step))
		die_usage("--%s needs --dev", t->patience ? "patience" : "last-step");
	for (int i = 0; i < 2; i++)
		if (files[i] && strcmp(files[i], "-") == 0)
			die_usage("--dev%s: it is read several times; give a FILE",
			    i ? "-corpus" : "");
}

/* Dies if other options contradict each other. */
static void
demand_together(const struct trainer_options *t, bool from_scratch)
{
	const struct objective_options *o = &t->objective;
	bool lora = t->lora, terms = o->denominator;

	exclude(t->memory && o->tokens, "memory", "tokens");
	exclude(lora && from_scratch, "lora", "from-scratch");
	if (lora && o->balance > 0)
		die_usage("--balance does not apply with --lora");
	if (lora && t->freeze)
		die_usage("--freeze: with --lora no weight of the model learns");
	exclude(o->project && lora, "project", "lora");
	exclude(o->project && o->dev_corpus, "project", "dev-corpus");
	exclude(o->matryoshka && o->dot, "matryoshka", "similarity dot");
	exclude(o->matryoshka && o->reze > 0, "matryoshka", "reze");
	exclude(terms && o->bidirectional, "denominator", "bidirectional");
	exclude(terms && o->own_negatives, "denominator", "own-negatives");
	exclude(o->bidirectional && o->own_negatives, "bidirectional", "own-negatives");
	if (o->contrast.freeze_documents && !lora)
		die_usage("--freeze-documents needs --lora");
	exclude(o->contrast.documents && o->contrast.freeze_documents, "documents",
	    "freeze-documents");
}

void
option_conflicts_refuse(const struct trainer_options *options, bool from_scratch)
{
	demand_dev(options);
	demand_together(options, from_scratch);
}
