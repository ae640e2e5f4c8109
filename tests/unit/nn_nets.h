/* Nets large enough that threads, ranks and arrays share their work. */
#ifndef NN_NETS_H
#define NN_NETS_H

#include "nn_help.h"

#ifndef HEAD
#define HEAD "id,op,from,out,k,s,p,g,act,bias\n"
#endif

static const struct net_case {
	const char *name, *table;
	size_t height, width, channels, classes, batch, shards, steps;
} nets[] = {
    {"mlp",
	HEAD "1,linear,,70,,,,,relu,\n2,linear,,33,,,,,relu,\n3,linear,,,,,,,,\n4,xent,,,"
	     ",,,,,\n",
	5, 7, 3, 10, 23, 8, 60},
    {"cnn",
	HEAD
	"1,conv,,9,3,1,1,,relu,\n2,maxpool,,,2,,,,,\n3,conv,,12,3,2,1,3,relu,\n"
	"4,avgpool,,,2,1,,,,\n5,linear,,20,,,,,relu,\n6,linear,,,,,,,,\n7,xent,,,,,,,,\n",
	9, 8, 1, 4, 13, 4, 50},
    {"cnn with bn",
	HEAD "1,conv,,8,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,maxpool,,,2,,,,,\n4,conv,,16,3,1,"
	     "1,,,0\n"
	     "5,bn,,,,,,,relu,\n6,avgpool,,,,,,,,\n7,linear,,,,,,,,\n8,xent,,,,,,,,\n",
	8, 8, 3, 5, 18, 4, 50},
    {"bn first, a wide layer",
	HEAD "1,bn,,,,,,,,\n2,linear,,300,,,,,,\n3,bn,,,,,,,relu,\n4,linear,,,,,,,,\n5,"
	     "xent,,,,,,,,\n",
	1, 1, 37, 3, 9, 4, 50},
    /* shards of more samples than are packed at a time, a matrix of several pieces */
    {"a large batch",
	HEAD "1,linear,,110,,,,,relu,\n2,linear,,9,,,,,relu,\n3,linear,,,,,,,,\n"
	     "4,xent,,,,,,,,\n",
	5, 5, 4, 4, 1100, 4, 2},
    /* enough work for the threads to share every kind of loop */
    {"a larger one",
	HEAD "1,conv,,24,3,1,1,,,\n2,bn,,,,,,,relu,\n3,maxpool,,,2,,,,,\n"
	     "4,linear,,150,,,,,relu,\n5,linear,,,,,,,,\n6,xent,,,,,,,,\n",
	16, 16, 1, 10, 32, 4, 4},
    {"residual blocks",
	HEAD "1,conv,,8,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,conv,,8,3,1,1,,relu,\n"
	     "4,conv,,8,3,1,1,,,0\n5,bn,,,,,,,,\n6,add,5;2,,,,,,relu,\n"
	     "7,conv,6,12,3,2,1,,,\n8,conv,6,12,1,2,0,,,\n9,maxpool,6,,2,,,,,\n"
	     "10,conv,9,12,1,,,,,\n11,add,7;8;10,,,,,,relu,\n12,linear,,,,,,,,\n"
	     "13,xent,,,,,,,,\n",
	8, 8, 3, 5, 14, 4, 30},
    {"dropout, concat, acts and bn",
	"id,op,from,out,k,s,p,g,act,bias,rate\n"
	"1,conv,,8,3,1,1,,,0,\n2,bn,,,,,,,leaky,,\n3,dropout,,,,,,,,,0.2\n"
	"4,conv,,8,3,1,1,8,gelu,,\n5,conv,2,5,1,,,,tanh,,\n6,concat,3;4;5,,,,,,,,\n"
	"7,conv,,12,3,2,1,,silu,,\n8,maxpool,,,,,,,,,\n9,avgpool,7,,,,,,,,\n"
	"10,concat,8;9,,,,,,relu,,\n11,dropout,,,,,,,,,0.5\n12,linear,,20,,,,,sigmoid,,\n"
	"13,linear,,,,,,,,,\n14,xent,,,,,,,,,\n",
	7, 8, 3, 5, 19, 8, 30},
    {"a transformer",
	HEAD "1,embed,,24,,,,,,\n2,ln,,,,,,,,\n3,linear,,72,1,,,,,\n4,causal,,,,,,3,,\n"
	     "5,linear,,24,1,,,,,\n6,add,1;5,,,,,,,\n7,ln,,,,,,,,\n8,linear,,96,1,,,,,\n"
	     "9,gelu,,,,,,,,\n10,linear,,24,1,,,,,\n11,add,6;10,,,,,,,\n12,ln,,,,,,,,\n"
	     "13,linear,,72,1,,,,,\n14,attention,,,,,,2,,\n15,linear,,24,1,,,,,\n"
	     "16,add,11;15,,,,,,,\n17,ln,,,,,,,,\n18,linear,,,1,,,,,0\n19,xent,,,,,,,,\n",
	50, 1, 1, 40, 10, 4, 6},
    /* weights that threads have by columns */
    {"wide layers, few samples",
	HEAD "1,linear,,768,,,,,relu,\n2,linear,,768,,,,,relu,\n3,linear,,768,,,,,,\n"
	     "4,add,2;3,,,,,,relu,\n5,linear,,,,,,,,\n6,xent,,,,,,,,\n",
	1, 1, 61, 5, 6, 4, 2},
    /* by rows, which are no whole panels, and by columns where rows are few */
    {"deep and wide layers",
	HEAD "1,linear,,150,,,,,relu,\n2,linear,,96,,,,,relu,0\n3,linear,,768,,,,,relu,\n"
	     "4,linear,,,,,,,,\n5,xent,,,,,,,,\n",
	1, 1, 211, 5, 20, 4, 3},
    /* fewer samples than threads: places */
    {"few images",
	HEAD
	"1,conv,,24,3,1,1,,relu,\n2,conv,,24,5,2,2,2,relu,\n3,conv,2,36,1,,,,,\n"
	"4,conv,2,36,3,1,1,,,\n5,add,3;4,,,,,,relu,\n6,linear,,,,,,,,\n7,xent,,,,,,,,\n",
	23, 21, 3, 5, 4, 4, 3},
    /* whose weights are packed tap by tap, in several strips, and rows that are relayed */
    {"few images, many channels",
	HEAD "1,conv,,20,3,1,1,,relu,\n2,conv,,140,3,2,1,,,\n3,conv,,30,2,2,,,relu,\n"
	     "4,linear,,48,,,,,relu,\n5,linear,,,,,,,,\n6,xent,,,,,,,,\n",
	12, 11, 3, 5, 4, 4, 3},
    /* rows that are relayed in blocks of samples, the last of which is smaller */
    {"more samples than a tile has",
	HEAD "1,linear,,48,,,,,relu,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", 1, 1, 1100, 5,
	30, 4, 3},
    {"more places than a tile has",
	HEAD "1,embed,,400,,,,,,\n2,linear,,100,1,,,,relu,\n3,linear,,,1,,,,,\n"
	     "4,xent,,,,,,,,\n",
	3, 1, 1, 40, 10, 4, 3},
};
enum { NETS = sizeof(nets) / sizeof(nets[0]) };

#endif
