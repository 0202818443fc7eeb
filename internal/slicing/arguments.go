package slicing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Compilation is a source that is compiled in a directory, empty for the one that there is.
type Compilation struct {
	Source, Directory string
	Flags             []string
}

// Arguments sorts the arguments of a compiler command into sources and flags. Those of a
// compile_commands.json are sources, too.
func (p *Program) Arguments(args []string) error {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-o" || arg == "-c" || arg == "-S" || arg == "-E":
			return fmt.Errorf(
				"%s is no argument for slicing: the arguments are sources, and flags of the compiler and the linker", arg)
		case slices.Contains([]string{"-MF", "-MT", "-MQ"}, arg) && i+1 < len(args):
			i++
		case strings.HasPrefix(arg, "-M"): // files of dependences
		case slices.Contains([]string{"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-x",
			"-J", "-module-dir"}, arg) && i+1 < len(args):
			i++
			p.Compiler = append(p.Compiler, arg, args[i])
		case slices.Contains([]string{"-L", "-l"}, arg) && i+1 < len(args):
			i++
			p.Linker = append(p.Linker, arg+args[i])
		case strings.HasPrefix(arg, "-l") || strings.HasPrefix(arg, "-L") || strings.HasPrefix(arg, "-Wl,") ||
			arg == "-rdynamic":
			p.Linker = append(p.Linker, arg)
		case arg == "-fopenmp" || arg == "-pthread":
			return fmt.Errorf("%s: threads are not supported", arg)
		case arg == "-shared":
			return fmt.Errorf(
				"%s: libraries that are loaded with the program are not sliced: link it with all of its objects", arg)
		case strings.HasPrefix(arg, "-O") || strings.HasPrefix(arg, "-g"):
		case strings.HasPrefix(arg, "-"):
			p.Compiler = append(p.Compiler, arg)
		case filepath.Base(arg) == "compile_commands.json":
			if err := p.readCommands(arg); err != nil {
				return err
			}
		default:
			switch ext := filepath.Ext(arg); {
			case isSource(arg):
				p.Sources = append(p.Sources, arg)
			case ext == ".o" || ext == ".a" || ext == ".so":
				p.Linker = append(p.Linker, arg)
			default:
				return fmt.Errorf("%s is neither a source in C, C++ or Fortran nor an object or a library", arg)
			}
		}
	}
	if len(p.Sources)+len(p.Commands)+len(p.Modules) == 0 {
		return errors.New("there is no source to slice")
	}
	return nil
}

func isSource(path string) bool {
	return filepath.Ext(path) == ".c" || isCPlusPlus(path) || isFortran(path)
}

func isCPlusPlus(path string) bool {
	return slices.Contains([]string{".cc", ".cpp", ".cxx", ".c++", ".C"}, filepath.Ext(path))
}

// readCommands reads the sources of a compile_commands.json, as CMake writes it.
func (p *Program) readCommands(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(
			"%w: CMake writes it into the directory of the build, with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON", err)
	}
	if err != nil {
		return err
	}
	var list []struct {
		Directory, File, Command string
		Arguments                []string
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for k, c := range list {
		if c.Arguments == nil {
			if c.Arguments, err = words(c.Command); err != nil {
				return fmt.Errorf("%s: command %d: %w", path, k+1, err)
			}
		}
		var of Program
		if len(c.Arguments) == 0 {
			return fmt.Errorf("%s: command %d is empty", path, k+1)
		}
		if err := of.Arguments(withoutOutput(c.Arguments[1:])); err != nil {
			return fmt.Errorf("%s: command %d: %w", path, k+1, err)
		}
		if len(of.Commands) > 0 || len(of.Sources) != 1 {
			return fmt.Errorf("%s: command %d compiles %d sources, not one", path, k+1, len(of.Sources))
		}
		directory := c.Directory
		if !filepath.IsAbs(directory) {
			directory = filepath.Join(filepath.Dir(path), directory)
		}
		p.Commands = append(p.Commands, Compilation{of.Sources[0], directory, of.Compiler})
	}
	return nil
}

// withoutOutput returns the arguments of a compiler command that are not of what it writes.
func withoutOutput(args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-o":
			i++
		case args[i] != "-c":
			rest = append(rest, args[i])
		}
	}
	return rest
}

// words divides a command line as shells do, with quotes and backslashes and nothing else.
func words(line string) (list []string, err error) {
	var word []byte
	inside, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'' && c != quote, quote == '"' && c != quote && c != '\\':
			word = append(word, c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && i+1 < len(line):
			if i++; quote == '"' && !strings.ContainsRune("\"\\$`", rune(line[i])) {
				word = append(word, c)
			}
			word, inside = append(word, line[i]), true
		case c == '"' || c == '\'':
			quote, inside = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inside {
				list = append(list, string(word))
			}
			word, inside = nil, false
		default:
			word, inside = append(word, c), true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed", quote)
	}
	if inside {
		list = append(list, string(word))
	}
	return list, nil
}
