/*
 * cpu_limit - the processors that a container may use.
 */
#ifndef NN_HOST_CPU_LIMIT_H
#define NN_HOST_CPU_LIMIT_H

/*
 * The processor time that control groups allow this process, in processors, rounded up: the least of cpu.max (version 2) or
 * cpu.cfs_quota_us (version 1) of its group and the groups above it.  0: no limit.  root: the folder of proc/self/cgroup and
 * sys/fs/cgroup in tests; else "".
 */
int cpu_limit(const char *root);

#endif
