/* common/net: HMAC-SHA256 against published values; hellos, and what is none. */
#include "tap.h"

#include "base/mem.h"
#include "base/rng.h"
#include "net/hello.h"
#include "net/hmac.h"

static void
hex(char *out, const unsigned char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", b[i]);
}

static void
is_sum(const char *message, size_t times, const char *want)
{
	unsigned char sum[GV_SHA256_LEN];
	struct gv_sha256 s;
	char got[65];
	size_t i;

	gv_sha256_begin(&s);
	for (i = 0; i < times; i++)
		gv_sha256_add(&s, message, strlen(message));
	gv_sha256_end(&s, sum);
	hex(got, sum, sizeof(sum));
	is_str(got, want, "SHA-256 of %zu bytes", times * strlen(message));
}

/* FIPS 180-4's examples (NIST, "SHA-256", cryptographic standards and guidelines). */
static void
test_sha256(void)
{
	is_sum("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	is_sum(
	    "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	is_sum("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	is_sum("a", 1000000,
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void
is_mac(const void *key, size_t n_key, const void *text, size_t n, const char *want)
{
	unsigned char mac[GV_SHA256_LEN];
	struct gv_hmac m;
	char got[65];

	gv_hmac_begin(&m, key, n_key);
	gv_hmac_add(&m, text, n / 2);
	gv_hmac_add(&m, (const char *)text + n / 2, n - n / 2);
	gv_hmac_end(&m, mac);
	hex(got, mac, sizeof(mac));
	is_str(got, want, "HMAC of %zu bytes under a key of %zu", n, n_key);
}

/* RFC 4231, test cases 1, 2, 3, 6 and 7. */
static void
test_hmac(void)
{
	unsigned char key[131], text[50];
	static const char larger[] =
	    "This is a test using a larger than block-size key and a larger than "
	    "block-size data. The key needs to be hashed before being used by the HMAC "
	    "algorithm.";

	is_mac("", 0, "", 0,
	    "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
	memset(key, 0x0b, 20);
	is_mac(key, 20, "Hi There", 8,
	    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	is_mac("Jefe", 4, "what do ya want for nothing?", 28,
	    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	memset(text, 0xdd, sizeof(text));
	is_mac(key, 20, text, 50,
	    "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
	is_mac(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
	    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	is_mac(key, 131, larger, strlen(larger),
	    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
	/* keys of one byte, and of a block and one byte more or less, by Python's hmac */
	memset(key, 0x0b, sizeof(key));
	is_mac(key, 1, "Hi There", 8,
	    "4ba8d7ff5303ea4037e322f685ce82d056ccb6432cdc00456c73ab7398ae63f8");
	is_mac(key, 63, "Hi There", 8,
	    "60becd3ada41eee378b576c2e0b3cc5d7392ae1f2e70e58b44aa88ab4a562149");
	is_mac(key, 64, "Hi There", 8,
	    "21cd586aeca0579d99a1c938127c92525a371f807bc5ba6eb78bc825bd4f2be3");
	is_mac(key, 65, "Hi There", 8,
	    "727b82fba264393c5d67fd6d6ad783e9019a1fa6a857fccb70f5852f04be5d5d");
}

/* Every bit of a hello and of its challenge counts, and so do the key and the rank. */
static void
test_hello(void)
{
	struct gv_hello h = {3, 9, 77, 4000, 0, "0123456789abcde"}, got;
	unsigned char c[GV_CHALLENGE_LEN], b[GV_HELLO_LEN];
	size_t i, taken = 0;

	gv_challenge_write(c, (const unsigned char *)"fedcba987654321");
	gv_hello_write(b, &h, c, "key");
	ok(gv_hello_read(&got, b, c, "key") && got.rank == 3 && got.world == 9 &&
		got.fingerprint == 77 && got.port == 4000 && got.to == 0 &&
		memcmp(got.nonce, h.nonce, sizeof(h.nonce)) == 0,
	    "a hello is read back");
	ok(!gv_hello_read(&got, b, c, "Key"), "not under another key");
	ok(!gv_hello_read(&got, b, c, ""), "nor without one");
	ok(!gv_hello_read(&got, b, c, NULL), "nor without any");
	for (i = 0; i < 8 * sizeof(b); i++) {
		b[i / 8] ^= (unsigned char)(1 << i % 8);
		taken += gv_hello_read(&got, b, c, "key");
		b[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	is_int((int)taken, 0, "nor with a bit turned");
	for (i = 0; i < 8 * sizeof(c); i++) {
		c[i / 8] ^= (unsigned char)(1 << i % 8);
		taken += gv_hello_read(&got, b, c, "key");
		c[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	is_int((int)taken, 0, "nor in answer to another challenge");
	ok(gv_hello_begins(b, 0) && gv_hello_begins(b, 3) && gv_hello_begins(b, 70) &&
		!gv_hello_begins((const unsigned char *)"G", 1),
	    "its first bytes say what it is");
	ok(gv_challenge_begins(c, 2) && !gv_challenge_begins(b, 4),
	    "a hello is no challenge");
}

static void
test_answer(void)
{
	struct gv_member m[2] = {{0, ""}, {29500, "10.0.0.7"}}, got;
	unsigned char roster[2 * GV_MEMBER_LEN], b[GV_ANSWER_LEN];
	const unsigned char *nonce = (const unsigned char *)"0123456789abcde";
	const unsigned char *other = (const unsigned char *)"0123456789abcdf";
	struct gv_answer yes = {GV_WELCOME, 2}, a;
	size_t i, taken = 0;

	gv_member_write(roster, &m[0]);
	gv_member_write(roster + GV_MEMBER_LEN, &m[1]);
	gv_answer_write(b, &yes, roster, nonce, "key");
	ok(gv_answer_read(&a, b, 2) == 0 && a.verdict == GV_WELCOME && a.members == 2,
	    "an answer is read back");
	ok(gv_answer_true(b, roster, nonce, "key"), "and true");
	ok(!gv_answer_true(b, roster, nonce, "kez"), "not under another key");
	ok(!gv_answer_true(b, roster, other, "key"),
	    "nor to another hello: none is used twice");
	ok(gv_answer_read(&a, b, 3) == -1, "not in a gang of three");
	for (i = 0; i < 8 * sizeof(roster); i++) {
		roster[i / 8] ^= (unsigned char)(1 << i % 8);
		taken += gv_answer_true(b, roster, nonce, "key");
		roster[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	for (i = 0; i < 8 * sizeof(b); i++) {
		if (i / 8 >= 8 && i / 8 < 12)
			continue; /* how long the roster is */
		b[i / 8] ^= (unsigned char)(1 << i % 8);
		taken += gv_answer_true(b, roster, nonce, "key");
		b[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	is_int((int)taken, 0, "not with a bit of it or of the roster turned");
	ok(gv_member_read(&got, roster) == -1, "rank 0 has no place in it");
	ok(gv_member_read(&got, roster + GV_MEMBER_LEN) == 0 && got.port == 29500 &&
		strcmp(got.addr, "10.0.0.7") == 0,
	    "a place is read back");
	memset(roster + 4, 'A', GV_SOCK_ADDR);
	roster[0] = 1;
	ok(gv_member_read(&got, roster) == -1, "an address without an end");
	strcpy(m[1].addr, "fe80::1%eth0");
	gv_member_write(roster, &m[1]);
	ok(gv_member_read(&got, roster) == 0, "an address with a scope");
	strcpy(m[1].addr, "example.org");
	gv_member_write(roster, &m[1]);
	ok(gv_member_read(&got, roster) == -1, "a name is none");
	strcpy(m[1].addr, "::1");
	m[1].port = 65536;
	gv_member_write(roster, &m[1]);
	ok(gv_member_read(&got, roster) == -1, "a port is below 65536");
	b[4] = GV_ONE_GONE;
	ok(gv_answer_read(&a, b, 2) == 0 && a.members == 2, "who is gone is in a roster");
	b[8] = 0;
	ok(gv_answer_read(&a, b, 2) == -1, "which is there");
	b[8] = 2;
	b[4] = GV_OTHER_KEY;
	ok(gv_answer_read(&a, b, 2) == -1, "who is sent away is given none");
	b[4] = GV_VERDICTS;
	ok(gv_answer_read(&a, b, 2) == -1, "a verdict that is none");
}

/* What stands where in a challenge, and what a roster may say. */
static void
test_bytes(void)
{
	unsigned char c[GV_CHALLENGE_LEN], b[GV_MEMBER_LEN] = {0}, nonce[GV_NONCE_LEN];
	struct gv_member m = {1, "127.0.0.1"}, got;

	memset(nonce, 'n', sizeof(nonce));
	memset(c, 0, sizeof(c));
	gv_challenge_write(c, nonce);
	ok(gv_challenge_begins(c, 4) && memcmp(c + 4, nonce, sizeof(nonce)) == 0,
	    "a challenge is a magic and a nonce");
	gv_member_write(b, &m);
	ok(gv_member_read(&got, b) == 0 && got.port == 1, "the lowest port");
	b[4 + GV_SOCK_ADDR - 1] = 'x';
	ok(gv_member_read(&got, b) == -1, "an address whose end is not its end");
}

/* Every byte of the numbers of a hello is where it belongs. */
static void
test_numbers(void)
{
	struct gv_hello h = {0x01020304, 0xa1b2c3d4, 0x50607080, 0x0a0b0c0d, 0x11223344,
			    "0123456789abcde"},
			got;
	static const unsigned char want[24] = {'g', 'v', 'H', '2', 4, 3, 2, 1, 0xd4, 0xc3,
	    0xb2, 0xa1, 0x80, 0x70, 0x60, 0x50, 13, 12, 11, 10, 0x44, 0x33, 0x22, 0x11};
	unsigned char c[GV_CHALLENGE_LEN], b[GV_HELLO_LEN];

	memset(c, 'c', sizeof(c));
	gv_hello_write(b, &h, c, "key");
	ok(memcmp(b, want, sizeof(want)) == 0 &&
		memcmp(b + sizeof(want), h.nonce, sizeof(h.nonce)) == 0,
	    "a hello is its numbers, the lowest bytes first, and its nonce");
	ok(gv_hello_read(&got, b, c, "key") && got.rank == h.rank &&
		got.world == h.world && got.fingerprint == h.fingerprint &&
		got.port == h.port && got.to == h.to,
	    "which are read back");
	memcpy(c, "gvC1", 4);
	ok(!gv_challenge_begins(c, 4) && gv_challenge_begins(c, 3),
	    "a challenge of another version");
	memcpy(b, "gvH1", 4);
	ok(!gv_hello_begins(b, 4) && gv_hello_begins(b, 3), "a hello of another version");
}

/* Which answers there are, whatever their rosters say: by verdict and number of members. */
static void
test_answers(void)
{
	static const unsigned char roster[3 * GV_MEMBER_LEN] = {0};
	const unsigned char *nonce = (const unsigned char *)"0123456789abcde";
	unsigned char b[GV_ANSWER_LEN];
	uint32_t verdict, members;
	struct gv_answer a;
	int wrong = 0;

	for (verdict = 0; verdict <= GV_VERDICTS; verdict++)
		for (members = 0; members <= 3; members++) {
			struct gv_answer is = {verdict, members};
			bool known = verdict < GV_VERDICTS,
			     lists = verdict == GV_WELCOME || verdict >= GV_ONE_GONE,
			     alone = verdict < GV_ONE_GONE,
			     good =
				 known && (members == 0 ? alone : lists && members == 2);

			gv_answer_write(b, &is, roster, nonce, "key");
			wrong += gv_answer_read(&a, b, 2) != (good ? 0 : -1) ||
				 a.verdict != verdict || a.members != members ||
				 !gv_answer_true(b, roster, nonce, "key");
		}
	is_int(wrong, 0, "answers have no roster, or one of the gang");
	memcpy(b, "gvA1", 4);
	b[4] = GV_WELCOME;
	b[8] = 2;
	ok(gv_answer_read(&a, b, 2) == -1, "an answer of another version");
	memcpy(b, "gvA2", 4);
	ok(gv_answer_read(&a, b, 2) == 0, "of this one");
	a = (struct gv_answer){GV_OTHER_KEY, 0};
	gv_answer_write(b, &a, NULL, nonce, NULL);
	ok(gv_answer_true(b, NULL, nonce, "") && gv_answer_true(b, NULL, nonce, NULL) &&
		!gv_answer_true(b, NULL, nonce, "k"),
	    "without a key it is that of no bytes");
}

/* A place is written over whatever was there; its port ends at 65535. */
static void
test_places(void)
{
	unsigned char b[GV_MEMBER_LEN], zero[GV_MEMBER_LEN] = {0};
	struct gv_member m = {65535, "::1"}, got;

	memset(b, 'x', sizeof(b));
	gv_member_write(b, &m);
	ok(memcmp(b, "\xff\xff\0\0::1", 7) == 0 &&
		memcmp(b + 7, zero, sizeof(b) - 7) == 0,
	    "nothing is left behind an address");
	ok(gv_member_read(&got, b) == 0 && got.port == 65535, "the highest port");
	m.port = 0;
	gv_member_write(b, &m);
	is_int(gv_member_read(&got, b), -1, "none");
}

int
main(void)
{
	test_sha256();
	test_hmac();
	test_numbers();
	test_answers();
	test_places();
	test_bytes();
	test_hello();
	test_answer();
	return done_testing();
}
