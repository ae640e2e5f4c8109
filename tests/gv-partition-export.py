"""gv-partition-export.py PART: random plans through gv-partition --export, each read back
by something that gv does not share.  Prints a line for every plan that is wrong; the
last line says how many were looked at.

megatron    by a parser of the layout's grammar and Megatron-LM's rules about layouts
deepspeed   by DeepSpeed's rule: the most even cut, of equal ones the last
torch       by torch.distributed.pipelining, whose own schedules have to be the same
alpa, pipedream   by Python's ast and json
"""
import ast
import csv
import io
import json
import random
import re
import subprocess
import sys

rng = random.Random(5)
seen = wrong = 0


def fail(what, *details):
    global wrong
    wrong += 1
    print("wrong:", what, *details)


def run(table, *options):
    p = subprocess.run(["gv-partition", *options], input=table, capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def layers_table(names, kinds=None):
    rows = ["node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes"]
    for i, name in enumerate(names):
        rows.append("%s,%s,%d,%d,%d,%d" % (name, (kinds or names)[i], rng.randint(1, 30), rng.randint(1, 60),
                                           rng.randint(1, 9) * 1000, rng.randint(1, 9) * 1000))
    return "\n".join(rows) + "\n"


def planned(table, *options):
    """The rows of the plan: (node_id, stage, replicas)."""
    code, out, err = run(table, *options)
    if code != 0:
        raise SystemExit("gv-partition failed: " + err)
    return [(r["node_id"], int(r["stage"]), int(r["replicas"])) for r in csv.DictReader(io.StringIO(out))]


def stages_of(plan):
    stages = [[] for _ in range(1 + max(s for _, s, _ in plan))]
    for name, stage, _ in plan:
        stages[stage].append(name)
    return stages


# ---- Megatron-LM ----

def unroll(text):
    """layout := (item [*number])*, item := letter | '|' | '(' layout ')'."""
    at = 0

    def layout():
        nonlocal at
        out = ""
        while at < len(text) and text[at] != ")":
            if text[at] == "(":
                at += 1
                item = layout()
                assert text[at] == ")"
            else:
                item = text[at]
                assert item in "EtmL|", item
            at += 1
            m = re.match(r"\*(\d+)", text[at:])
            if m:
                at += m.end()
                item *= int(m.group(1))
            out += item
        return out

    all_of_it = layout()
    assert at == len(text)
    return all_of_it.split("|")


def megatron():
    global seen
    for case in range(40):
        blocks = rng.choice([4, 7, 12, 24, 61])
        names = ["model.embed_tokens"] + ["model.layers.%d" % i for i in range(blocks)]
        kinds = ["Embedding"] + ["DecoderLayer"] * blocks
        for name, kind, n in (("model.mtp", "MTP", rng.randint(0, 1)), ("model.norm", "RMSNorm", rng.randint(0, 1)),
                              ("lm_head", "Linear", 1)):
            names += [name] * n
            kinds += [kind] * n
        table = layers_table(names, kinds)
        if case % 2 == 0:  # equal layers: equal stages, which are written as repeated
            table = re.sub(r"(layers\.\d+,DecoderLayer),.*", r"\1,10,20,5000,100", table)
        options = ["-l", "%d@1GB/s" % rng.choice([2, 3, 4, 8]), "--straight"]
        plan = planned(table, *options)
        code, out, err = run(table, *options, "--export=megatron")
        seen += 1
        letter = {"Embedding": "E", "DecoderLayer": "t", "MTP": "m", "RMSNorm": "", "Linear": "L"}
        want = ["".join(letter[kinds[names.index(n)]] for n in s) for s in stages_of(plan)]
        m = re.fullmatch(r"--num-layers (\d+)(?: --mtp-num-layers (\d+))? --tensor-model-parallel-size 1"
                         r" --pipeline-model-parallel-size (\d+) --pipeline-model-parallel-layout '([^']*)'\n", out)
        if not any("E" in s for s in want[1:]) and not any("L" in s for s in want[:-1]):
            if code != 0 or not m:
                fail("megatron", code, out, err)
                continue
            got = unroll(m.group(4))
            flat = "".join(got)
            if got != want or flat[0] != "E" or flat[-1] != "L" or flat.count("E") != 1 or flat.count("L") != 1 or \
                    flat.count("t") != int(m.group(1)) or len(got) % int(m.group(3)) != 0 or \
                    flat.count("m") != int(m.group(2) or 0):
                fail("megatron", m.group(4), got, want)
        elif code != 2 or "has to be in the" not in err:
            fail("megatron", code, out, err)


# ---- DeepSpeed ----

def balanced(weights, parts):
    """The cut of the least difference between the fullest and the emptiest part, made part by part from the
    left, of equally good ones the last."""
    total = [0]
    for w in weights:
        total.append(total[-1] + w)
    best = {(0, 0): (0, 0, float("inf"), None)}  # (items, parts): cost, most, least, cut in front of the last part
    for j in range(1, parts + 1):
        for i in range(j, len(weights) + 1):
            for k in range(i):
                if (k, j - 1) not in best:
                    continue
                _, most, least, _ = best[k, j - 1]
                most, least = max(most, total[i] - total[k]), min(least, total[i] - total[k])
                if (i, j) not in best or best[i, j][0] >= most - least:
                    best[i, j] = (most - least, most, least, k)
    cuts, i = [len(weights)], len(weights)
    for j in range(parts, 0, -1):
        i = best[i, j][3]
        cuts.append(i)
    return cuts[::-1]


def deepspeed():
    global seen
    methods = {}
    for case in range(60):
        n = rng.randint(4, 14)
        kinds = [rng.choice(["Linear", "Conv2d", "BatchNorm2d", "ReLU"]) for _ in range(n)]
        if case % 3 == 0:
            kinds = [rng.choice(["ReLU", "Pool"]) for _ in range(n)]
        table = layers_table(["n%d" % i for i in range(n)], kinds)
        if case % 3 == 1:  # the same work in each layer, for even cuts
            table = re.sub(r"(n\d+,\w+),.*", r"\1,10,20,5000,100", table)
        options = ["-l", "%d@1GB/s" % rng.choice([2, 3, 4]), "--straight"]
        if case % 3 == 0:  # a class in front of each stage
            for name, stage, _ in planned(table, *options):
                first = name == stages_of(planned(table, *options))[stage][0]
                if first:
                    table = re.sub(r"(?m)^(%s),\w+," % name, r"\1,Block,", table)
        plan = planned(table, *options)
        code, out, err = run(table, *options, "--export=deepspeed")
        seen += 1
        if code != 0:
            fail("deepspeed", code, err)
            continue
        got = json.loads(out)
        stages = stages_of(plan)
        parts = [0]
        for s in stages:
            parts.append(parts[-1] + len(s))
        method = got["partition_method"]
        methods[str(method).split(":")[0]] = 1
        if got["parts"] != parts or got["num_stages"] != len(stages) or got["data_parallel_size"] != 1:
            fail("deepspeed", got, parts)
        elif method == "uniform":
            if len({len(s) for s in stages}) != 1:
                fail("deepspeed: not uniform", got)
        elif method is not None:
            name = re.compile(method.split(":")[1], re.IGNORECASE)
            now = [line.split(",")[1] for line in table.splitlines()[1:]]
            if balanced([int(bool(name.search(k))) for k in now], len(stages)) != parts:
                fail("deepspeed:", method, parts, now)
    if set(methods) != {"None", "uniform", "type"}:
        fail("deepspeed: not all methods were seen:", methods)


# ---- torch ----

def torch_schedules():
    global seen
    from torch.distributed.pipelining import schedules as s

    def own(cls, ranks, chunks, n):
        """Its order of passes, without idle steps."""
        one = object.__new__(cls)
        one.pp_group_size, one._num_stages, one._n_microbatches = ranks, ranks * chunks, n
        one.n_local_stages, one.microbatches_per_round = chunks, ranks
        one.number_of_rounds = max(1, n // ranks)
        one._stages = []
        one.pipeline_order = {}
        if chunks > 1:
            orders = {r: one._calculate_single_rank_operations(r) for r in range(ranks)}
        else:
            one.stage_index_to_group_rank = {r: r for r in range(ranks)}
            orders = one._get_pipeline_order()
        return {r: [str(a) for a in o if a is not None and a.is_compute_op] for r, o in orders.items()}

    def load(text, ranks, chunks, n):
        """As torch reads it, which checks that every pass of every stage is there."""
        one = object.__new__(s.PipelineScheduleMulti)
        one.pp_group_size, one._num_stages, one._n_microbatches = ranks, ranks * chunks, n
        one._stages, one.pipeline_order = [], {}
        with open("torch-schedule.csv", "w") as f:
            f.write(text)
        one._load_csv("torch-schedule.csv")
        return {r: [str(a) for a in o] for r, o in one.pipeline_order.items()}

    compared = 0
    cases = [(name, ranks, n) for name in ("gpipe", "flush", "interleaved", "zb-h1") for ranks in (2, 3, 4) for n in (2, 4, 12)]
    for name, ranks, n in cases:
        chunks = 2 if name == "interleaved" else 1
        if chunks == 2 and n % ranks != 0:
            continue
        table = layers_table(["n%d" % i for i in range(ranks * chunks)])
        table = re.sub(r"(n\d+,\w+),.*", r"\1,10,20,1,1", table)
        code, out, err = run(table, "-l", "%d@100GB/s" % ranks, "--all-gpus", "--straight", "--schedule=" + name,
                             "--micro-batches=%d" % n, "--export=torch-schedule")
        seen += 1
        if code != 0:
            fail("torch:", name, ranks, n, err)
            continue
        try:
            got = load(out, ranks, chunks, n)
        except Exception as e:
            fail("torch does not load", name, ranks, n, e)
            continue
        if sorted(got) != list(range(ranks)) or (name == "zb-h1") != any("I" in a for a in got[0]):
            fail("torch: ranks, or parts of backward passes", name, ranks, n)
        cls = {"gpipe": s.ScheduleGPipe, "flush": s.Schedule1F1B, "interleaved": s.ScheduleInterleaved1F1B}.get(name)
        if cls is None or (name == "interleaved" and n == ranks):
            continue  # as many micro-batches as ranks: Megatron-LM runs all forward passes first, torch does not
        want = own(cls, ranks, chunks, n)
        for r in want:
            # torch draws some ranks of 1F1B with passes that there are not, such as 3F4 of 4 micro-batches
            if sorted(want[r]) == sorted(got[r]) and got[r] != want[r]:
                fail("torch:", name, ranks, n, got[r], want[r])
            compared += sorted(want[r]) == sorted(got[r])
    if compared < 30:
        fail("torch: only", compared, "ranks were compared")


# ---- PipeDream, Alpa ----

def pipedream():
    global seen
    for _ in range(30):
        n = rng.randint(3, 12)
        table = layers_table(["n%d" % i for i in range(n)])
        levels = ["-l", "%d@1MB/s" % rng.choice([2, 4])]
        if rng.random() < 0.5:
            levels += ["-l", "2@100kB/s"]
        options = [*levels, "--all-gpus"] if rng.random() < 0.5 else levels
        plan = planned(table, *options)
        stages, replicas = stages_of(plan), {s: r for _, s, r in plan}
        code, out, err = run(table, *options, "--export=pipedream")
        seen += 1
        got = json.loads(out)
        ranks, want, behind = 0, {}, {}
        for i in range(len(stages)):
            want[str(i)] = list(range(ranks, ranks + replicas[i]))
            ranks += replicas[i]
        for i in range(len(stages)):
            w = sum(replicas[k] for k in range(i, len(stages)))
            behind[str(i)] = -(-w // replicas[i]) - 1
        if got != {"module_to_stage_map": [*range(len(stages)), len(stages) - 1], "stage_to_rank_map": want,
                   "stage_to_depth_map": behind}:
            fail("pipedream", got, plan)

        code, out, err = run(table, *options, "--export=alpa")
        seen += 1
        call = ast.parse(out, mode="eval").body
        if call.func.id != "ManualStageOption" or call.args:
            fail("alpa", out)
        got = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
        ids = [[int(name[1:]) for name in s] for s in stages]
        hosts = [h * d for h, d in got["submesh_physical_shapes"]]
        if sorted(got) != ["forward_stage_layer_ids", "submesh_autosharding_option_dicts", "submesh_logical_shapes",
                           "submesh_physical_shapes"] or got["forward_stage_layer_ids"] != ids or \
                hosts != [replicas[i] for i in range(len(stages))] or \
                got["submesh_logical_shapes"] != [(replicas[i], 1) for i in range(len(stages))] or \
                got["submesh_autosharding_option_dicts"] != [{}] * len(stages) or \
                any(d > int(levels[1].split("@")[0]) for _, d in got["submesh_physical_shapes"]):
            fail("alpa", out, plan)


{"megatron": megatron, "deepspeed": deepspeed, "torch": torch_schedules, "pipedream": pipedream}[sys.argv[1]]()
print("looked at", seen, "and", wrong, "were wrong")
