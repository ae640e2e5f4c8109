"""gv-partition-published.py TABLE DIRECTORY: published runs as tables of transformers.

With a third argument: free leaves the plan out; errors reads plans of the table and
prints how far off they are in speed; ranks reads all plans of the free table and prints
where the published degrees stand among all degrees.

TABLE is one of: a100, h100 (SC 2021 table 1, Megatron-Core's weak scaling), for
which there are files in DIRECTORY; table2, zero3, korthikanti, dgx, llama3: the others, the last
three from the papers' text."""
import csv
import sys


def published(path, extra, measured):
    for r in csv.DictReader(open(path, newline="")):
        row = {"model": r["case"], **extra}
        for c in (
            "attention_heads hidden_size layers tensor_parallel pipeline_parallel "
            "data_parallel gpus global_batch micro_batch seq_len vocab"
        ).split():
            if c in r:
                row[c] = r[c]
        if "layers_per_virtual_stage" in r:
            chunk = r["layers_per_virtual_stage"]
            v = int(r["layers"]) // int(r["pipeline_parallel"]) // int(chunk) if chunk else 1
            row["virtual_stages"] = v
            row["schedule"] = "interleaved" if v > 1 else "flush"
        row[measured] = float(r["achieved_tflops_per_gpu"]) * 1e12
        yield row


def gpt(layers, hidden, heads, batch, seq=2048, vocab=51200):
    return {
        "layers": layers, "hidden_size": hidden, "attention_heads": heads,
        "global_batch": batch, "seq_len": seq, "vocab": vocab,
    }


def table2(path, scheme="PTD-P"):
    models = {"174.6": (96, 12288, 96, 8, 12), "529.6": (105, 20480, 128, 8, 35)}
    for r in csv.DictReader(open(path, newline="")):
        if r["scheme"] != scheme:
            continue
        layers, hidden, heads, t, p = models[r["params_billion"]]
        if scheme != "PTD-P":
            t = p = 1
        yield {
            "model": f"{r['params_billion']}B on {r['gpus']}",
            **gpt(layers, hidden, heads, r["global_batch"]),
            "tensor_parallel": t, "pipeline_parallel": p, "gpus": r["gpus"],
            "micro_batch": r["micro_batch"], "recompute": "full",
            "measured_hardware_flops_per_s": float(r["achieved_tflops_per_gpu"]) * 1e12,
        }


def korthikanti():
    """Sequence parallel, selective recomputation: seconds of an iteration."""
    for name, layers, hidden, heads, p, v, batch, s in (
        ("22B", 48, 6144, 64, 1, 1, 4, 1.10),
        ("175B", 96, 12288, 96, 8, 3, 64, 13.75),
        ("530B", 105, 20480, 128, 35, 3, 280, 37.83),
        ("1T", 128, 25600, 160, 64, 1, 512, 71.49),
    ):
        yield {
            "model": name, **gpt(layers, hidden, heads, batch),
            "tensor_parallel": 8, "pipeline_parallel": p, "virtual_stages": v,
            "gpus": 8 * p, "micro_batch": 4 if p == 1 else 1, "recompute": "selective",
            "measured_iteration_s": s,
        }


def dgx():
    """Tensor parallel inside one server, sequences of 1024: milliseconds of an iteration."""
    for name, layers, hidden, heads, t, s in (
        ("1.16B", 24, 1920, 15, 1, 1.076),
        ("2.03B", 30, 2304, 18, 2, 1.026),
        ("4.24B", 36, 3072, 24, 4, 1.162),
        ("8.67B", 42, 4096, 32, 8, 1.343),
    ):
        yield {
            "model": name, **gpt(layers, hidden, heads, 16, 1024),
            "tensor_parallel": t, "pipeline_parallel": 1, "gpus": t, "micro_batch": 16,
            "recompute": "full", "measured_iteration_s": s,
        }


def llama3():
    """Grattafiori et al., 2024, table 4: 405B on H100s, 16 million tokens an iteration."""
    for gpus, c, seq, tflops in ((8192, 1, 8192, 430), (16384, 1, 8192, 400), (16384, 16, 131072, 380)):
        yield {
            "model": f"405B on {gpus}, {seq} tokens", **gpt(126, 16384, 128, 2**24 // seq, seq, 128256),
            "kv_heads": 8, "ffn_hidden_size": 53248, "gated_ffn": 1, "norm": "rmsnorm", "biases": 0,
            "positions": "rotary", "tied_embeddings": 0, "gpus": gpus, "tensor_parallel": 8,
            "context_parallel": c, "pipeline_parallel": 16,
            "measured_model_flops_per_s": tflops * 1e12,
        }


PLAN = (
    "tensor_parallel pipeline_parallel data_parallel micro_batch virtual_stages recompute schedule"
).split()
MEASURED = {
    "measured_iteration_s": ("iteration_s", -1),
    "measured_model_flops_per_s": ("model_flops_per_s", 1),
    "measured_hardware_flops_per_s": ("hardware_flops_per_s", 1),
}


def write(rows):
    out = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


def errors(plans):
    worst = 0
    for r in plans:
        column = next(c for c in MEASURED if c in r)
        answer, sign = MEASURED[column]
        error = (float(r[answer]) / float(r[column])) ** sign - 1
        worst = max(worst, abs(error))
        print(f"{r['model']}: {100 * error:+.1f} %, {float(r['memory_bytes']) / 1e9:.0f} GB")
    print(f"worst {worst:.4f}")


def ranks(rows, plans):
    worst = 0
    for r in rows:
        seen = []
        for q in plans:
            degrees = (int(q["tensor_parallel"]), int(q["pipeline_parallel"]))
            if q["model"] == r["model"] and degrees not in seen:
                seen.append(degrees)
        degrees = (int(r["tensor_parallel"]), int(r["pipeline_parallel"]))
        rank = seen.index(degrees) + 1 if degrees in seen else 1000
        worst = max(worst, rank)
        print(f"{r['model']}: t={degrees[0]} p={degrees[1]} is {rank} of {len(seen)}, first {seen[0]}")
    print(f"worst {worst}")


table, data, *mode = sys.argv[1:]
rows = list(
    {
        "a100": lambda: published(
            data + "/megatron_table1.csv", {"recompute": "full"}, "measured_hardware_flops_per_s"
        ),
        "h100": lambda: published(
            data + "/megatron_h100_weak_scaling.csv",
            {"seq_len": 4096, "vocab": 131072, "tied_embeddings": 0},
            "measured_model_flops_per_s",
        ),
        "table2": lambda: table2(data + "/megatron_table2.csv"),
        "zero3": lambda: table2(data + "/megatron_table2.csv", "ZeRO-3"),
        "korthikanti": korthikanti,
        "dgx": dgx,
        "llama3": llama3,
    }[table]()
)
if mode == ["free"]:
    write([{k: v for k, v in r.items() if k not in PLAN} for r in rows])
elif mode == ["errors"]:
    errors(csv.DictReader(sys.stdin))
elif mode == ["ranks"]:
    ranks(rows, list(csv.DictReader(sys.stdin)))
else:
    write(rows)
