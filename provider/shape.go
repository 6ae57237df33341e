package provider

// LooksLikeKey reports whether a text holds what looks like a key of a known
// provider, or is one long run of letters and digits.
func LooksLikeKey(text string) bool { return looksLikeKey(text) }
