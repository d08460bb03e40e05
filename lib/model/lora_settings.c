#include "model/lora_settings.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/mem.h"

enum { TARGETS = 64 };

static void
take_targets(struct lora_settings *lora, char *list)
{
	static const char *targets[TARGETS];
	char *rest = NULL;

	lora->targets = targets;
	for (char *name = strtok_r(list, "+", &rest); name;
	     name = strtok_r(NULL, "+", &rest)) {
		if (lora->target_count == TARGETS)
			die_usage("--lora: more than %d targets", TARGETS);
		targets[lora->target_count++] = name;
	}
}

/* One part of rank=8,alpha=16,targets=query+value,dropout=0.1,rslora; false when it is none. */
static bool
take_part(struct lora_settings *lora, char *part)
{
	char *value = strchr(part, '=');

	if (!value) {
		lora->rslora |= !strcmp(part, "rslora");
		return !strcmp(part, "rslora");
	}
	*value = '\0';
	optarg = value + 1;
	if (!strcmp(part, "rank"))
		lora->rank = (int)cli_integer("--lora rank", 1, 1 << 14);
	else if (!strcmp(part, "alpha"))
		lora->alpha = cli_real("--lora alpha", 1e-6, 1e6);
	else if (!strcmp(part, "dropout"))
		lora->dropout = cli_real("--lora dropout", 0, 0.99);
	else if (!strcmp(part, "targets"))
		take_targets(lora, optarg);
	else
		return false;
	return true;
}

struct lora_settings
lora_settings_parse(const char *text)
{
	struct lora_settings lora = { .rank = 8 };
	char *rest = NULL;

	if (!access(text, F_OK)) {
		lora.from = text;
		return lora;
	}
	char *part = strtok_r(mem_string(text), ",", &rest);
	do
		if (!part || !take_part(&lora, part))
			die_usage(
			    "--lora: '%s' is not a folder, and not of the form rank=8,alpha=16,targets=query+value,dropout=0.1,rslora",
			    text);
	while ((part = strtok_r(NULL, ",", &rest)));
	if (lora.alpha == 0)
		lora.alpha = 2 * lora.rank;
	return lora;
}
