#!/usr/bin/env python3
"""student.py - scipy's P(T <= t) of Student's t: student.tsv (t, degrees of freedom, P).  Run in tests/golden."""
import scipy.stats

with open("student.tsv", "w") as out:
    for freedom in (1, 2.5, 9.4, 127, 199.5, 253.7, 4096, 25000, 1e6):
        for t in (-40, -6.5, -1.96, -1, -0.02, -1e-5, 0, 1e-3, 1.3, 8):
            out.write(f"{t!r}\t{freedom!r}\t{float(scipy.stats.t.cdf(t, freedom))!r}\n")
