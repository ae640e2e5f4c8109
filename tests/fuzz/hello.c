/*
 * What strangers may say where a gang meets.  Holds: nothing without the key is a
 * hello or a true answer; what a member says of itself is a port and an address
 * that ends; what is read is written back as the same bytes.
 */
#include <string.h>

#include "holds.h"
#include "net/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *s, size_t len);

static void
try_hello(const unsigned char *s)
{
	unsigned char challenge[GV_CHALLENGE_LEN], back[GV_HELLO_LEN];
	struct gv_hello h;

	gv_challenge_write(challenge, s);
	HOLDS(!gv_hello_read(&h, s, challenge, "a key that nobody guesses"));
	gv_hello_write(back, &h, challenge, "key");
	if (gv_hello_begins(s, 4))
		HOLDS(memcmp(back, s, GV_HELLO_LEN - 32) == 0);
	HOLDS(gv_hello_read(&h, back, challenge, "key"));
}

static void
try_answer(const unsigned char *s, size_t n_roster)
{
	struct gv_answer a;

	if (gv_answer_read(&a, s, 3) != 0)
		return;
	HOLDS(a.members == 0 || a.members == 3);
	HOLDS(a.verdict <= GV_OTHER_KEY && gv_verdict_text(a.verdict) != NULL);
	if (a.members * GV_MEMBER_LEN <= n_roster)
		HOLDS(!gv_answer_true(
		    s, s + GV_ANSWER_LEN, s, "a key that nobody guesses"));
}

static void
try_member(const unsigned char *s)
{
	unsigned char back[GV_MEMBER_LEN];
	struct gv_member m, again;

	if (gv_member_read(&m, s) != 0)
		return;
	HOLDS(m.port >= 1 && m.port <= 65535 && strlen(m.addr) < GV_SOCK_ADDR);
	gv_member_write(back, &m);
	HOLDS(gv_member_read(&again, back) == 0 && again.port == m.port &&
	      strcmp(again.addr, m.addr) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *s, size_t len)
{
	gv_hello_begins(s, len);
	gv_challenge_begins(s, len);
	if (len >= GV_HELLO_LEN)
		try_hello(s);
	if (len >= GV_ANSWER_LEN)
		try_answer(s, len - GV_ANSWER_LEN);
	if (len >= GV_MEMBER_LEN)
		try_member(s);
	return 0;
}
