package engine

import (
	"unicode"
	"unicode/utf8"

	"belfry"
)

const maxName = 255

// CheckName rejects what cannot be the name of an item.
func CheckName(column, name string) *belfry.RowError {
	switch {
	case name == "":
		return &belfry.RowError{Column: column, Code: belfry.MissingValue, Message: column + " is empty; give a name"}
	case name == belfry.Main || name == "*":
		return badName(column, name, "is reserved")
	case utf8.RuneCountInString(name) > maxName:
		return badName(column, name, "is longer than 255 characters")
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return badName(column, name, "begins or ends with a blank")
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return badName(column, name, "holds a control character")
		}
	}
	return nil
}

func badName(column, name, why string) *belfry.RowError {
	return belfry.Rejectf(column, belfry.BadName, "the name %q %s; choose another", belfry.Clip(name), why)
}
