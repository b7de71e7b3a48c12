package notify

// Fit gives what build makes of as much of text as leaves it at most maxBytes bytes
// as a [Poster] writes it. What is cut off is told as by [Cut]; where even the rest
// alone is too long, the text is left out.
func Fit[T any](text string, maxBytes int, build func(text string) T) T {
	const most = 6 // bytes of JSON that one byte of text can take
	for n := min(len(text), maxBytes); ; {
		built := build(Cut(text, n))
		body, err := encode(built, false)
		if err != nil || n <= 0 {
			return built
		}
		over := body.Len() - maxBytes
		if over <= 0 {
			return built
		}
		n = max(n-max(over/most, 1), 0)
	}
}
