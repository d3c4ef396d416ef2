// Calls of Rust's own macros as calls of functions. The grammar takes the arguments of a macro as they are; those of the
// standard library take expressions, so that errors in them can be found, and members told from variables.

const calls =
  /\b(print|println|eprint|eprintln|format|format_args|write|writeln|panic|todo|unimplemented|unreachable|assert|assert_eq|assert_ne|debug_assert|debug_assert_eq|debug_assert_ne|dbg)!(?=[ \t]*\()/g;
const lists = /(?<!::|\w)vec!(?=[ \t]*\[)/g;

/** The same text, with blanks for what makes a call one of a macro. */
export function macrosAsCalls(text: string): string {
  return text.includes("!") ? text.replace(calls, "$1 ").replace(lists, "    ") : text;
}
