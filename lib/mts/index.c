#include <string.h>

#include "base/err.h"
#include "mts/mts.h"

/* The change that the options ask for.  A usage error if they are several. */
static enum index_change
change_of(const struct index_request *request)
{
	if (request->append + request->replace + request->sync > 1)
		die_usage("index: --append, --replace and --sync exclude each other");
	return request->sync	  ? INDEX_SYNC
	       : request->replace ? INDEX_REPLACE
				  : INDEX_APPEND;
}

static void
change_index(const struct cli *cli, const struct index_request *request,
    struct vector_index_options *options, const char *folder)
{
	bool adds = request->append || request->replace || request->sync;

	cli_only(cli,
	    request->sync      ? "index --sync"
	    : request->replace ? "index --replace"
	    : request->append  ? "index --append"
			       : "index --remove",
	    "append replace sync remove field similarity threads output");
	if (!adds && options->count)
		die_usage(
		    "index --remove FILE reads no streams without --append, --replace or --sync");
	vector_index_change(folder, options, change_of(request), request->remove);
}

void
index_command(const struct cli *cli, const struct index_request *request,
    const char *folder, char **files, int count)
{
	static const char *const standard[] = { "-" };
	struct vector_index_options options = request->options;
	bool adds = request->append || request->replace || request->sync;

	if (request->check) {
		cli_only(cli, "index --check", "check");
		if (count != 1)
			die_usage("index --check takes one index");
		vector_index_check(files[0]);
		return;
	}
	if (!strcmp(folder, "-") || !*folder)
		die_usage("index: -o names the folder to make");
	options.streams = (const char *const *)files;
	options.count = count;
	if (!count && (adds || !request->remove)) {
		options.streams = standard;
		options.count = 1;
	}
	if (adds || request->remove)
		change_index(cli, request, &options, folder);
	else
		vector_index_make(folder, &options);
}
