#!/usr/bin/env python3
"""adapters.py BUILD [DRAWS] - how far gradients of A and B in float32 are from those in double, ours and PEFT's: for the
adapters of tests/golden/adapter.py drawn DRAWS times (20), of deviation 0.5 and 0.2.  A draw's distance is the greatest
difference of a gradient in units of its greatest value, over all A and B; of all draws the median and the greatest are
shown, and the geometric mean of ours over PEFT's.  Needs what adapter.py needs."""
import os
import statistics
import subprocess
import sys
import tempfile

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import adapter  # noqa: E402


def distances(build, name, deviation, seed, folder):
    family = adapter.CASES[name][0]
    model, texts = adapter.draw(name, deviation, seed)
    width = len(adapter.hidden(family, model, texts[0])[0])
    adapter.save(family, model, folder)
    theirs = adapter.save_gradients(family, model, texts, torch.randn(len(texts), width), folder)
    lines = subprocess.run([os.path.join(build, "support", "adapter_check"), os.path.join(adapter.HERE, family), folder,
                            os.path.join(folder, "gradients.safetensors"), "1"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return max(float(line.split(": ")[1].split()[0]) for line in lines if " grad." in line), theirs


def main():
    torch.set_num_threads(1)  # tiny models: threads would only wait for each other
    build, draws = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print("case\tdeviation\tours: median\tgreatest\tPEFT: median\tgreatest\tratio")
    for name in "plain", "fused", "qwen3", "modern":
        for deviation in 0.5, 0.2:
            with tempfile.TemporaryDirectory() as folder:
                pairs = [distances(build, name, deviation, seed, folder) for seed in range(draws)]
            ours, theirs = zip(*pairs)
            ratio = statistics.geometric_mean(a / b for a, b in pairs)
            print(name, deviation, *(f"{f(x):.1e}" for x in (ours, theirs) for f in (statistics.median, max)),
                  f"{ratio:.2f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
