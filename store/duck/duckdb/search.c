// The engine's function has_words(text, search). It is in C so that the engine's threads, which call it for every 2,048
// texts, need not wait for the Go scheduler while others send. It decides by bytes alone: a text that lacks a fragment
// does not match, and an ASCII word between ASCII characters does. Everything else, phrases, wildcards inside words and
// all letters beyond ASCII, is decided by Go, in one call for all these texts.

#include "search.h"

#include <stdbool.h>
#include <string.h>

#include "_cgo_export.h"

// The parts of the engine's interface that are used here.
extern uint64_t duckdb_data_chunk_get_size(void *chunk);
extern void *duckdb_data_chunk_get_vector(void *chunk, uint64_t column);
extern void *duckdb_vector_get_data(void *vector);
extern uint64_t *duckdb_vector_get_validity(void *vector);
extern void duckdb_scalar_function_set_error(void *info, const char *error);

enum { WHOLE = 1, START = 2, END = 4, MAX_FRAGMENTS = 3 };

// fragment is a text to find. Its two rarest bytes are looked for first.
typedef struct {
	const uint8_t *text;
	size_t len;
	size_t p, q; // offsets of those bytes, p <= q
	bool wide;   // a letter of it has a case beyond ASCII: ſ or the sign of Kelvin
} fragment;

typedef struct {
	int marks;
	int count;
	fragment of[MAX_FRAGMENTS];
} search;

static inline uint8_t fold(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

static inline bool in_word(uint8_t c) {
	c = fold(c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// rareness ranks bytes by how rare they are in logs.
static size_t rareness(uint8_t c) {
	static const char often[] = "etaoinsr0123456789lcdumphgfbwyvk_xjqz";
	const char *at = c == 0 ? NULL : strchr(often, c);
	return at ? (size_t)(at - often) : sizeof often;
}

static fragment make_fragment(const uint8_t *text, size_t len) {
	fragment f = {text, len, 0, 0, false};
	size_t other = 0;
	for (size_t i = 1; i < len; i++)
		if (rareness(text[i]) > rareness(text[f.p])) f.p = i;
	other = f.p == 0 ? len - 1 : 0;
	for (size_t i = 0; i < len; i++) f.wide |= text[i] == 'k' || text[i] == 's';
	for (size_t i = 0; i < len; i++)
		if (i != f.p && rareness(text[i]) > rareness(text[other])) other = i;
	f.q = other > f.p ? other : f.p;
	f.p = other > f.p ? f.p : other;
	return f;
}

static search read_search(const char *text, size_t len) {
	search s = {.marks = 0};
	if (len < 2) return s;
	s.marks = text[0] - '0';
	const uint8_t *at = (const uint8_t *)text + 2, *end = (const uint8_t *)text + len;
	while (s.count < MAX_FRAGMENTS && at < end && *at != '|') {
		const uint8_t *from = at;
		while (at < end && *at != '|' && *at != ' ') at++;
		if (at > from) s.of[s.count++] = make_fragment(from, at - from);
		if (at < end && *at == ' ') at++;
	}
	return s;
}

typedef uint8_t bytes16 __attribute__((vector_size(16)));

static inline bytes16 load(const uint8_t *p) {
	bytes16 v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline bytes16 splat(uint8_t c) { return (bytes16){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c}; }

static inline bool any(bytes16 v) {
	uint64_t half[2];
	memcpy(half, &v, sizeof half);
	return (half[0] | half[1]) != 0;
}

static bool beyond_ascii(const uint8_t *t, size_t len) {
	size_t i = 0;
	bytes16 all = splat(0);
	for (; i + 16 <= len; i += 16) all |= load(t + i);
	uint8_t rest = 0;
	for (; i < len; i++) rest |= t[i];
	return rest >= 0x80 || any(all & splat(0x80));
}

static inline bool matches_at(const fragment *f, const uint8_t *t) {
	for (size_t i = 0; i < f->len; i++)
		if (fold(t[i]) != f->text[i]) return false;
	return true;
}

// boundary returns whether a word ends between one of its characters and the byte next to it: yes, no or ask.
static inline uint8_t boundary(uint8_t beside) {
	if (beside >= 0x80) return SEARCH_ASK;
	return in_word(beside) ? SEARCH_NO : SEARCH_YES;
}

// bounded returns whether a fragment found at i has the word boundaries it must have.
static uint8_t bounded(const fragment *f, int marks, const uint8_t *t, size_t len, size_t i) {
	uint8_t start = SEARCH_YES, end = SEARCH_YES;
	if (marks & START && i > 0) start = boundary(t[i - 1]);
	if (marks & END && i + f->len < len) end = boundary(t[i + f->len]);
	if (start == SEARCH_NO || end == SEARCH_NO) return SEARCH_NO;
	return start == SEARCH_ASK || end == SEARCH_ASK ? SEARCH_ASK : SEARCH_YES;
}

// find looks for a fragment with its word boundaries. It returns SEARCH_ASK if it cannot decide and finds no other match.
static uint8_t find(const fragment *f, int marks, const uint8_t *t, size_t len) {
	if (len < f->len) return SEARCH_NO;
	const size_t places = len - f->len + 1;
	const uint8_t a = f->text[f->p] | 0x20, b = f->text[f->q] | 0x20;
	const bytes16 as = splat(a), bs = splat(b), lower = splat(0x20);
	uint8_t found = SEARCH_NO;
	for (size_t i = 0; i < places; i += 16) {
		if (len >= f->q + 16) {
			if (i + f->q + 16 > len) i = len - f->q - 16; // the last places, some of them again
			bytes16 hit = (bytes16)((load(t + i + f->p) | lower) == as) & (bytes16)((load(t + i + f->q) | lower) == bs);
			if (!any(hit)) continue;
		}
		const size_t to = i + 16 < places ? i + 16 : places;
		for (size_t j = i; j < to; j++) {
			if ((t[j + f->p] | 0x20) != a || !matches_at(f, t + j)) continue;
			uint8_t is = bounded(f, marks, t, len, j);
			if (is == SEARCH_YES) return SEARCH_YES;
			if (is == SEARCH_ASK) found = SEARCH_ASK;
		}
	}
	return found;
}

static uint8_t test(const search *s, const uint8_t *t, size_t len) {
	uint8_t found = SEARCH_ASK;
	for (int i = 0; i < s->count; i++) {
		found = find(&s->of[i], s->marks, t, len);
		if (found == SEARCH_NO) return s->of[i].wide && beyond_ascii(t, len) ? SEARCH_ASK : SEARCH_NO;
	}
	return s->marks & WHOLE ? found : SEARCH_ASK;
}

uint8_t search_text(const char *text_of_search, size_t search_len, const char *text, size_t len) {
	search s = read_search(text_of_search, search_len);
	return test(&s, (const uint8_t *)text, len);
}

// string is the engine's string type: up to twelve bytes inline, or a prefix and a pointer.
typedef struct {
	uint32_t len;
	char prefix[4];
	const char *text;
} string;

static inline const char *text_of(const string *s) { return s->len <= 12 ? s->prefix : s->text; }

static inline bool is_null(const uint64_t *validity, uint64_t i) { return validity && !(validity[i / 64] >> (i % 64) & 1); }

void search_texts(void *info, void *input, void *output) {
	const uint64_t rows = duckdb_data_chunk_get_size(input);
	if (rows == 0) return;
	void *column = duckdb_data_chunk_get_vector(input, 0), *second = duckdb_data_chunk_get_vector(input, 1);
	string *texts = duckdb_vector_get_data(column), *searches = duckdb_vector_get_data(second);
	const uint64_t *null = duckdb_vector_get_validity(column);
	uint8_t *out = duckdb_vector_get_data(output);
	if (is_null(duckdb_vector_get_validity(second), 0)) {
		memset(out, SEARCH_NO, rows);
		return;
	}
	const search s = read_search(text_of(searches), searches->len); // the same for all texts
	bool ask = false;
	for (uint64_t i = 0; i < rows; i++) {
		out[i] = is_null(null, i) ? SEARCH_NO : test(&s, (const uint8_t *)text_of(&texts[i]), texts[i].len);
		ask |= out[i] == SEARCH_ASK;
	}
	if (ask && !searchRest(searches, texts, out, rows)) {
		memset(out, SEARCH_NO, rows);
		duckdb_scalar_function_set_error(info, "a search by word broke down");
	}
}
