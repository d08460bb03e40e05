/*
 * cpu_limit - the processors that a container may use.
 */
#ifndef NN_HOST_CPU_LIMIT_H
#define NN_HOST_CPU_LIMIT_H

/*
 * Processors of the limit that control groups set to the processor time of this process, rounded up: cpu.max of version 2,
 * cpu.cfs_quota_us of version 1, of its group and the groups above it.  0: no limit.  root: where /proc/self/cgroup and /sys/fs/cgroup
 * are, "" but in tests.
 */
int cpu_limit(const char *root);

#endif
