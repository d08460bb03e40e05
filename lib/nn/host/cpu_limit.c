#include "nn/host/cpu_limit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LINE_ROOM = 4096 };

/* The first line of the file FOLDER/NAME. */
static bool
read_line(char line[LINE_ROOM], const char *folder, const char *name)
{
	char *path = mem_format("%s/%s", folder, name);
	FILE *file = fopen(path, "r");
	bool read = file && fgets(line, LINE_ROOM, file);

	if (file)
		fclose(file);
	free(path);
	return read;
}

/* quota / period, rounded up; 0: none of "max", "-1" and what is no number. */
static int
processors(const char *quota, const char *period)
{
	long long time = atoll(quota), of = atoll(period);

	if (time <= 0 || of <= 0 || time / of > 1 << 20)
		return 0;
	return (int)((time + of - 1) / of);
}

/* The limit of one group, version 2: "200000 100000" or "max 100000" in cpu.max. */
static int
limit_of_2(const char *folder)
{
	char line[LINE_ROOM];
	const char *period =
	    read_line(line, folder, "cpu.max") ? strchr(line, ' ') : NULL;

	return period ? processors(line, period) : 0;
}

/* Version 1: a file each, -1 for no limit. */
static int
limit_of_1(const char *folder)
{
	char quota[LINE_ROOM], period[LINE_ROOM];

	return read_line(quota, folder, "cpu.cfs_quota_us") &&
		       read_line(period, folder, "cpu.cfs_period_us")
		   ? processors(quota, period)
		   : 0;
}

static int
least(int a, int b)
{
	return !a || (b && b < a) ? b : a;
}

/* The least limit of a group and of those above it.  A container may see its own group as the root. */
static int
limit_along(
    const char *root, const char *mount, char *group, int (*limit_of)(const char *))
{
	int limit = 0;

	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		*end = 0;
		char *folder = mem_format("%s/sys/fs/cgroup%s%s", root, mount, group);
		limit = least(limit, limit_of(folder));
		free(folder);
	}
	return limit;
}

/* Whether a list "cpu,cpuacct" has cpu. */
static bool
has_cpu(const char *list)
{
	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == 3 && !strncmp(list, "cpu", 3))
			return true;
	return false;
}

/* A line of /proc/self/cgroup: "0::/group" of version 2, "4:cpu,cpuacct:/group" of version 1. */
static int
limit_of_line(const char *root, char *line)
{
	line[strcspn(line, "\n")] = 0;
	char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;

	if (!group)
		return 0;
	*group++ = 0;
	if (!*++list)
		return limit_along(root, "", group, limit_of_2);
	return has_cpu(list) ? limit_along(root, "/cpu", group, limit_of_1) : 0;
}

int
cpu_limit(const char *root)
{
	char *path = mem_format("%s/proc/self/cgroup", root), line[LINE_ROOM];
	int limit = 0;
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		limit = least(limit, limit_of_line(root, line));
	if (file)
		fclose(file);
	free(path);
	return limit;
}
