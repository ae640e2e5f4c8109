#!/usr/bin/env python3
"""calibrate.py TYPE TABLE [OPTION...]: fit a GPU type's shares to measured runs.

TABLE is a table of transformers as gv-partition -p ptd-p reads it, with the plan
that ran as far as it is known, and one of the columns measured_iteration_s,
measured_model_flops_per_s, measured_hardware_flops_per_s (per GPU).  Options go to
gv-partition.  Two numbers are fitted, gemm_share and memory_share, by least squares
of the logarithms of predicted over measured; each row is also predicted by a fit to
the others.  Prints both errors and the row for a table of GPU types.
"""
import csv
import io
import math
import os
import subprocess
import sys
import tempfile

from scipy.optimize import least_squares

MEASURED = {
    "measured_iteration_s": ("iteration_s", -1),
    "measured_model_flops_per_s": ("model_flops_per_s", 1),
    "measured_hardware_flops_per_s": ("hardware_flops_per_s", 1),
}
SHARES = ("gemm_share", "memory_share")
START = (0.7, 0.7)


def read(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def text(rows):
    out = io.StringIO()
    w = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    w.writeheader()
    w.writerows(rows)
    return out.getvalue()


class Model:
    """The planner, with the shares as arguments."""

    def __init__(self, kind, rows, options):
        types = os.path.join(os.environ.get("GV_DATA", "/usr/local/share/gv-toolkit"), "gpus.csv")
        self.types = [r for r in read(types) if r["gpu_type"] == kind]
        if not self.types:
            sys.exit(f"calibrate.py: no GPU type {kind} in {types}")
        self.kind, self.rows = kind, rows
        self.column = next((c for c in MEASURED if c in rows[0]), None)
        if self.column is None:
            sys.exit(f"calibrate.py: none of the columns {', '.join(MEASURED)}")
        self.command = ["gv-partition", "-p", "ptd-p", "--top=1", f"--gpu-type={kind}", *options]

    def speed(self, rows, shares):
        """Predicted over measured speed of each row."""
        named = [dict(r, model=str(i)) for i, r in enumerate(rows)]
        self.types[0].update(zip(SHARES, (repr(float(s)) for s in shares)))
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write(text(self.types))
            f.flush()
            done = subprocess.run(
                [*self.command, f"--gpu-types={f.name}"],
                input=text(named), capture_output=True, text=True, check=False,
            )
        plans = {r["model"]: r for r in csv.DictReader(io.StringIO(done.stdout))}
        if len(plans) != len(rows):
            sys.exit("calibrate.py: " + done.stderr)
        answer, sign = MEASURED[self.column]
        return [
            (float(plans[str(i)][answer]) / float(r[self.column])) ** sign
            for i, r in enumerate(rows)
        ]

    def fit(self, rows):
        return least_squares(
            lambda shares: [math.log(s) for s in self.speed(rows, shares)],
            START, bounds=((0.1, 0.1), (1, 1)), diff_step=1e-3, xtol=1e-5,
        ).x


def main():
    kind, path, *options = sys.argv[1:]
    rows = read(path)
    model = Model(kind, rows, options)
    shares = [round(float(s), 3) for s in model.fit(rows)]
    print("model,error,left_out_error")
    worst = [0, 0]
    for i, (r, s) in enumerate(zip(rows, model.speed(rows, shares))):
        others = rows[:i] + rows[i + 1 :]
        left = model.speed([r], model.fit(others))[0] if len(others) > 1 else math.nan
        worst = [max(worst[0], abs(s - 1)), max(worst[1], abs(left - 1))]
        print(f"{r.get('model', i)},{s - 1:+.3f},{left - 1:+.3f}")
    print(f"worst,{worst[0]:.3f},{worst[1]:.3f}")
    model.types[0].update(zip(SHARES, shares))
    print()
    print(text(model.types), end="")


main()
