# draw.awk -v kind=KIND -v seed=N [-v n=N -v m=N]: prints a table that is drawn at random, the
# same for the same seed everywhere.  KIND: cluster, nodes, rates, jobs, throughputs, entities,
# pairs, layers (even: of a few equal ones, many of which take or hold nothing), edges (wide:
# all between the first and the last layer), times (of layers on m GPU types), transformers,
# links (full: between all; odd: one way, none, far apart), fabric, changes, losses, stages.
# Of jobs, layers, GPUs of links there are n; m GPU types.

# Park and Miller's minimal standard generator; products stay below 2^53.
function draw(most) {
	state = state * 16807 % 2147483647
	return int(state / 2147483647 * most)
}
function of(list,    a, k) {
	k = split(list, a, " ")
	return a[1 + draw(k)]
}
# Of a job's type i on GPU type j, steps/s; in some columns many are equal, some are 0.
function rate(i, j) {
	if (draw(9) == 0)
		return 0
	return draw(4) == 0 ? 1 + draw(3) : (1 + draw(4000)) / of("10 40 100")
}
function cluster(    j) {
	print "gpu_type,gpus,usd_per_h"
	for (j = 0; j < m; j++)
		print "t" j "," 1 + draw(of("1 4 4 9")) "," (1 + draw(400)) / 100
}
function nodes(    j, k) {
	print "gpu_type,gpus,node,usd_per_h"
	for (j = 0; j < m; j++)
		for (k = 0; k < 1 + j % 3; k++)
			print "t" j "," 2 + 2 * ((j + k) % 2) ",n" (j + k) % 4 "," 1 + j
}
function rates(    i, j, job, need, least) {
	print "job_id,gpu_type,steps_per_s,scale_factor,priority_weight,entity,total_steps," \
	    "arrival_s,elapsed_s,deadline_s,min_steps_per_s,move_cost"
	for (i = 0; i < n; i++) {
		job = of("1 1 1 2 4") "," of("1 1 1 2 .5 3") "," of("a a b b/c") "," \
		    1 + draw(20000) "," 10 * i "," draw(900)
		need = draw(6) == 0 ? 5000 + draw(90000) : ""
		least = draw(8) == 0 ? draw(10) / 10 : ""
		for (j = 0; j < m; j++)
			if (draw(8) > 0)
				print "j" i ",t" j "," rate(i, j) "," job "," need "," \
				    least "," (i % 3) / 2
	}
}
function throughputs(    i, j) {
	print "job_type,gpu_type,scale_factor,steps_per_s"
	for (i = 0; i < 4; i++)
		for (j = 0; j < m; j++) {
			print "k" i ",t" j ",1," 1 + draw(500) / 10
			print "k" i ",t" j ",2," 1 + draw(800) / 10
		}
}
function jobs(    i, at) {
	print "job_id,job_type,scale_factor,total_steps,arrival_s,priority_weight,entity"
	for (i = 0; i < n; i++) {
		at += draw(of("1 400 1500"))
		print "j" i ",k" draw(4) "," of("1 1 2") "," 100 + draw(60000) "," at "," \
		    of("1 1 2") "," of("a b")
	}
}
function entities() {
	print "entity,parent,weight,quota_gpus"
	print "a,," 1 + draw(3) "," draw(3) "\nb,,1," draw(2) "\nb/c,b," 1 + draw(2) ","
}
# Some of all pairs of the jobs that rates draws.  Those of gangs are for the caller to leave out.
function pairs(    i, k, j) {
	print "job_a,job_b,scale_factor,gpu_type,steps_per_s_a,steps_per_s_b"
	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++)
			for (j = 0; j < m; j++)
				if (draw(3) == 0)
					print "j" i ",j" k ",1,t" j "," 1 + draw(300) / 10 "," \
					    1 + draw(300) / 10
}
function layers(    i, heavy) {
	print "node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes"
	for (i = 1; i <= n; i++) {
		heavy = draw(7) == 0 ? 20 : 1
		print i ",l" i % 5 "," heavy * (1 + draw(900)) / 100 "," heavy * (1 + draw(1800)) / 100 \
		    "," 4096 * (1 + draw(4000)) "," 1024 * draw(of("1 100 90000"))
	}
}
function even(    i) {
	print "node_id,layer,forward_ms,backward_ms,activation_bytes,parameter_bytes,update_ms," \
	    "kept_bytes,tied_with"
	for (i = 1; i <= n; i++)
		print i "," (i > 1 ? of("Linear Input Add __getitem__") : "Linear") "," of("0 1 1 2") "," of("0 2 2 4") \
		    "," of("0 1000 4096000") "," of("0 8000 40000000") "," of("0 0 .5") "," \
		    of("0 4096 900000") "," (i > 1 && draw(5) == 0 ? 1 + draw(i - 1) : "")
}
function wide(    i) {
	print "src,dst"
	for (i = 2; i < n; i++)
		print 1 "," i "\n" i "," n
}
function times(    i, j) {
	print "node_id,gpu_type,forward_ms,backward_ms"
	for (i = 1; i <= n; i++)
		for (j = 0; j < m; j++)
			print i ",t" j "," (1 + draw(900)) / 100 "," (1 + draw(1800)) / 100
}
function transformers(    heads, experts) {
	print "model,layers,hidden_size,attention_heads,seq_len,vocab,global_batch,kv_heads," \
	    "ffn_hidden_size,experts,experts_per_token,shared_ffn_hidden_size," \
	    "tied_embeddings,biases,gated_ffn,qk_norm,norm,positions,gpus"
	heads = of("4 8 12 16")
	experts = draw(3) == 0 ? of("4 8 6") : 0
	print "m" seed "," of("1 4 6 7 12 24") "," heads * of("64 128") "," heads "," \
	    of("512 2048 2047 8192 32768") "," of("1000 50257 128256") "," of("1 6 8 64") \
	    "," heads / of("1 2 4") "," of("512 4096 5000") "," experts "," \
	    (experts > 0 ? 1 + draw(3) : 0) "," (experts > 0 ? of("0 0 768") : 0) \
	    "," draw(2) "," draw(2) "," draw(2) "," draw(2) "," of("layernorm rmsnorm") \
	    "," of("learned rotary") "," of("1 2 4 6 8 12 16 64")
}
# A chain in which some branch off and come back.
function edges(    i, k) {
	print "src,dst"
	for (i = 1; i < n; i++) {
		k = draw(3) > 0 || i < 3 ? i : i - 1 - draw(2)
		print k "," i + 1
		if (k != i) # what is left without a reader comes in again
			print i "," (i + 2 <= n ? i + 2 : n)
	}
}
function links(dense,    i, k, w) {
	print "src,dst,gbytes_per_s"
	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++)
			if (k == i + 1 || draw(3) < dense) {
				w = of("1 1 2 12.5 25")
				print "gpu" i ",gpu" k "," w "\ngpu" k ",gpu" i "," \
				    (draw(5) == 0 ? 1 : w)
			}
}
function odd(    i, k) {
	print "src,dst,gbytes_per_s"
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if (i != k && (k == (i + 1) % n || draw(3) == 0))
				print "gpu" i ",gpu" k "," \
				    of("1 1 .001 3 7 1000 " (draw(6) == 0 ? 0 : 2))
}
# Every GPU at one of two switches, those at each other, some GPUs (all: odd seeds) in a ring.
function fabric(    i, w) {
	print "src,dst,gbytes_per_s\ns0,s1,20\ns1,s0,20"
	for (i = 0; i < n; i++) {
		w = of("5 10 12.5")
		print "gpu" i ",s" i % 2 "," w "\ns" i % 2 ",gpu" i "," w
		if (seed % 2 == 1 || draw(3) == 0)
			print "gpu" i ",gpu" (i + 1) % n "," w "\ngpu" (i + 1) % n ",gpu" i "," w
	}
}
# Of m models, n steps.
function losses(    i, k, loss) {
	print "step,model,loss,test_loss,accuracy"
	for (i = 0; i <= n; i++)
		for (k = 0; k < m; k++) {
			loss = (2 + k) / (1 + i * .1) + draw(100) / 500
			print i * 10 "," k "," loss "," \
			    (i % 4 == 0 ? loss * 1.1 : "") "," (i % 4 == 0 ? i / (n + 2) : "")
		}
}
# Times of a micro-batch in n stages of m replicas, of microseconds to seconds by seed.
function stages(    i, k, unit) {
	unit = seed % 3 == 0 ? .01 : seed % 3 == 1 ? 1 : 1000
	print "stage,replica,micro_batches,forward_ms,planned_forward_ms,backward_ms," \
	    "planned_backward_ms,other_ms,send_ms,update_ms,wait_ms"
	for (i = 0; i < n; i++)
		for (k = 0; k < m; k++)
			print i "," k ",160," unit * (1 + draw(90)) "," unit * (1 + draw(90)) \
			    "," unit * (1 + draw(90)) "," (i == 2 ? "" : unit * (1 + draw(90))) \
			    "," unit * draw(9) / 10 "," unit * draw(9) / 10 "," unit * draw(9) \
			    "," unit * draw(50)
}
function changes(    i, at) {
	print "time_s,gpu_type,event"
	for (i = 0; i < 4; i++) {
		at += 500 + draw(4000)
		print at ",t" i % m ",away\n" at + 1000 + draw(500) ",t" i % m ",back"
	}
}
BEGIN {
	OFMT = CONVFMT = "%.6g"
	state = seed * 7919 % 2147483646 + 1
	for (i = 0; i < 5; i++)
		draw(2)
	if (kind == "cluster") cluster()
	else if (kind == "nodes") nodes()
	else if (kind == "rates") rates()
	else if (kind == "jobs") jobs()
	else if (kind == "throughputs") throughputs()
	else if (kind == "entities") entities()
	else if (kind == "pairs") pairs()
	else if (kind == "layers") layers()
	else if (kind == "even") even()
	else if (kind == "edges") edges()
	else if (kind == "wide") wide()
	else if (kind == "times") times()
	else if (kind == "transformers") transformers()
	else if (kind == "links") links(1)
	else if (kind == "full") links(3)
	else if (kind == "odd") odd()
	else if (kind == "fabric") fabric()
	else if (kind == "changes") changes()
	else if (kind == "losses") losses()
	else if (kind == "stages") stages()
	else exit 2
}
