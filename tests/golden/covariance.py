#!/usr/bin/env python3
"""covariance.py - vectors far from zero, and what numpy says of them in float64: covariance_rows.tsv (float32 values)
and covariance_expected.tsv (mean, unbiased covariance by rows, its eigenvalues, its eigenvectors by rows with the
greatest component positive).  Run in tests/golden."""
import numpy as np

WIDTH, ROWS = 5, 30
rng = np.random.RandomState(11)
rows = rng.normal(0, 1, (ROWS, WIDTH)) @ rng.normal(0, 1, (WIDTH, WIDTH)) + [1000, -3, 0, 40, 0.5]
rows[:, 3] = 0.1 * rows[:, 3] + rows[:, 1]
rows = np.round(rows, 3).astype(np.float32)
exact = rows.astype(np.float64)
covariance = np.cov(exact, rowvar=False)
values, vectors = np.linalg.eigh(covariance)
order = np.argsort(-values)
values, vectors = values[order], vectors.T[order]
vectors *= np.sign(vectors[np.arange(WIDTH), np.abs(vectors).argmax(1)])[:, None]
np.savetxt("covariance_rows.tsv", rows, "%.9g", "\t")
np.savetxt("covariance_expected.tsv", np.vstack([exact.mean(0), covariance, values, vectors]), "%.16g", "\t")
