/*
 * clock - a monotonic clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since an arbitrary moment. */
double clock_now(void);

#endif
