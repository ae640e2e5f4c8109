#!/bin/sh
# gpt.sh table HIDDEN LAYERS: a GPT as a model table, heads of 128 channels (of HIDDEN, where
# that is less).
# gpt.sh roofline HIDDEN LAYERS TOKENS BATCH WORDS: what each kernel of a step in bfloat16 has
# to do, from the shapes: launches, arithmetic, bytes, and the least time on a GPU that
# multiplies $GV_TFLOPS (700, of matrices by cuBLAS), attends $GV_ATTENTION_TFLOPS (200) and
# moves $GV_GBYTES (2800 GB/s): an H100's, as others have measured them.  The last row is the
# share of the matrix rate that such a step has.  Predicted, not measured.
# gpt.sh share, as roofline: the share of a step measured in $STEP_MS.
set -eu

table() {
	heads=$(($1 >= 128 ? $1 / 128 : 1))
	printf 'id\top\tfrom\tout\tk\tg\n1\tembed\t0\t%s\t\t\n' "$1"
	awk -v OFS='\t' -v h="$1" -v layers="$2" -v heads="$heads" '
		function row(op, from, out, k, g) { print ++id, op, from, out, k, g; return id }
		BEGIN {
			id = x = 1
			for (l = 0; l < layers; l++) {
				row("ln", x); row("linear", id, 3 * h, 1); row("causal", id, "", "", heads)
				row("linear", id, h, 1); x = row("add", x ";" id)
				row("ln", x); row("linear", id, 4 * h, 1); row("gelu", id)
				row("linear", id, h, 1); x = row("add", x ";" id)
			}
			row("ln", x); row("linear", id, "", 1); row("xent", id)
		}'
}

roofline() {
	awk -v h="$1" -v layers="$2" -v T="$3" -v n="$4" -v V="$5" -v step="${STEP_MS:-0}" -v rate="${GV_TFLOPS:-700}" \
		-v attention="${GV_ATTENTION_TFLOPS:-200}" -v gbytes="${GV_GBYTES:-2800}" '
	# what, times a step, launches, 10^9 operations, 10^9 bytes, whose rate
	function kernel(what, times, launches, gflop, gbyte, tflops,   us, by) {
		us = tflops > 0 ? 1000 * gflop / tflops : 0; by = "arithmetic"
		if (1e6 * gbyte / gbytes > us) { us = 1e6 * gbyte / gbytes; by = "bytes" }
		printf "%-34s %6d %9.1f %9.2f %9.0f  %s\n", what, times * launches, times * gflop, times * gbyte, times * us, by
		all += times * us; launched += times * launches; moved += times * gbyte; done += times * gflop
	}
	function product(what, in_, out, times) {
		kernel(what ": y", times, 1, 2e-9 * N * in_ * out, 2e-9 * (N * (in_ + out) + in_ * out), rate)
		kernel(what ": bias", times, 1, 0, 4e-9 * N * out, 0)
		kernel(what ": dx", times, 1, 2e-9 * N * in_ * out, 2e-9 * (N * (in_ + out) + in_ * out), rate)
		kernel(what ": dw", times, 1, 2e-9 * N * in_ * out, 2e-9 * N * (in_ + out) + 4e-9 * in_ * out, rate)
		kernel(what ": gradient of the bias", times, 2, 0, 2e-9 * N * out, 0)
		model += times * 6e-9 * N * in_ * out
		P += times * (in_ + 1) * out
	}
	BEGIN {
		N = n * T; e = 2e-9 * N * h; s = 1e-9 * N * T * h # a pass over [N][h]; a causal product of heads
		printf "%-34s %6s %9s %9s %9s  %s\n", "kernel", "number", "GFLOP", "GB", "us", "bound by"
		kernel("embed: y, gradient", 1, 4, 0, 3 * e + 4e-9 * (V + T) * h, 0); P += (V + T) * h
		product("qkv", h, 3 * h, layers); product("out", h, h, layers)
		product("up", h, 4 * h, layers); product("down", 4 * h, h, layers)
		kernel("attention: y", layers, 1, 2 * s, 4 * e, attention)
		kernel("attention: sums again", layers, 1, s, 2 * e, attention)
		kernel("attention: dots", layers, 1, 0, 2 * e, 0)
		kernel("attention: queries", layers, 1, 3 * s, 5 * e, attention)
		kernel("attention: keys, values", layers, 1, 4 * s, 6 * e, attention)
		model += layers * 7 * s
		kernel("ln: y", 2 * layers + 1, 1, 0, 2 * e, 0)
		kernel("ln: dx", 2 * layers + 1, 1, 0, 4 * e, 0)
		kernel("ln: gradients", 2 * layers + 1, 5, 0, 4 * e, 0); P += 2 * (2 * layers + 1) * h
		kernel("gelu: y", layers, 1, 0, 8 * e, 0)
		kernel("gelu: dx", layers, 1, 0, 12 * e, 0)
		kernel("add: y", 2 * layers, 1, 0, 3 * e, 0)
		kernel("add: dx of both", 2 * layers, 2, 0, 5 * e, 0)
		product("head", h, V, 1)
		kernel("xent", 1, 2, 0, 6e-9 * N * V, 0)
		kernel("update (adamw)", 1, 1, 0, 30e-9 * P, 0)
		printf "%-34s %6d %9.1f %9.2f %9.0f\n", "a step, " sprintf("%.0f", P / 1e6) " M parameters", launched, done, moved, all
		if (step > 0) {
			printf "measured: %.4g ms, %.0f %% of the matrix rate measured (%g TFLOP/s)\n", step, 100 * model / step / rate, rate
			exit
		}
		printf "share of the matrix rate (%g TFLOP/s): %.0f %% of the products and attention that a step needs, %.1f TFLOP\n", rate, 100 * model / (all * 1e-3) / rate, model / 1000
	}'
}

what=$1
shift
case $what in
table) table "$@" ;;
roofline) STEP_MS=0 && roofline "$@" ;;
share) roofline "$@" | tail -n 1 ;;
*) exit 2 ;;
esac
