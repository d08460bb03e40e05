"""drawn - what the scripts of drawn inputs share: a check, the programs, safetensors, a run over many seeds."""
import argparse, collections, concurrent.futures, json, math, os, random, shutil, struct, subprocess, sys, tempfile


class Broken(Exception):
    """A promise that the programs did not keep."""


def check(holds, message):
    if not holds:
        raise Broken(message)


class Room:
    """A folder, in which programs of the build run."""

    def __init__(self, build, path):
        self.path = path
        self.env = dict(os.environ, PATH=os.path.abspath(build) + "/bin:" + os.environ["PATH"])

    def run(self, *command):
        """(what it printed, None if its exit status is 1; its messages)"""
        done = subprocess.run(command, cwd=self.path, capture_output=True, env=self.env, timeout=60)
        said = done.stderr.decode(errors="replace").strip()
        check(done.returncode in (0, 1), f"{' '.join(command)}: exit status {done.returncode}: {said}")
        return done.stdout if done.returncode == 0 else None, said

    def out(self, *command):
        """What it printed; it must not fail."""
        printed, said = self.run(*command)
        check(printed is not None, f"{' '.join(command)}: {said}")
        return printed


def compare_scores(room, wanted, command, *arguments, tolerance=1e-5):
    """Whether mteb-score has these scores; of None and NaN it has null."""
    got = json.loads(room.out("mteb-score", command, "-q", "--json", *arguments))
    got = got.get("scores", got)
    for name, value in wanted.items():
        check(name in got, f"{command}: no {name}")
        here = got[name]
        if value is None or math.isnan(value):
            check(here is None, f"{command}: {name} is {here}, not NaN")
        else:
            check(here is not None and abs(here - value) <= tolerance, f"{command}: {name} is {here}, not {value}")


def write_safetensors(path, tensors):
    """tensors: {name: (dtype, shape, bytes)}"""
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + body)


def read_safetensors(data):
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    return {name: (about["dtype"], about["shape"], body[slice(*about["data_offsets"])]) for name, about in header.items() if name != "__metadata__"}


def text_tensors(name, texts):
    """The two tensors of a column of texts."""
    coded, offsets = [text.encode() for text in texts], [0]
    for text in coded:
        offsets.append(offsets[-1] + len(text))
    return {name: ("U8", [offsets[-1]], b"".join(coded)),
            name + ".offsets": ("I64", [len(offsets)], struct.pack(f"<{len(offsets)}q", *offsets))}


def one(seed, look, args):
    with tempfile.TemporaryDirectory(prefix="drawn") as path:
        try:
            return True, look(random.Random(seed), Room(args.b, path))
        except Broken as broken:
            if args.k:
                shutil.copytree(path, f"{args.k}/{seed}", dirs_exist_ok=True)
            return False, f"seed {seed}: {broken}"


def main(about, look):
    """look(draw, room) returns an outcome, which is counted, or raises Broken.  Returns the exit status."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", default="build/cpu")
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("-k", metavar="DIR")
    args = parser.parse_args()
    counts, broken = collections.Counter(), 0
    with concurrent.futures.ProcessPoolExecutor(args.j) as pool:
        seeds = range(args.s * 1000000, args.s * 1000000 + args.n)
        for good, message in pool.map(one, seeds, [look] * args.n, [args] * args.n, chunksize=4):
            broken += not good
            if good:
                counts[message] += 1
            else:
                print(message[:400], flush=True)
    for message, count in counts.most_common():
        print(f"{count:6} {message}")
    return int(broken > 0)
