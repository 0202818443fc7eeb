package cli

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/timing"
)

// helpFiles are the help of the commands in Markdown: a heading with the usage, a
// line that says what the command does, and the rest, the last section being
// examples. The help on a terminal and the man pages are made of them.
//
//go:embed help/*.md
var helpFiles embed.FS

// NewCommand returns a command with its help.
func NewCommand(name string) *cobra.Command {
	content, err := helpFiles.ReadFile("help/" + name + ".md")
	if err != nil {
		panic(err) // it is embedded
	}
	text := strings.Replace(string(content), "{codecs}\n", codecsHelp(), 1)
	about, examples, _ := strings.Cut(text, "\n## Examples\n\n")
	parts := strings.SplitN(about, "\n\n", 3)
	cmd := &cobra.Command{
		Use:     strings.TrimPrefix(parts[0], "# "),
		Short:   strings.TrimSpace(parts[1]),
		Example: strings.TrimRight(regexp.MustCompile(`(?m)^    `).ReplaceAllString(examples, "  "), "\n"),
	}
	if len(parts) == 3 {
		cmd.Long = strings.TrimSpace(parts[2])
	}
	return cmd
}

// codecsHelp has a line about each codec of times.
func codecsHelp() string {
	var b strings.Builder
	for _, c := range timing.Codecs() {
		within := "within `--error`"
		if c.Exact {
			within = "exact"
		}
		fmt.Fprintf(&b, "- `%s`: %s; %s\n", c.Word, within, c.About)
	}
	return b.String()
}

// AddHelp has the commands below root show their help as plain text, and adds
// commands about it.
func AddHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		var b strings.Builder
		writeHelp(&b, cmd)
		io.WriteString(cmd.OutOrStdout(), b.String())
	})
	help := NewCommand("help")
	help.RunE = func(cmd *cobra.Command, args []string) error {
		about, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 && len(args) == 1 {
			return noCommand(cmd.Root(), args[0])
		}
		if len(rest) > 0 {
			return BadUsage(fmt.Errorf("help takes one command: reprise help %s", about.Name()))
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
	root.SetHelpCommand(help)

	show := NewCommand("version")
	show.Args = NoArgs
	show.RunE = func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "reprise %s, file format %d, %s, %s/%s\n", Version(),
			format.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}
	man := NewCommand("man")
	man.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return BadUsage(fmt.Errorf("man takes one directory, not %s", text.Plural(len(args), "argument")))
		}
		return nil
	}
	man.RunE = func(cmd *cobra.Command, args []string) error { return writeMan(cmd.Root(), args[0]) }
	root.AddCommand(show, man)
}

// writeHelp writes the help of a command: what it does, how it is called, and then the
// rest. Flags of all commands are in the help of root only.
func writeHelp(b *strings.Builder, cmd *cobra.Command) {
	cmd.InitDefaultVersionFlag()
	hideHelp(cmd)
	usage := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		usage = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(b, "%s.\n\nUsage:\n  %s\n", cmd.Short, usage)
	fmt.Fprintf(b, "\nExamples:\n%s\n", cmd.Example)
	for _, g := range cmd.Groups() {
		writeCommands(b, cmd, g.ID, g.Title)
	}
	if cmd.HasAvailableSubCommands() {
		writeCommands(b, cmd, "", "Other commands:")
	}
	if cmd.Long != "" {
		fmt.Fprintf(b, "\n%s", Plain(cmd.Long))
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		title := "Flags:"
		if cmd.HasAvailableSubCommands() {
			title = "Flags of all commands:"
		}
		fmt.Fprintf(b, "\n%s\n%s", title, flags.FlagUsagesWrapped(helpWidth))
	}
}

// writeCommands lists the commands of a group below cmd.
func writeCommands(b *strings.Builder, cmd *cobra.Command, group, title string) {
	fmt.Fprintf(b, "\n%s\n", title)
	for _, c := range cmd.Commands() {
		if c.GroupID == group && (c.IsAvailableCommand() || c.Name() == "help") {
			fmt.Fprintf(b, "  %-*s  %s\n", cmd.NamePadding(), c.Name(), c.Short)
		}
	}
}

// hideHelp has the flags of all commands listed in the help of root only.
func hideHelp(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	f := cmd.Flags().Lookup("help")
	f.Usage, f.Hidden = "show how to use a command", cmd.HasParent()
	cmd.DisableFlagsInUseLine = !cmd.LocalFlags().HasAvailableFlags()
}

// shells are those that there is completion for, with what writes their scripts.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

// AddCompletion adds the command that writes completion for shells, and has the shell
// complete the names of traces where a command takes files.
func AddCompletion(root *cobra.Command) {
	completion := NewCommand("completion")
	for _, s := range shells {
		completion.ValidArgs = append(completion.ValidArgs, s.name)
	}
	completion.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || !slices.Contains(completion.ValidArgs, args[0]) {
			return BadUsage(fmt.Errorf("completion takes a shell: %s", strings.Join(completion.ValidArgs, ", ")))
		}
		return nil
	}
	completion.RunE = func(cmd *cobra.Command, args []string) error {
		return shells[slices.Index(completion.ValidArgs, args[0])].write(root, cmd.OutOrStdout())
	}
	root.AddCommand(completion)
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "compress", "collect", "record":
			continue
		}
		if cmd.ValidArgsFunction == nil && strings.Contains(cmd.Use, ".rpz") {
			cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return []string{"rpz"}, cobra.ShellCompDirectiveFilterFileExt
			}
		}
	}
}

// writeMan writes a man page of each command into a directory, which it makes.
func writeMan(root *cobra.Command, dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: this is a file; man pages are written into a directory", dir)
	}
	if err := os.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // which has the date
	for _, cmd := range root.Commands() {
		hideHelp(cmd)
	}
	header := &doc.GenManHeader{Section: "1", Source: "reprise " + Version(), Manual: "Reprise"}
	wide := root.PersistentFlags().Lookup("wide")
	memory := root.PersistentFlags().Lookup(memoryFlag)
	wide.Hidden, memory.Hidden = true, true // as options that all commands inherit
	if err := doc.GenManTree(root, header, dir); err != nil {
		return err
	}
	wide.Hidden, memory.Hidden = false, false
	var page bytes.Buffer
	if err := doc.GenMan(root, header, &page); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "reprise.1"), page.Bytes(), 0o666)
}

// Version returns the version that the program was built from.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// helpWidth is how many columns the help takes.
const helpWidth = 80

// Plain returns the help as plain text: paragraphs, lists and code of the Markdown
// that the files have.
func Plain(markdown string) string {
	var out strings.Builder
	for block := range strings.SplitSeq(markdown, "\n\n") {
		switch {
		case strings.HasPrefix(block, "    "):
			out.WriteString(regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, "  ") + "\n")
		case strings.HasPrefix(block, "- "):
			writeItems(&out, strings.Split(strings.TrimPrefix(block, "- "), "\n- "))
		default:
			writeWords(&out, 0, 0, block)
		}
		out.WriteString("\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// writeItems writes a list of terms, each with what it means.
func writeItems(out *strings.Builder, items []string) {
	const most = 14 // columns of a term that stands beside its meaning
	width := 0
	for _, item := range items {
		term, _, _ := strings.Cut(item, ": ")
		if n := utf8.RuneCountInString(strings.ReplaceAll(term, "`", "")); n <= most {
			width = max(width, n)
		}
	}
	for _, item := range items {
		term, meaning, _ := strings.Cut(item, ": ")
		term = strings.Join(strings.Fields(strings.ReplaceAll(term, "`", "")), " ")
		n := utf8.RuneCountInString(term)
		if n > width {
			writeWords(out, 2, 0, term)
			writeWords(out, width+4, 0, meaning)
			continue
		}
		fmt.Fprintf(out, "  %s%s", term, strings.Repeat(" ", width+2-n))
		writeWords(out, width+4, width+4, meaning)
	}
}

// writeWords writes words in lines that are indented, the first of which has some
// columns already.
func writeWords(out *strings.Builder, indent, column int, words string) {
	for _, word := range strings.Fields(strings.ReplaceAll(words, "`", "")) {
		n := utf8.RuneCountInString(word)
		switch {
		case column > indent && column+1+n > helpWidth:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		case column > indent:
			out.WriteString(" ")
			column++
		case column < indent:
			out.WriteString(strings.Repeat(" ", indent-column))
			column = indent
		}
		out.WriteString(word)
		column += n
	}
	out.WriteString("\n")
}
