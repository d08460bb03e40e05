#include "folder/share.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

char *
share_programs(void)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	if (length < 0)
		die("/proc/self/exe:");
	program[length] = '\0';
	*strrchr(program, '/') = '\0';
	return mem_string(program);
}

char *
share_path(const char *name)
{
	char *program = share_programs();
	char *places[] = { mem_format("%s/../share/motes/%s", program, name),
		mem_format("%s/../../../share/%s", program, name),
		mem_format("%s/../../../%s", program, name) };
	char *found = NULL;
	for (int i = 0; i < 3; i++) {
		if (!found && !access(places[i], F_OK))
			found = mem_string(places[i]);
	}
	if (!found)
		die("%s: it is not there, nor is %s; install motes anew (make install)",
		    places[0], places[1]);
	for (int i = 0; i < 3; i++)
		free(places[i]);
	free(program);
	return found;
}

/* A text for the shell. */
static char *
quoted(const char *text)
{
	char *made = mem_new(4 * strlen(text) + 3, 1), *to = made;

	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			to = stpcpy(to, "'\\'");
		*to++ = *text;
	}
	strcpy(to, "'");
	return made;
}

char *
share_script(const char *name, const char *const *pairs)
{
	char *path = share_path(name), *body = file_need(path, &(size_t){ 0 });
	char *text = mem_string("");

	for (; *pairs; pairs += 2) {
		char *value = quoted(pairs[1]), *before = text;
		text = mem_format("%s%s=%s\n", before, pairs[0], value);
		free(before);
		free(value);
	}
	char *script = mem_format("%s\n%s", text, body);
	free(text);
	free(body);
	free(path);
	return script;
}
