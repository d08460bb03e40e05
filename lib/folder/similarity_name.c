#include "folder/similarity_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder/late_interaction.h"
#include "text/json.h"

char *
similarity_name_read(const char *dir)
{
	struct late_interaction *late = late_interaction_read(dir);

	if (late) {
		bool mean = late->mean;
		late_interaction_free(late);
		return mem_string(mean ? "meanmaxsim" : "maxsim");
	}
	static const char *const names[] = { "cosine", "dot", "euclidean", "manhattan" };
	static const char key[] = "similarity_fn_name";
	struct tree *config = json_find(dir, "config_sentence_transformers.json");
	bool sparse = !strcmp(tree_string(config, "model_type", ""), "SparseEncoder");
	const char *name = tree_string(config, key, names[sparse]);
	size_t i = 0, count = sizeof names / sizeof *names;

	while (i < count && strcmp(names[i], name) != 0)
		i++;
	if (i == count)
		tree_die(tree_get(config, key),
		    "similarity_fn_name '%s' is none of cosine, dot, euclidean and manhattan",
		    name);
	tree_free(config);
	return mem_string(names[i]);
}

void
similarity_name_tell(struct writer *out, const char *dir)
{
	char *name = similarity_name_read(dir);

	stream_property(out, "similarity", strcmp(name, "cosine") != 0 ? name : NULL);
	free(name);
}
