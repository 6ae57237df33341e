package catalog

// Tokens is what a call used. The four counts do not overlap: Input is without
// what went through the cache. A negative count is one that nobody told.
type Tokens struct {
	Input, Output         int64
	CacheRead, CacheWrite int64
}

// Cost returns what the tokens cost in US dollars; false when the model is not
// in the catalogue, a price is unknown, or a count is.
func Cost(provider, model string, t Tokens) (usd float64, ok bool) {
	m, ok := Lookup(provider, model)
	if !ok {
		return 0, false
	}
	return m.Prices.Cost(t)
}

// Cost returns what the tokens cost at these prices; false when a price that
// is needed is unknown, or a count is. Input from the cache whose price is
// unknown is counted as other input, which is the most that it costs.
func (p Prices) Cost(t Tokens) (usd float64, ok bool) {
	read := p.CacheRead
	if !read.Known {
		read = p.Input
	}
	for _, part := range []struct {
		n     int64
		price Price
	}{{t.Input, p.Input}, {t.Output, p.Output}, {t.CacheRead, read}, {t.CacheWrite, p.CacheWrite}} {
		if part.n < 0 || part.n > 0 && !part.price.Known {
			return 0, false
		}
		usd += float64(part.n) * part.price.USD / 1e6
	}
	return usd, p.Input.Known || t == Tokens{}
}
