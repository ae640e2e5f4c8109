#include "help.h"

#define LAYERS_USAGE "usage: gv-partition -l N@BANDWIDTH... [OPTION...] [LAYERS]"
#define EQUAL_USAGE \
	"usage: gv-partition -p 2bw -l N@BANDWIDTH... --batch=N [OPTION...] [LAYERS]"
#define TRANSFORMERS_USAGE "usage: gv-partition -p ptd-p [OPTION...] [TRANSFORMERS]"

static const char layers[] = LAYERS_USAGE
    "\n"
    "Cut a model into stages for pipeline and data parallel training.\n"
    "  -p, --planner=2bw|ptd-p   another planner; -p NAME --help: its options\n"
    "  -l, --level=N@BANDWIDTH   N GPUs; again: N groups of those: 4@25GB/s, 4@10Gb/s\n"
    "      --levels=FILE         a table of them;  --gpus=N   take so many\n"
    "  -c, --cluster=FILE        GPUs of several types, with -l @BANDWIDTH\n"
    "      --times=FILE, --gpu-speed=TYPE=X    how fast these are\n"
    "  -e, --edges=FILE          table of edges: src, dst (or behind the layers)\n"
    "  -m, --memory=BYTES, --moving=BANDWIDTH   a GPU holds; a CPU moves itself\n"
    "      --flat, --straight    one pipeline over all levels; no replicas\n"
    "      --all-gpus, --fewest-gpus           no idle ones; no more than needed\n"
    "      --cost=paper|compat   formulas of PipeDream's paper, or of its program\n"
    "      --cut=true|upstream|none   bytes that cross; as its program counts; free\n"
    "      --prefixes=N          look at all prefixes up to so many (2048)\n"
    "      --ties=together|apart, --optimizer=NAME, --recompute=auto|none|full\n"
    "      --schedule=1f1b|2bw|flush|gpipe|interleaved|zb-h1   order of the passes\n"
    "      --micro-batches=N, --chunks=N   of an update; interleaved: of a GPU\n"
    "      --top=N, --rank=N     run plans of many kinds: list them, take the Nth\n"
    "      --evaluate            the input is a plan: what does it cost?\n"
    "      --explain, --timeline, --compare=PLAN   write stages; steps; two plans\n"
    "      --export=PROGRAM      for megatron, deepspeed, torch, torch-schedule, ...\n"
    "  -o, --output=FILE, --tsv  write here, whole or not at all; write TSV\n"
    "  -q, --quiet, -v, --verbose   no warnings; times and bounds on stderr\n"
    "  -h, --help, -V, --version\n";

static const char equal[] = EQUAL_USAGE
    "\n"
    "Cut a model into equal stages, equally replicated, for training by 2BW.\n"
    "      --batch=N             minibatches of an update, at most\n"
    "      --speeds=FILE         of larger micro-batches: micro_batch, speed\n"
    "  -l, --level=N@BANDWIDTH   N GPUs; again: N groups of those: 4@25GB/s, 4@10Gb/s\n"
    "      --levels=FILE         a table of them: level, gpus, gbytes_per_s\n"
    "      --gpus=N              take so many of them\n"
    "      --moving=BANDWIDTH    CPUs: what one moves itself, with --timeline\n"
    "  -e, --edges=FILE          table of edges: src, dst (or behind the layers)\n"
    "  -m, --memory=BYTES        of a GPU: every stage has to fit\n"
    "      --optimizer=sgd|momentum|adam   its state in memory\n"
    "      --recompute=auto|none|full      activations: only where needed, ...\n"
    "      --cut=true|upstream|none   bytes that cross; as its program counts; free\n"
    "      --prefixes=N          look at all prefixes up to so many (2048)\n"
    "      --ties=together|apart layers with one weight: in one stage (together)\n"
    "      --top=N               a table of the N best ways instead (10; 0: all)\n"
    "      --timeline            write what each GPU does when instead\n"
    "      --export=PROGRAM      for megatron, deepspeed, torch, torch-schedule, ...\n"
    "      --tsv                 write TSV\n"
    "  -o, --output=FILE         write here, whole or not at all\n"
    "  -q, --quiet               no warnings\n"
    "  -v, --verbose             the way that was chosen and its times on stderr\n"
    "  -h, --help                show this\n"
    "  -V, --version             show the version\n";

static const char transformers[] = TRANSFORMERS_USAGE
    "\n"
    "List the ways to train transformers, tensor, pipeline and data parallel.\n"
    "      --gpus=N              where the table does not say\n"
    "      --gpu-type=TYPE       where the table does not say\n"
    "      --gpu-types=FILE      what GPUs can do, instead of the shipped table\n"
    "  -l, --level=N@BANDWIDTH   N GPUs of a server; again: N servers\n"
    "      --levels=FILE         a table of them: level, gpus, gbytes_per_s\n"
    "  -m, --memory=BYTES        of a GPU: every stage has to fit\n"
    "      --precision=bf16|fp16|fp32\n"
    "      --features=LIST       of the training program; none: as in 2021\n"
    "      --zero=0|1|2|3|auto   what replicas split: state, gradients, weights\n"
    "      --recompute=auto|none|selective|full\n"
    "      --schedule=flush|interleaved|gpipe|zb-h1   order of the passes\n"
    "      --evaluate            what do plans cost, also those that do not fit?\n"
    "      --top=N               the N best of each row (10; 0: all)\n"
    "      --export=megatron     write options of Megatron-LM instead\n"
    "      --tsv                 write TSV\n"
    "  -o, --output=FILE         write here, whole or not at all\n"
    "  -q, --quiet               no warnings\n"
    "  -v, --verbose             say which GPU types were not measured\n"
    "  -h, --help                show this\n"
    "  -V, --version             show the version\n";

const struct help planner_help[PLANNERS] = {
    [PLANNER_PIPEDREAM] = {LAYERS_USAGE, layers},
    [PLANNER_2BW] = {EQUAL_USAGE, equal},
    [PLANNER_PTD_P] = {TRANSFORMERS_USAGE, transformers},
};
