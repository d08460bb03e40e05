/*
 * clock - time that only goes forward.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since some moment in the past. */
double clock_now(void);

#endif
