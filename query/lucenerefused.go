package query

import "strings"

// What Lucene has beyond this language is refused by its name: a query that is taken for another finds nothing, or the wrong
// rows, and does not say so.

// noFuzzy refuses quikc~.
func (p *luceneParser) noFuzzy() error {
	if p.peek(0) != '~' {
		return nil
	}
	return p.errorf(p.at, `fuzzy search (~ after a term) is not supported; write the term exactly, with wildcards as in web*, or several spellings with OR; `+
		`a ~ that is part of the term is written \~`)
}

// noProximity refuses "a b"~2.
func (p *luceneParser) noProximity() error {
	if p.peek(0) != '~' {
		return nil
	}
	return p.errorf(p.at, `proximity search (~ after a phrase) is not supported; write the exact phrase without ~, or its words with AND`)
}

// noRegex refuses /regex/ where a term begins. A path is none, unless it ends with a slash: what stands before a blank or the
// end makes the difference, as a regular expression may have blanks in it.
func (p *luceneParser) noRegex() error {
	if p.peek(0) != '/' || p.slashEnds(p.at) || p.noSlash {
		return nil
	}
	for at := p.at + 1; at < len(p.text); at++ {
		p.steps++
		switch {
		case p.text[at] == '\\':
			at++
		case p.text[at] == '/' && p.slashEnds(at):
			return p.errorf(p.at, `regular expressions (/…/) are not supported; use the wildcards * and ?, or LIKE in SQL; `+
				`a / that begins a term is written \/, or the term stands in double quotes`)
		}
	}
	p.noSlash = true // nor for any term behind this one
	return nil
}

// slashEnds tells whether nothing that could be part of a term follows the slash.
func (p *luceneParser) slashEnds(at int) bool {
	return at+1 == len(p.text) || strings.IndexByte(" \t\r\n)^~", p.text[at+1]) >= 0
}
