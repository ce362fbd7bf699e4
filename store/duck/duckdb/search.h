#pragma once

#include <stddef.h>
#include <stdint.h>

// Results of testing a text; SEARCH_ASK: Go must decide.
enum { SEARCH_NO, SEARCH_YES, SEARCH_ASK };

// search_texts is the engine's function has_words; see search.c.
void search_texts(void *info, void *input, void *output);

// search_text tests one text against a search that query.Match.Search has written.
uint8_t search_text(const char *search, size_t search_len, const char *text, size_t len);
