// The table of paths: ways of naming what must not be reached. Ids are those of the list of known attacks that the
// suite covers; a case without one is ours. Each is tried by every tool, in every place where a tool takes a string.
import type { Arena } from "./arena.ts";

export interface PathCase {
  readonly id: string;
  readonly story: string;
  /** One or more spellings. */
  readonly path: (arena: Arena) => string | readonly string[];
  /**
   * `everywhere`: no tool may accept it. `reading`: it is a name of the root that leads nowhere or outside; a tool that
   * writes may deal with the name itself. `never`: it may be accepted, and only the effect counts.
   */
  readonly refused: "everywhere" | "reading" | "never";
}

const outside = (
  id: string,
  story: string,
  path: PathCase["path"],
  refused: PathCase["refused"] = "everywhere",
) => ({ id, story, path, refused });
/** A name in the root, spelled relative and absolute. */
const inside = (
  id: string,
  story: string,
  name: string,
  refused: PathCase["refused"] = "everywhere",
): PathCase => ({ id, story, refused, path: ({ root }) => [name, `${root}/${name}`] });

export const pathCases: readonly PathCase[] = [
  outside("A001", "up and over", () => "../outside/secret.txt"),
  outside("A001b", "up and over from below", ({ root }) => `${root}/sub/../../outside/secret.txt`),
  outside("A003", "an absolute path", ({ outside }) => `${outside}/secret.txt`),
  outside("A003b", "a directory outside", ({ outside }) => outside),
  outside("A003c", "a new file outside", ({ outside }) => `${outside}/new.txt`),
  outside("A003d", "the parent of the root", ({ base, root }) => [base, `${root}/..`, ".."]),
  outside("A003e", "the root of the file system", () => ["/", "//", "/."]),
  outside("A004", "a sibling whose name begins with the root's", ({ sibling }) => `${sibling}/secret.txt`),
  outside("A005", "a new file in the sibling", ({ sibling }) => `${sibling}/new.txt`),
  outside("A006", "the sibling itself", ({ sibling }) => [sibling, "../root-evil"]),
  outside("A007", "a new directory in the sibling", ({ sibling }) => `${sibling}/newdir`),
  outside("A008", "up through a directory that does not exist", ({ root }) => [
    `${root}/nope/../../outside/secret.txt`,
    "nope/../../outside/secret.txt",
  ]),
  inside("A010", "percent-encoded dots", "%2e%2e%2foutside%2fsecret.txt", "reading"),
  outside("A011", "backslashes", () => "..\\outside\\secret.txt", "reading"),
  outside("A012", "a URI", ({ outside }) => [`file://${outside}/secret.txt`, `FILE://${outside}/secret.txt`]),
  outside("A013", "a URI with encoded dots", ({ root }) => [
    `file://${root}/%2e%2e/outside/secret.txt`,
    `file://localhost${root}/..%2foutside%2fsecret.txt`,
  ]),
  outside("A015", "a NUL that ends the checked part", ({ outside, root }) => [
    `${outside}/secret.txt\0${root}/pub.txt`,
    `${root}/pub.txt\0/../../outside/secret.txt`,
  ]),
  outside("A016", "a NUL in a name", ({ root }) => [`${root}/a\0b.txt`, "a\0b.txt"]),
  outside("A017", "the home directory", () => "~/.bashrc", "reading"),
  outside("A018", "the home directory of a user", () => "~root/.bashrc", "reading"),
  outside("A019", "a variable", () => ["$HOME/.bashrc", `\${HOME}/.bashrc`], "reading"),
  outside("A020", "nothing", () => ["", " ", "\n"], "never"),
  inside("A023", "a path that is too long", `${"a/".repeat(2500)}x`),
  inside("A024", "a name that is too long", "n".repeat(300)),
  inside("A027", "a file as a directory", "pub.txt/", "never"),
  inside("A027b", "something below a file", "pub.txt/x"),
  outside("A028", "the server's own root in /proc", ({ outside }) => `/proc/self/root${outside}/secret.txt`),
  outside("A029", "the server's own directory in /proc", () => [
    "/proc/self/cwd/../outside/secret.txt",
    "/proc/thread-self/cwd/../outside/secret.txt",
  ]),
  // Such a handle may well be one of the root itself: then it is inside.
  outside(
    "A029b",
    "a handle of the server's in /proc",
    () => ["/proc/self/fd/3/secret.txt", "/dev/fd/20", "/proc/self/fd/20/../outside/secret.txt"],
    "never",
  ),
  outside("A030", "the server's environment", () => "/proc/self/environ"),
  outside("A031", "the server's input", () => ["/dev/stdin", "/proc/self/fd/0"]),
  inside("A032", "fullwidth dots", "\uff0e\uff0e\uff0foutside\uff0fsecret.txt", "reading"),
  inside("A033", "half of a surrogate pair", "\ud800x"),
  outside("A037", "a path of another system", () => "C:\\Users\\x\\a.txt", "reading"),
  inside("A038", "a link to a file", "file-link", "reading"),
  inside("A038b", "a link to a file, as a directory", "file-link/x"),
  inside("A040", "a new file behind a link to a directory", "directory-link/new.txt"),
  inside("A043", "a link that dangles", "dangling-link", "reading"),
  inside("A043b", "something below a link that dangles", "dangling-link/x"),
  inside("A048", "a link to a directory", "directory-link", "reading"),
  inside("A048b", "a link to a directory, with a slash", "directory-link/", "reading"),
  inside("A048c", "a directory behind a link", "directory-link/sub"),
  inside("A047", "a file behind a link to a directory", "directory-link/secret.txt"),
  inside("A047b", "a file behind a relative link", "relative-link/secret.txt"),
  inside("A047c", "a file behind a link to a link", "chained-link/secret.txt"),
  inside("A047d", "a file behind a link in a tree", "tree/d/secret.txt"),
  inside("A052", "a link to a file of some size", "sized-link", "never"),
  inside("A053", "a new directory behind a link", "directory-link/newdir/deep"),
  inside("A059", "a tree that holds links", "tree", "never"),
  inside("A063", "up behind a link", "deep-link/../secret.txt", "reading"),
  inside("A065", "a link to the root itself", "self-link/self-link/self-link", "never"),
  inside("A066", "a link to the root of the file system", "slash-link", "reading"),
  inside("A066b", "a file behind it", "slash-link/etc/passwd"),
  inside("A069", "a loop of links", "loop-a", "reading"),
  inside("A070", "a link to a device", "zero-link", "reading"),
  inside("A070b", "a link into /proc", "environ-link", "reading"),
  inside("A070c", "a link to the server's input", "stdin-link", "reading"),
  inside("A079", "a file with another name outside", "hard-link", "never"),
  inside("A083", "a FIFO", "fifo", "never"),
  inside("A095", "the root", "", "never"),
  inside("A096", "the root with a dot", ".", "never"),
  inside("A096b", "the root by a way round", "sub/..", "never"),
  inside("A098", "the root through a link", "self-link", "never"),
  inside("A125", "control characters", "e\u001b[2Jx\n[FILE] fake.txt", "never"),
  inside("A158", "letters that fold", ".g\u0131t/PUB.TXT", "reading"),
  outside(
    "A168",
    "another machine",
    () => ["\\\\198.51.100.7\\share\\x", "//198.51.100.7/share/x"],
    "reading",
  ),
];
