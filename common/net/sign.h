/*
 * Signs of life: who is to blame that a member waits.  Pure: the mesh asks, and keeps here
 * what it hears.
 *
 * Whoever has waited for a quarter of the gang's silence asks all others what they do, and
 * again in every eighth.  A member's thread for messages answers while the member computes; a
 * member without one answers while it waits; one that is stopped, or whose machine or network
 * is down, answers nothing.  An answer says
 *
 *	that it waits, for whom, and for how long;
 *	that it does something else, and how much its process has computed so far.
 *
 * Whoever has waited for the whole silence follows these from the member it waits for to the
 * one that holds up all: one that has not answered is silent; one that waits for nobody is
 * waited for as long as it computes, and is hung when it does not; one that waits for who waits
 * for it is in a circle.  Of one that cannot be asked, whoever waits for it will find out; in
 * twice the time it does not.
 */
#ifndef GV_NET_SIGN_H
#define GV_NET_SIGN_H

#include <stdbool.h>
#include <stdint.h>

/* What is computed is counted in these: any turn on a core is more than two. */
#define GV_SIGN_TICK_S 1e-4

enum gv_blame {
	GV_BLAME_NONE,
	GV_BLAME_GONE,   /* its connection has ended */
	GV_BLAME_SILENT, /* it answers nothing */
	GV_BLAME_STEP,   /* it sends something else than it should */
	GV_BLAME_HUNG,   /* it answers, and neither waits nor computes */
	GV_BLAME_CIRCLE, /* it waits for members that wait for it */
	GV_BLAMES
};

/* What is known of a member.  Times are those of gv_clock_s. */
struct gv_sign {
	bool unknown;    /* it cannot be asked from here */
	double heard_s;  /* when its last byte came */
	double asked_s;  /* since when it owes an answer; 0 = it owes none */
	int waits_for;   /* as it said; -1 = nobody, or nothing was said yet */
	double waited_s; /* how long it had, then */
	bool worked;     /* it has said how much it has computed: */
	uint32_t ticks;  /* so much, counted on and on, when that last grew, */
	double worked_s; /* which was seen then */
};

/* An answer has come at a time: waits_for -1 = it does something else. */
void gv_sign_take(
    struct gv_sign *s, int waits_for, double waited_s, uint32_t ticks, double now);

/*
 * Time has passed in which this member could not look, being stopped itself: nobody owes or
 * has rested longer than since now.
 */
void gv_sign_forgive(struct gv_sign *s, double now);

/*
 * Who is to blame that own (a rank below world) has waited for peer for silence_s or longer:
 * *culprit; NONE: nobody yet.
 */
enum gv_blame gv_sign_judge(const struct gv_sign *sign, int world, int own, int peer,
    double silence_s, double now, int *culprit);

#endif
