#include "score/tally.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

enum { SHOWN = 100 };

void
tally_note(struct tally *tally, const char *id, size_t length)
{
	if (tally->count++ == 0)
		tally->first =
		    mem_format("%.*s", length < SHOWN ? (int)length : SHOWN, id);
}

void
tally_tell(struct tally *tally, const char *stream, const char *what)
{
	if (tally->count)
		warn("%s: %lld %s; first: '%s'", stream, (long long)tally->count, what,
		    tally->first);
	free(tally->first);
	*tally = (struct tally){ 0 };
}
