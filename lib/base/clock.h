/*
 * clock - time that only goes forward.
 */
#ifndef CLOCK_H
#define CLOCK_H

/* Seconds since some moment in the past. */
double clock_now(void);

#endif
