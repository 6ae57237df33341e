package catalog

import "testing"

// Of two dated models neither is guessed, whatever the catalogue of today holds.
func TestFindGuessesNothing(t *testing.T) {
	const body = "one-20250101\t1\t2\t-\t-\t5\t6\t-\tOne\n" +
		"two-20250101\t1\t2\t-\t-\t5\t6\t-\tTwo\n" +
		"two-2025-06-01\t1\t2\t-\t-\t5\t6\t-\tTwo\n"
	for model, want := range map[string]string{
		"one": "one-20250101", "one-20250101": "one-20250101", "two": "", "two-20250101": "two-20250101", "two-20260101": "",
	} {
		if got, ok := find(body, model); got.ID != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", model, got.ID, want)
		}
	}
}
