#include "net/hello.h"

#include <arpa/inet.h>
#include <string.h>

#include "net/hmac.h"

/* Eight letters say what it is and which version of it. */
static const unsigned char challenge_magic[4] = {'g', 'v', 'C', '2'};
static const unsigned char hello_magic[4] = {'g', 'v', 'H', '2'};
static const unsigned char answer_magic[4] = {'g', 'v', 'A', '2'};

enum { MAC_AT_HELLO = GV_HELLO_LEN - GV_SHA256_LEN, MAC_AT_ANSWER = 12 };

const char *
gv_verdict_text(uint32_t verdict)
{
	switch (verdict) {
	case GV_OTHER_WORLD:
		return "its WORLD_SIZE is another";
	case GV_OTHER_FINGERPRINT:
		return "it computes something else (model, data, options or checkpoint "
		       "differ)";
	case GV_RANK_TAKEN:
		return "its RANK was here already";
	case GV_OTHER_KEY:
		return "its GV_GANG_KEY is another";
	case GV_ONE_GONE:
	case GV_ONE_MISSING:
	case GV_ONE_MISFIT:
		return "the gang does not meet";
	default:
		return "its RANK is not in the gang";
	}
}

static void
put32(unsigned char *b, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		b[i] = (unsigned char)(v >> 8 * i);
}

static uint32_t
get32(const unsigned char *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

static bool
begins(const unsigned char *b, size_t n, const unsigned char magic[4])
{
	return memcmp(b, magic, n < 4 ? n : 4) == 0;
}

void
gv_challenge_write(
    unsigned char b[GV_CHALLENGE_LEN], const unsigned char nonce[GV_NONCE_LEN])
{
	memcpy(b, challenge_magic, 4);
	memcpy(b + 4, nonce, GV_NONCE_LEN);
}

bool
gv_challenge_begins(const unsigned char *b, size_t n)
{
	return begins(b, n, challenge_magic);
}

bool
gv_hello_begins(const unsigned char *b, size_t n)
{
	return begins(b, n, hello_magic);
}

static void
hello_mac(unsigned char mac[GV_SHA256_LEN], const unsigned char *b,
    const unsigned char challenge[GV_CHALLENGE_LEN], const char *key)
{
	struct gv_hmac m;

	gv_hmac_begin(&m, key, key != NULL ? strlen(key) : 0);
	gv_hmac_add(&m, challenge, GV_CHALLENGE_LEN);
	gv_hmac_add(&m, b, MAC_AT_HELLO);
	gv_hmac_end(&m, mac);
}

void
gv_hello_write(unsigned char b[GV_HELLO_LEN], const struct gv_hello *h,
    const unsigned char challenge[GV_CHALLENGE_LEN], const char *key)
{
	memcpy(b, hello_magic, 4);
	put32(b + 4, h->rank);
	put32(b + 8, h->world);
	put32(b + 12, h->fingerprint);
	put32(b + 16, h->port);
	put32(b + 20, h->to);
	memcpy(b + 24, h->nonce, GV_NONCE_LEN);
	hello_mac(b + MAC_AT_HELLO, b, challenge, key);
}

bool
gv_hello_read(struct gv_hello *h, const unsigned char b[GV_HELLO_LEN],
    const unsigned char challenge[GV_CHALLENGE_LEN], const char *key)
{
	unsigned char mac[GV_SHA256_LEN];

	h->rank = get32(b + 4);
	h->world = get32(b + 8);
	h->fingerprint = get32(b + 12);
	h->port = get32(b + 16);
	h->to = get32(b + 20);
	memcpy(h->nonce, b + 24, GV_NONCE_LEN);
	hello_mac(mac, b, challenge, key);
	return begins(b, 4, hello_magic) && gv_hmac_same(mac, b + MAC_AT_HELLO);
}

static void
answer_mac(unsigned char mac[GV_SHA256_LEN], const unsigned char *b,
    const unsigned char *roster, const unsigned char nonce[GV_NONCE_LEN], const char *key)
{
	struct gv_hmac m;

	gv_hmac_begin(&m, key, key != NULL ? strlen(key) : 0);
	gv_hmac_add(&m, nonce, GV_NONCE_LEN);
	gv_hmac_add(&m, b, MAC_AT_ANSWER);
	gv_hmac_add(&m, roster, (size_t)get32(b + 8) * GV_MEMBER_LEN);
	gv_hmac_end(&m, mac);
}

void
gv_answer_write(unsigned char b[GV_ANSWER_LEN], const struct gv_answer *a,
    const unsigned char *roster, const unsigned char nonce[GV_NONCE_LEN], const char *key)
{
	memcpy(b, answer_magic, 4);
	put32(b + 4, a->verdict);
	put32(b + 8, a->members);
	answer_mac(b + MAC_AT_ANSWER, b, roster, nonce, key);
}

int
gv_answer_read(struct gv_answer *a, const unsigned char b[GV_ANSWER_LEN], uint32_t world)
{
	a->verdict = get32(b + 4);
	a->members = get32(b + 8);
	if (!begins(b, 4, answer_magic) || a->verdict >= GV_VERDICTS)
		return -1;
	if (a->members == 0)
		return a->verdict < GV_ONE_GONE ? 0 : -1;
	return a->members == world &&
		       (a->verdict == GV_WELCOME || a->verdict >= GV_ONE_GONE)
		   ? 0
		   : -1;
}

bool
gv_answer_true(const unsigned char b[GV_ANSWER_LEN], const unsigned char *roster,
    const unsigned char nonce[GV_NONCE_LEN], const char *key)
{
	unsigned char mac[GV_SHA256_LEN];

	answer_mac(mac, b, roster, nonce, key);
	return gv_hmac_same(mac, b + MAC_AT_ANSWER);
}

void
gv_member_write(unsigned char b[GV_MEMBER_LEN], const struct gv_member *m)
{
	put32(b, m->port);
	memset(b + 4, 0, GV_SOCK_ADDR);
	memcpy(b + 4, m->addr, strlen(m->addr));
}

/* An address of IPv4 or IPv6 as digits; a scope ("fe80::1%eth0") may follow. */
static bool
is_numeric(const char *addr)
{
	unsigned char in[sizeof(struct in6_addr)];
	char without[GV_SOCK_ADDR];

	strcpy(without, addr);
	without[strcspn(without, "%")] = '\0';
	return inet_pton(AF_INET6, without, in) == 1 || inet_pton(AF_INET, addr, in) == 1;
}

int
gv_member_read(struct gv_member *m, const unsigned char b[GV_MEMBER_LEN])
{
	m->port = get32(b);
	memcpy(m->addr, b + 4, GV_SOCK_ADDR);
	if (m->addr[GV_SOCK_ADDR - 1] != '\0')
		return -1;
	return m->port >= 1 && m->port <= 65535 && is_numeric(m->addr) ? 0 : -1;
}
