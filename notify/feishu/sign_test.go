package feishu

import "testing"

// Vectors that other programs, in Java, Python, node and Go, give for the same.
func TestSign(t *testing.T) {
	for name, c := range map[string]struct {
		seconds      int64
		secret, want string
	}{
		"made for this test":     {1790000000, "gpuwatch-demo", "6VEgymNQCXph5ZFu9+u8FAeDuzV7LLTMVaqN3J3L8Dg="},
		"the platform's example": {1599360473, "demo", "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8="},
		"another library's":      {1661860880, "xxx", "QnWVTSBe6FmQDE0bG6X0mURbI+DnvVyu1h+j5dHOjrU="},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sign(c.seconds, c.secret); got != c.want {
				t.Errorf("sign %s, want %s", got, c.want)
			}
		})
	}
}
