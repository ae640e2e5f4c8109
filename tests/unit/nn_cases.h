/* The small nets on which every operator is tested: gradients, backends, schedules. */
#ifndef NN_CASES_H
#define NN_CASES_H

#include "nn_help.h"

#ifndef HEAD
#define HEAD "id,op,from,out,k,s,p,g,act,bias\n"
#endif
#define HEAD_DIR  "id,op,from,out,bias,dir\n"
#define HEAD_RATE "id,op,from,out,k,s,p,g,act,bias,rate\n"

static const struct help_case {
	const char *name, *table;
	size_t height, width, channels, classes, batch, models, shards;
} cases[] = {
    {"linear", HEAD "1,linear,,,,,,,,\n2,xent,,,,,,,,\n", 1, 1, 7, 3, 5, 2, 2},
    {"linear without bias", HEAD "1,linear,,,,,,,,0\n2,xent,,,,,,,,\n", 2, 3, 2, 4, 3, 1,
	1},
    {"linear relu linear",
	HEAD "1,linear,,9,,,,,relu,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", 3, 1, 2, 5, 7,
	2, 4},
    {"relu as a row",
	HEAD "1,linear,,9,,,,,,\n2,relu,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n", 1,
	1, 4, 3, 4, 2, 4},
    {"gelu as a row, read with its input",
	HEAD "1,linear,,9,,,,,,\n2,gelu,,,,,,,,\n3,gelu,1,,,,,,,\n4,add,1;2;3,,,,,,,\n"
	     "5,linear,,,,,,,,\n6,xent,,,,,,,,\n",
	1, 1, 4, 3, 4, 2, 4},
    {"conv", HEAD "1,conv,,3,3,1,1,,,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", 5, 4, 2, 3, 3,
	2, 2},
    {"conv, conv behind it",
	HEAD
	"1,conv,,3,3,1,1,,,\n2,conv,,4,2,1,0,,relu,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	5, 4, 2, 3, 3, 2, 2},
    {"conv of stride 2 and padding",
	HEAD "1,conv,,4,1,1,0,,,\n2,conv,,5,3,2,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	7, 6, 3, 4, 3, 1, 2},
    {"conv of stride 3, window 2",
	HEAD "1,conv,,4,1,1,0,,,\n2,conv,,5,2,3,0,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	8, 7, 3, 4, 2, 1, 1},
    {"conv with padding beyond the window",
	HEAD "1,conv,,4,1,1,2,,,\n2,conv,,2,2,1,3,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	3, 3, 2, 4, 2, 1, 1},
    {"conv in groups",
	HEAD "1,conv,,6,3,1,1,1,,\n2,conv,,9,3,2,1,3,relu,\n3,linear,,,,,,,,\n4,xent,,,,,"
	     ",,,\n",
	5, 5, 2, 3, 3, 2, 2},
    {"depthwise, pointwise",
	HEAD "1,conv,,4,1,1,0,,relu,\n2,conv,,4,3,1,1,4,,\n3,conv,,5,1,1,0,,relu,\n4,"
	     "linear,,,,,,,,\n"
	     "5,xent,,,,,,,,\n",
	4, 3, 3, 3, 3, 2, 2},
    {"depthwise, vectors and a rest, strides, two readers",
	HEAD
	"1,conv,0,37,1,1,0,,,\n2,conv,,37,3,2,1,37,relu,0\n3,conv,1,37,2,2,0,37,,\n"
	"4,add,2;3,,,,,,,\n5,conv,4,37,5,1,2,37,,\n6,maxpool,,,3,,,,,\n7,linear,,,,,,,,\n"
	"8,xent,,,,,,,,\n",
	6, 6, 2, 3, 3, 2, 2},
    {"conv with wide windows",
	HEAD
	"1,conv,,40,1,1,0,,,\n2,conv,,3,3,1,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	3, 3, 2, 3, 2, 1, 2},
    {"maxpool",
	HEAD "1,conv,,3,1,1,0,,,\n2,maxpool,,,2,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	5, 4, 2, 3, 4, 2, 4},
    {"maxpool, windows that overlap",
	HEAD
	"1,conv,,3,1,1,0,,,\n2,maxpool,,,3,2,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	6, 5, 2, 3, 3, 1, 1},
    {"avgpool",
	HEAD
	"1,conv,,3,1,1,0,,,\n2,avgpool,,,3,2,1,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	6, 5, 2, 3, 3, 2, 2},
    {"avgpool of all",
	HEAD
	"1,conv,,3,2,1,0,,relu,\n2,avgpool,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	4, 5, 2, 3, 3, 2, 2},
    {"bn", HEAD "1,linear,,6,,,,,,\n2,bn,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n", 1,
	1, 5, 3, 7, 2, 4},
    {"bn of the sample", HEAD "1,bn,,,,,,,,\n2,linear,,,,,,,,\n3,xent,,,,,,,,\n", 2, 2, 3,
	3, 4, 1, 2},
    {"conv bn relu, twice",
	HEAD
	"1,conv,,3,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,maxpool,,,2,,,,,\n4,conv,,4,3,1,1,,,0\n"
	"5,bn,,,,,,,relu,\n6,avgpool,,,,,,,,\n7,linear,,,,,,,,\n8,xent,,,,,,,,\n",
	6, 6, 2, 4, 5, 2, 4},
    {"a whole net",
	HEAD "1,conv,,4,3,1,1,,relu,\n2,maxpool,,,2,,,,,\n3,conv,,6,3,1,1,2,relu,\n4,"
	     "maxpool,,,2,,,,,\n"
	     "5,linear,,11,,,,,relu,\n6,linear,,,,,,,,\n7,xent,,,,,,,,\n",
	9, 8, 1, 5, 5, 2, 4},
    {"a residual connection",
	HEAD "1,linear,,6,,,,,relu,\n2,linear,,6,,,,,relu,\n3,add,1;2,,,,,,relu,\n"
	     "4,linear,,,,,,,,\n5,xent,,,,,,,,\n",
	1, 1, 5, 3, 5, 2, 2},
    {"the sample added, one output read four times",
	HEAD "1,relu,0,,,,,,,\n2,linear,0,12,,,,,,\n3,add,2;0;2;1,,,,,,relu,\n"
	     "4,linear,3,12,,,,,,\n5,relu,3,,,,,,,\n6,add,5;3;4,,,,,,,\n"
	     "7,linear,,,,,,,,\n8,xent,,,,,,,,\n",
	1, 1, 12, 3, 4, 2, 1},
    {"convs, pools and a relu that read one output",
	HEAD "1,conv,,4,3,1,1,,relu,\n2,conv,1,4,3,2,1,,,\n3,maxpool,1,,3,2,1,,,\n"
	     "4,avgpool,1,,3,2,1,,,\n5,relu,1,,,,,,,\n6,conv,5,4,1,2,0,,,\n"
	     "7,conv,1,4,3,2,1,4,,\n8,add,2;3;4;6;7,,,,,,relu,\n9,linear,,,,,,,,\n"
	     "10,xent,,,,,,,,\n",
	5, 5, 2, 3, 3, 2, 2},
    {"residual blocks with bn, as a ResNet",
	HEAD "1,conv,,4,3,1,1,,,0\n2,bn,,,,,,,relu,\n3,conv,2,4,3,1,1,,,0\n"
	     "4,bn,,,,,,,relu,\n5,conv,,4,3,1,1,,,0\n6,bn,,,,,,,,\n7,add,6;2,,,,,,relu,\n"
	     "8,conv,7,6,3,2,1,,,0\n9,bn,,,,,,,relu,\n10,conv,,6,3,1,1,,,0\n"
	     "11,bn,,,,,,,,\n12,conv,7,6,1,2,0,,,0\n13,bn,,,,,,,,\n"
	     "14,add,11;13,,,,,,relu,\n15,avgpool,,,,,,,,\n16,linear,,,,,,,,\n"
	     "17,xent,,,,,,,,\n",
	5, 5, 2, 3, 5, 2, 4},
    {"labels at every place",
	HEAD "1,conv,,6,3,1,1,,relu,\n2,conv,,4,1,1,0,,,\n3,xent,,,,,,,,\n", 5, 3, 2, 4,
	5, 2, 4},
    {"labels at every place of the sample", HEAD "1,bn,,,,,,,,\n2,xent,,,,,,,,\n", 3, 2,
	4, 4, 3, 2, 2},
    {"mse", HEAD "1,linear,,7,,,,,relu,\n2,linear,,,,,,,,\n3,mse,,,,,,,,\n", 2, 1, 3, 3,
	5, 2, 4},
    {"mse of one number",
	HEAD "1,linear,,7,,,,,relu,\n2,linear,,1,,,,,,\n3,mse,,,,,,,,\n", 2, 1, 3, 1, 3,
	1, 2},
    {"bce at every place",
	HEAD "1,conv,,6,3,1,1,,relu,\n2,conv,,2,3,1,1,,,\n3,bce,,,,,,,,\n", 4, 3, 2, 2, 5,
	2, 4},
    {"linear at every place",
	HEAD "1,linear,,6,1,,,,relu,\n2,linear,,4,1,,,,,0\n3,xent,,,,,,,,\n", 5, 1, 3, 4,
	5, 2, 4},
    {"tokens and their places, their mean",
	HEAD "1,embed,,5,7,,,,,\n2,avgpool,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n",
	6, 1, 1, 3, 5, 2, 4},
    {"tokens alone", HEAD "1,embed,,5,,,,,,0\n2,linear,,,1,,,,,\n3,xent,,,,,,,,\n", 6, 1,
	1, 4, 3, 1, 2},
    {"ln", HEAD "1,linear,,6,,,,,,\n2,ln,,,,,,,,\n3,linear,,,,,,,,\n4,xent,,,,,,,,\n", 1,
	1, 5, 3, 5, 2, 4},
    {"ln of places, read with its input, and of the sample",
	HEAD "1,ln,0,,,,,,,0\n2,linear,,5,1,,,,,\n3,ln,2,,,,,,,\n4,ln,2,,,,,,,0\n"
	     "5,add,2;4;3,,,,,,relu,\n6,linear,,,1,,,,,\n7,xent,,,,,,,,\n",
	5, 2, 3, 3, 5, 2, 2},
    {"attention",
	HEAD "1,linear,,9,1,,,,,\n2,attention,,,,,,,,\n3,linear,,,1,,,,,\n"
	     "4,xent,,,,,,,,\n",
	5, 1, 4, 3, 3, 2, 2},
    {"attention of heads, whose input is read twice",
	HEAD
	"1,linear,,12,1,,,,,\n2,causal,1,,,,,2,,\n3,attention,1,,,,,2,,\n"
	"4,linear,1,4,1,,,,,\n5,add,2;4;3,,,,,,,\n6,linear,,,1,,,,,\n7,xent,,,,,,,,\n",
	4, 2, 3, 3, 3, 2, 2},
    {"causal attention, many places",
	HEAD "1,linear,,6,1,,,,,\n2,causal,,,,,,,,\n3,xent,,,,,,,,\n", 101, 1, 2, 2, 2, 1,
	2},
    {"a transformer",
	HEAD "1,embed,,8,,,,,,\n2,ln,,,,,,,,\n3,linear,,24,1,,,,,\n4,causal,,,,,,2,,\n"
	     "5,linear,,8,1,,,,,\n6,add,1;5,,,,,,,\n7,ln,,,,,,,,\n8,linear,,16,1,,,,,\n"
	     "9,gelu,,,,,,,,\n10,linear,,8,1,,,,,\n11,add,6;10,,,,,,,\n12,ln,,,,,,,,\n"
	     "13,linear,,,1,,,,,0\n14,xent,,,,,,,,\n",
	7, 1, 1, 6, 5, 2, 4},
    {"bn reads what another row reads",
	HEAD "1,linear,,6,,,,,relu,\n2,bn,1,,,,,,,\n3,bn,1,,,,,,relu,\n"
	     "4,linear,1,6,,,,,,\n5,add,2;3;4,,,,,,,\n6,linear,,,,,,,,\n7,xent,,,,,,,,\n",
	1, 1, 4, 3, 6, 2, 2},
    {"every act, behind every operator that has one",
	HEAD "1,conv,,4,3,1,1,,silu,\n2,bn,,,,,,,gelu,\n3,conv,1,4,3,1,1,4,leaky,\n"
	     "4,add,1;2;3,,,,,,tanh,\n5,concat,4;0;1,,,,,,sigmoid,\n"
	     "6,conv,5,3,1,1,0,,gelu-tanh,\n7,linear,6,9,,,,,gelu,\n"
	     "8,bn,7,,,,,,leaky:0.5,\n9,linear,,9,,,,,sigmoid,\n"
	     "10,add,7;8;9,,,,,,silu,\n11,linear,,7,,,,,tanh,\n12,linear,,,,,,,,\n"
	     "13,xent,,,,,,,,\n",
	4, 3, 2, 3, 4, 2, 2},
    {"gelu-tanh, and one that goes on by itself, behind all of its kinds",
	HEAD "1,conv,,4,3,1,1,,gelu-tanh,\n2,tconv,,3,3,1,1,,gelu-tanh,\n"
	     "3,bn,,,,,,,gelu-tanh,\n4,add,2;3,,,,,,gelu-tanh,\n"
	     "5,concat,4;2,,,,,,gelu-tanh,\n6,linear,,9,,,,,gelu-tanh,\n"
	     "7,linear,,,,,,,,\n8,xent,,,,,,,,\n",
	4, 3, 2, 3, 4, 2, 2},
    {"concat, one input twice, relu behind",
	HEAD "1,conv,,3,3,1,1,,relu,\n2,conv,1,5,1,1,0,,,\n3,concat,1;2;0;1,,,,,,relu,\n"
	     "4,maxpool,3,,2,,,,,\n5,avgpool,3,,2,,,,,\n6,concat,5;4,,,,,,,\n"
	     "7,linear,,8,,,,,,\n8,linear,6,5,,,,,relu,\n9,concat,8;7,,,,,,,\n"
	     "10,linear,,,,,,,,\n11,xent,,,,,,,,\n",
	5, 4, 2, 3, 5, 2, 4},
    {"dropout",
	HEAD_RATE
	"1,dropout,0,,,,,,,,0.25\n2,linear,,9,,,,,relu,,\n3,dropout,,,,,,,,,0.5\n"
	"4,linear,2,9,,,,,,,\n5,dropout,4,,,,,,,,0\n6,add,3;5;4,,,,,,tanh,,\n"
	"7,linear,,,,,,,,,\n8,xent,,,,,,,,,\n",
	2, 3, 2, 4, 7, 2, 2},
    {"dropout of maps, concat and bn",
	HEAD_RATE "1,conv,,5,3,1,1,,,0,\n2,bn,,,,,,,relu,,\n3,dropout,,,,,,,,,0.3\n"
		  "4,conv,,6,3,1,1,,silu,,\n5,concat,2;4,,,,,,,,\n"
		  "6,maxpool,,,,,,,,,\n7,dropout,,,,,,,,,0.5\n8,linear,,,,,,,,,\n"
		  "9,xent,,,,,,,,,\n",
	4, 4, 3, 3, 5, 2, 4},
    {"tconv",
	HEAD
	"1,tconv,0,4,3,2,1,,relu,\n2,tconv,1,3,2,1,0,,,0\n3,tconv,1,6,4,3,2,2,silu,\n"
	"4,tconv,1,5,1,2,,,,\n5,linear,4,7,,,,,,\n6,linear,3,7,,,,,,\n"
	"7,linear,2,7,,,,,,\n8,add,5;6;7,,,,,,,\n9,linear,,,,,,,,\n10,xent,,,,,,,,\n",
	3, 2, 2, 3, 3, 2, 2},
    {"tconv and conv in turn, depthwise, twice read",
	HEAD
	"1,conv,,6,3,2,1,,leaky,\n2,tconv,1,6,4,2,1,6,leaky,\n3,conv,2,6,3,2,1,,,\n"
	"4,tconv,1,4,2,3,0,2,,\n5,add,3;1,,,,,,,\n6,linear,4,5,,,,,,\n"
	"7,linear,5,5,,,,,,\n8,concat,6;7,,,,,,,\n9,linear,,,,,,,,\n10,xent,,,,,,,,\n",
	6, 5, 2, 3, 4, 2, 4},
    {"lstm, from the sample, both ways, back, without bias",
	HEAD_DIR "1,lstm,0,6,,both\n2,lstm,1,5,0,\n3,lstm,1,5,,back\n4,add,2;3,,,\n"
		 "5,lstm,4,5,,forward\n6,add,5;4,,,\n7,linear,,,,\n8,xent,,,,\n",
	5, 1, 3, 3, 4, 2, 2},
    {"lstm of one place, and of many samples",
	HEAD_DIR
	"1,linear,,30,,\n2,lstm,,6,,both\n3,lstm,2,3,,\n4,linear,,,,\n5,xent,,,,\n",
	4, 1, 2, 4, 9, 1, 8},
    {"max over points",
	HEAD "1,conv,,7,1,,,,relu,\n2,bn,,,,,,,tanh,\n3,conv,,9,1,,,,,\n4,bn,,,,,,,,\n"
	     "5,maxpool,,,,,,,,\n6,linear,,8,,,,,relu,\n7,linear,,,,,,,,\n"
	     "8,xent,,,,,,,,\n",
	11, 1, 3, 4, 5, 2, 2},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

#endif
