"""Who takes part in scripts/compare: qkv, a program that is started for each job, and peers, workers that stay loaded."""
import array
import json
import os
import pathlib
import shlex
import subprocess
import tempfile


BASE = "qkv"
VARIANT_TOLERANCE = 5e-2  # as for 8-bit weights; the figure found is printed


class Refused(Exception):
    """A contestant cannot take part."""


def commas(numbers):
    return ",".join(map(str, numbers))


class Qkv:
    def __init__(self, name, program, arguments, model, threads):
        self.name, self.arguments, self.tolerance = name, shlex.split(arguments), VARIANT_TOLERANCE
        self.program, self.model = str(program), str(model)
        if not {"-t", "--threads"} & set(self.arguments):
            self.arguments += ["--threads", str(threads)]

    def run(self, command, *arguments):
        line = [self.program, "-q", command, "-m", self.model, *arguments, *self.arguments]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Refused((done.stderr.strip() or f"{command} ended with {done.returncode}").splitlines()[0])
        return done.stdout

    def about(self):
        done = subprocess.run([self.program, "--version"], stdout=subprocess.PIPE, text=True, check=True)
        lines = done.stdout.splitlines()
        said = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        blas = " ".join(said.get("BLAS", "").split()[:2])
        return f"{lines[0]}, {blas}, {said.get('BLAS kernel')} kernels, {' '.join(self.arguments)}"

    def logits(self, ids, fresh):
        """After all ids. The cached loop shows no logits; it must give the text that the plain loop gives."""
        if fresh < len(ids) and self.name == BASE:  # in less precise arithmetic a near tie may fall either way
            self.require_same_text(ids)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "logits.npy"
            self.run("attention", "--ids", commas(ids), "--what", "logits", "--format", "npy", "-o", str(path))
            data = path.read_bytes()
        n_vocab = json.loads((pathlib.Path(self.model) / "config.json").read_text())["vocab_size"]
        return array.array("f", data[-4 * n_vocab:])  # the last row of [token, vocabulary]

    def require_same_text(self, ids):
        plain, cached = (self.text(8, mode, ids)["ids"] for mode in ([], ["--cache"]))
        if plain != cached:
            raise Refused(f"with the cache it writes {cached}, without {plain}")

    def text(self, length, mode, ids):
        return json.loads(self.run("generate", "--ids", commas(ids), "-n", str(length), "--ignore-eos", "--temp", "0",
                                   "--json", *mode))

    def time(self, kind, lengths, repeats):
        if kind.endswith("text"):
            mode = ["--cache"] if kind == "cached_text" else []
            return [[self.text(length, mode, [1])["timing"]["total_seconds"]] for length in lengths]
        cached = kind == "cached"
        texts = [length + 1 for length in lengths] if cached else lengths  # there a length counts what is kept
        rows = json.loads(self.run("time", "--mode", "cached" if cached else "recompute", "--lengths", commas(texts),
                                   "-r", str(repeats), "--format", "json"))["rows"]
        samples = {row["length"]: row["samples_s"] for row in rows}
        return [samples[length] for length in texts]

    def cpu_seconds(self):
        return 0.0  # nothing runs between its turns

    def close(self):
        pass


class Worker:
    def __init__(self, name, command, tolerance, threads):
        self.name, self.tolerance = name, tolerance
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)

    def ask(self, **command):
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise Refused(f"its process ended with {self.process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(reply["error"])
        return reply["result"]

    def about(self):
        return self.ask(do="about")

    def logits(self, ids, fresh):
        return self.ask(do="logits", ids=ids, fresh=fresh)

    def time(self, kind, lengths, repeats):
        return [self.ask(do="time", workload=kind, length=length, repeats=repeats) for length in lengths]

    def cpu_seconds(self):
        """Processor time that its process has used so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()


def agreement(one, other):
    """How far logits are from others: root mean square of the differences, over the spread of the others."""
    mean = sum(other) / len(other)
    spread = sum((x - mean) ** 2 for x in other)
    return (sum((a - b) ** 2 for a, b in zip(one, other)) / spread) ** 0.5


def likeliest(logits):
    return max(range(len(logits)), key=logits.__getitem__)
