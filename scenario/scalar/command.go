package scalar

import (
	"strings"

	"github.com/redline-go/redline/scenario/mistake"
)

// SplitCommand splits a command as a shell does: at blanks, with '...' and
// "..." and \ to keep them. Within "..." a \ is one that only $ ` " \ and a line's end
// take away. It knows no variables, pipes or redirections, and refuses the characters
// that would mean them.
func SplitCommand(text string) ([]string, error) {
	const shell = `run it through a shell: sh -c '...', or quote the character with '...'`
	var words []string
	var word strings.Builder
	quote, inWord, escaped := rune(0), false, false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
			if r == '\n' {
				break // the line goes on
			}
			if quote != 0 && !strings.ContainsRune("$`\"\\", r) {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			inWord = true
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == '\'', quote == '"' && r != '$' && r != '`':
			word.WriteRune(r)
		case strings.ContainsRune("|&;<>`$()", r):
			return nil, mistake.Newf(shell, "%q is shell syntax, and no shell runs the command", r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, mistake.Newf("", "a quote of the command is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, mistake.Newf("", "the command is empty")
	}
	return words, nil
}
