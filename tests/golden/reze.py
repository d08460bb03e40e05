#!/usr/bin/env python3
"""reze.py - made-up pairs of seven sources, two of them far from the others, and what equations 1 to 7 of REZE say of
them in numpy and float64: reze_pairs.jsonl, and for each reading of the equations that reze_expected.tsv names

	NAME active K, NAME theta X		of all
	NAME lambda ..., NAME v ..., NAME band ...	of the active components
	NAME alpha SOURCE ...			of the active components
	NAME target ROW ...			of some pairs

Signs of eigenvectors are drawn, so that nothing here can depend on them; only where equation 6 is as printed are they
chosen, the greatest component positive.  Run in tests/golden."""
import json

import numpy as np

HALF, EPSILON = 4, 1e-8
SIZES = {"alpha": 9, "beta": 14, "gamma": 7, "delta": 11, "epsilon": 8, "zeta": 12, "eta": 1}
READINGS = {
    "paper": {},
    "printed": {"printed": True, "eta": 1},
    "mean": {"centre": "mean"},
    "zero": {"centre": "zero", "band": "median"},
    "strong": {"gamma": 0.5, "eta": 1.3, "rho": 0.8, "clip": (-2, 2)},
    "some": {"printed": True, "gamma": 0.5, "clip": (-2, 2), "band": "median"},
}
rng = np.random.RandomState(3)


def draw():
    """Draws relations and their sources, in random order."""
    mixing = rng.normal(0, 1, (2 * HALF, 2 * HALF)) * [0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.02, 0.001]
    rows, sources = [], []
    for name, size in SIZES.items():
        apart = {"alpha": 3, "zeta": 2.5}.get(name, 0.3) * rng.normal(0, 1, 2 * HALF) * [1, 1, 0.1, 0.1, 0.1, 0.1, 0.1, 0]
        rows.append(rng.normal(0, 1, (size, 2 * HALF)) @ mixing.T + mixing @ apart + [0.3, -0.2, 0.5, 0.1, 0.9, -0.4, 0, 2])
        sources += [name] * size
    rows = np.round(np.vstack(rows), 4).astype(np.float32)
    order = rng.permutation(len(sources))
    return rows[order], [sources[i] for i in order]


def fit(relations, sources, centre="median", band="mean", printed=False, gamma=1, eta=0.7, rho=0.99, clip=(0, 1)):
    mean = relations.mean(0)
    values, vectors = np.linalg.eigh((relations - mean).T @ (relations - mean) / len(relations))
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(0), np.arange(len(values))])
    if not printed:
        vectors *= rng.choice([-1, 1], len(values))
    names = sorted(SIZES)
    at = np.array(sources)
    means = np.array([((relations[at == name] - mean) @ vectors).mean(0) for name in names])
    middle = {"median": np.median(means, 0), "mean": means.mean(0), "zero": np.zeros(len(values))}[centre]
    apart = means - middle
    v = (apart ** 2).mean(0)
    active = int(np.argmax(np.cumsum(values) / values.sum() >= rho)) + 1
    tau = np.median(v[:active])
    theta = tau + gamma * (np.median(np.abs(v[:active] - tau)) + EPSILON)
    bands = gamma * {"mean": np.mean, "median": np.median}[band](np.abs(apart), 0)
    alpha = np.ones_like(means)
    for s in range(len(names)):
        for j in range(active):
            if v[j] > theta and abs(apart[s, j]) >= bands[j]:
                step = middle[j] + (1 if apart[s, j] >= 0 else -1) * bands[j] - means[s, j]
                divisor = abs(means[s, j]) + EPSILON
                if not printed and means[s, j] < 0:
                    divisor = -divisor
                alpha[s, j] = np.clip(1 + eta * step / divisor, *clip)
    targets = np.array([vectors @ np.diag(alpha[names.index(s)]) @ vectors.T @ (r - mean) + mean
                        for r, s in zip(relations, sources)])
    return names, values, v, active, theta, bands, alpha, targets


relations, sources = draw()
with open("reze_pairs.jsonl", "w") as out:
    for i, (row, source) in enumerate(zip(relations, sources)):
        numbers = [round(float(x), 4) for x in row]
        json.dump({"_id": f"p{i}", "dataset": source, "query.emb": numbers[:HALF], "document.emb": numbers[HALF:]}, out,
                  separators=(",", ":"))
        out.write("\n")
exact = relations.astype(np.float64)
with open("reze_expected.tsv", "w") as out:
    def put(*words, numbers):
        out.write("\t".join([*map(str, words), *(f"{x:.15g}" for x in numbers)]) + "\n")

    for reading, how in READINGS.items():
        names, values, v, active, theta, bands, alpha, targets = fit(exact, sources, **how)
        again = fit(exact, sources, **how)
        assert np.abs(targets - again[-1]).max() < 1e-12 and np.abs(alpha - again[-2]).max() < 1e-10, reading
        assert (alpha != 1).any(), reading
        put(reading, "active", numbers=[active])
        put(reading, "theta", numbers=[theta])
        for what, numbers in ("lambda", values), ("v", v), ("band", bands):
            put(reading, what, numbers=numbers[:active])
        for name, row in zip(names, alpha):
            put(reading, "alpha", name, numbers=row[:active])
        for i in range(0, len(sources), 8):
            put(reading, "target", i, numbers=targets[i])
