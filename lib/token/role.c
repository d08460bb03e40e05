#include "token/role.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "folder/late_interaction.h"
#include "token/tokenizer_settings.h"
#include "token/tokenizer_source.h"

static int32_t
need(const struct tokenizer *tokenizer, const char *token, const char *dir,
    const char *what)
{
	int id = token ? tokenizer_id(tokenizer, token) : -1;

	if (id < 0)
		die("%s: its tokenizer has no token '%s', the %s of a late-interaction model",
		    dir, token ? token : "mask_token", what);
	return id;
}

/* The expansion token: the folder's, else the mask token, of a decoder the one that ends a text. */
static int32_t
expansion_of(const char *dir, const struct late_interaction *late,
    const struct tokenizer *tokenizer)
{
	char *home = tokenizer_source_home(dir);
	struct tokenizer_settings *settings = tokenizer_settings_read(home);
	const char *token = late->expansion;

	if (!token)
		token = tokenizer_settings_token(settings, "mask_token");
	if (!token)
		token = tokenizer_settings_token(settings, "eos_token");
	int32_t id = need(tokenizer, token, dir, "expansion token");
	if (!strcmp(tree_string(settings->config, "padding_side", "right"), "left"))
		tree_die(tree_get(settings->config, "padding_side"),
		    "'padding_side' is 'left'; expansion tokens are supported behind a query only");
	tokenizer_settings_free(settings);
	free(home);
	return id;
}

struct role *
role_open(
    const char *dir, const char *task, const struct tokenizer *tokenizer, size_t most)
{
	struct late_interaction *late = late_interaction_read(dir);

	if (!late)
		return NULL;
	enum late_role which = late_role_of(task ? task : "");
	if (which == LATE_ROLES)
		die_usage(
		    "%s: embeds the tokens of queries and documents; say which with --task query or --task document",
		    dir);
	const struct late_side *side = &late->side[which];
	struct role *role = mem_zero(1, sizeof *role);
	role->most = most ? most : side->most ? side->most : tokenizer_max_length(dir);
	if (side->marker && role->most < 2)
		die_usage("--max-length: %zu leaves no room for a text", role->most);
	role->markers = side->marker != NULL;
	if (role->markers)
		role->marker = need(tokenizer, side->marker, dir, "marker");
	role->expanded = which == LATE_QUERY ? late->expanded : 0;
	if (role->expanded && (late->fixed || role->expanded > role->most))
		role->expanded = role->most;
	role->strips = late->strips;
	role->hides = role->expanded && !late->attends;
	if (role->expanded)
		role->expansion = expansion_of(dir, late, tokenizer);
	late_interaction_free(late);
	return role;
}

void
role_free(struct role *role)
{
	ids_free(&role->made);
	free(role);
}

static void
add_list(struct role *role, const int32_t *ids, size_t count)
{
	size_t first = count > 0;

	ids_add(&role->made, ids, first);
	ids_add(&role->made, &role->marker, role->markers);
	ids_add(&role->made, ids + first, count - first);
}

void
role_apply(struct role *role, struct tokenised *made, int64_t lists)
{
	int64_t from = 0;

	role->made.count = 0;
	made->attended = mem_grow(made->attended, &made->attended_room, (size_t)lists + 1,
	    sizeof *made->attended);
	for (int64_t i = 0; i < lists; i++) {
		size_t before = role->made.count;
		int64_t end = made->offsets[i + 1];
		add_list(role, made->ids + from, (size_t)(end - from));
		made->attended[i] = (int32_t)(role->made.count - before);
		while (role->made.count - before < role->expanded)
			ids_push(&role->made, role->expansion);
		made->offsets[i + 1] = (int64_t)role->made.count;
		from = end;
	}
	made->ids =
	    mem_grow(made->ids, &made->ids_room, role->made.count + 1, sizeof *made->ids);
	if (role->made.count)
		memcpy(made->ids, role->made.id, role->made.count * sizeof *made->ids);
}
