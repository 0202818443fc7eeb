package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// An Ignorable is a word of --ignore, and what it sets.
type Ignorable struct {
	Word string
	On   *bool
}

// An IgnoreFlag is what does not count: words, and names of functions where these are taken.
type IgnoreFlag struct {
	Words []string // as they are given

	known     []Ignorable
	functions *[]string
}

// AddIgnore adds --ignore to a command. Names of functions of MPI are words, too, unless functions is nil.
func AddIgnore(cmd *cobra.Command, functions *[]string, known ...Ignorable) *IgnoreFlag {
	f := &IgnoreFlag{known: known, functions: functions}
	usage := "what to ignore: " + strings.Join(f.list(), ", ")
	if functions != nil {
		usage += ", or names of functions"
	}
	cmd.Flags().Var(f, "ignore", usage+", with commas")
	if err := cmd.RegisterFlagCompletionFunc("ignore", cobra.FixedCompletions(f.list(),
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the option is there
	}
	return f
}

func (f *IgnoreFlag) list() (words []string) {
	for _, k := range f.known {
		words = append(words, k.Word)
	}
	return words
}

func (f *IgnoreFlag) String() string { return strings.Join(f.Words, ",") }

func (f *IgnoreFlag) Type() string { return "list" }

func (f *IgnoreFlag) Set(value string) error {
	for word := range strings.SplitSeq(value, ",") {
		i := slices.IndexFunc(f.known, func(k Ignorable) bool { return k.Word == word })
		switch {
		case i >= 0:
			*f.known[i].On = true
		case f.functions != nil && strings.HasPrefix(word, "MPI"):
			*f.functions = append(*f.functions, word)
		default:
			text := ""
			if f.functions != nil {
				text = " and no function of MPI"
			}
			return fmt.Errorf("has %q, which is none of %s%s", word, strings.Join(f.list(), ", "), text)
		}
		f.Words = append(f.Words, word)
	}
	return nil
}
