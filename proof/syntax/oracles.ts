// What a language's own parser says about a text. An oracle that is not installed is left out, and reported.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TypeScript, typescript5 } from "./typescript-5.ts";

export interface Oracle extends AsyncDisposable {
  /** Whether a file of this content parses. `path` is where it comes from. */
  accepts(text: string, path: string): Promise<boolean>;
}

/** Undefined if it cannot be had here. */
export async function oracleOf(extension: string): Promise<Oracle | undefined> {
  if (["ts", "tsx", "js"].includes(extension)) return typescript(extension);
  if (extension === "py") return byLine("python3", ["-c", pythonChecker]);
  if (extension === "java") return byLine("java", [javaChecker()]);
  if (extension === "cpp") return cpp();
  const command = commands[extension];
  return command !== undefined && isInstalled(command.name) ? byCommand(extension, command) : undefined;
}

function cpp(): Oracle | undefined {
  const python = "/usr/bin/python3"; // the system's, which has clang's bindings
  const { status } = spawnSync(python, ["-c", "import clang.cindex"], { stdio: "ignore" });
  return status === 0 ? byLine(python, ["-c", cppChecker], true) : undefined;
}

interface Command {
  readonly name: string;
  readonly args: readonly string[];
  /** Compilers do more than parse: only these complaints count. */
  readonly syntax?: RegExp;
  /** Asked about what the first one accepts. */
  readonly next?: Command;
}

const commands: Readonly<Record<string, Command>> = {
  go: { name: "gofmt", args: ["-e", "-l"] },
  rs: {
    name: "rustfmt",
    args: ["--check", "--edition", "2021", "--config", "skip_children=true"],
    syntax: /^error(?!.*(?:unresolved|left behind trailing|file not found))/m,
    // The compiler leaves some of its syntax to a later step: suffixes, patterns of macros, bounds, and the arguments of
    // macros, which it reads in tests only if it compiles them.
    next: {
      name: "rustc",
      args: ["--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "--test"],
      syntax:
        /^error: (?:suffixes on|expected|unexpected|missing fragment|const trait bounds|no rules expected(?:(?!^error)[\s\S])*?\b(?:(?:debug_)?assert\w*|vec|e?print\w*|write|writeln|format|panic)!)/m,
    },
  },
};

function isInstalled(name: string): boolean {
  return spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined;
}

async function typescript(extension: string): Promise<Oracle | undefined> {
  const ts = await typescript5();
  if (ts === undefined) return undefined;
  const kind = { ts: ts.ScriptKind.TS, tsx: ts.ScriptKind.TSX, js: ts.ScriptKind.JSX }[extension];
  return {
    accepts: async text => {
      const file = ts.createSourceFile(`a.${extension}`, text, ts.ScriptTarget.Latest, true, kind);
      return file.parseDiagnostics.length === 0 && !isRefusedLater(ts, file);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/**
 * TypeScript reports some faults of syntax only with the types: empty lists, and assignments to expressions that cannot
 * be assigned to.
 */
function isRefusedLater(ts: TypeScript, file: unknown): boolean {
  const isWrong = (node: TypeScript): boolean =>
    node.typeArguments?.length === 0 ||
    node.typeParameters?.length === 0 ||
    (ts.isVariableDeclarationList(node) && node.declarations.length === 0) ||
    (ts.isBinaryExpression(node) &&
      ts.isAssignmentOperator(node.operatorToken.kind) &&
      !isPlace(ts, node.left)) ||
    (ts.forEachChild(node, (child: TypeScript) => isWrong(child) || undefined) ?? false);
  return isWrong(file);
}

function isPlace(ts: TypeScript, node: TypeScript): boolean {
  const inner = ts.skipOuterExpressions(node);
  return (
    [
      ts.SyntaxKind.Identifier,
      ts.SyntaxKind.ObjectLiteralExpression,
      ts.SyntaxKind.ArrayLiteralExpression,
    ].includes(inner.kind) ||
    ts.isPropertyAccessExpression(inner) ||
    ts.isElementAccessExpression(inner)
  );
}

const pythonChecker = `import ast,base64,sys,warnings
warnings.simplefilter("ignore")
for line in sys.stdin:
    try:
        ast.parse(base64.b64decode(line).decode()); print("y", flush=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError): print("n", flush=True)
`;

/**
 * clang, which distinguishes syntax errors from others. Headers are compiled once for each file, so it gets the path:
 * the file may include others from its own directory. After a name that it does not know, it skips the rest of the
 * statement and a bracket too many in it; so brackets that were balanced in the first text of a file must stay so.
 * Two types in a declaration (`int bool f();`) are its parser's refusal, too, although it lists that with the meaning.
 */
const cppChecker = `import base64,glob,re,sys
import clang.cindex as c
c.Config.set_library_file(sorted(glob.glob("/usr/lib/llvm-*/lib/libclang.so.1") + glob.glob("/usr/lib/llvm-*/lib/libclang-*.so.1"))[-1])
index = c.Index.create()
args = ["-x", "c++", "-std=c++20", "-w", "-ferror-limit=0"]
options = c.TranslationUnit.PARSE_PRECOMPILED_PREAMBLE | 0x100
unit, last, was_balanced = None, None, False
pairs = {")": "(", "]": "[", "}": "{"}
def is_balanced(unit, text):
    directives, line = set(), 0
    for part in re.split(r"(?<!\\\\)\\n", text):
        lines = part.count("\\n") + 1
        if part.lstrip().startswith("#"): directives.update(range(line + 1, line + 1 + lines))
        line += lines
    opened = []
    for token in unit.get_tokens(extent=unit.cursor.extent):
        if token.kind != c.TokenKind.PUNCTUATION: continue
        spelling = token.spelling
        if spelling not in "()[]{}" or token.location.line in directives: continue
        if spelling in "([{": opened.append(spelling)
        elif not opened or opened.pop() != pairs[spelling]: return False
    return not opened
for line in sys.stdin:
    path, text = [base64.b64decode(part).decode() for part in line.split()]
    files = [(path, text)]
    is_first = path != last
    if is_first: unit, last = index.parse(path, args=args, unsaved_files=files, options=options), path
    else: unit.reparse(unsaved_files=files, options=options)
    balanced = is_balanced(unit, text)
    if is_first:
        was_balanced = balanced
        if any(d.severity >= 3 for d in unit.diagnostics):
            print("n", flush=True) # a part of another file: whatever is wrong with it, clang is lost already
            continue
    found = [d for d in unit.diagnostics if d.severity >= 3 and d.location.file and d.location.file.name == path]
    if any("file not found" in d.spelling for d in found):
        print("y", flush=True) # a wrong name; what follows lacks the macros of that file
        continue
    wrong = [d for d in found if d.category_name == "Parse Issue" or d.category_name.startswith("Lex") or "cannot combine with previous" in d.spelling]
    print("n" if wrong or was_balanced and not balanced else "y", flush=True)
`;

const javaSource = `import com.sun.source.tree.MethodTree;
import com.sun.source.util.*;
import java.io.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.*;
import javax.tools.*;
public class Checker {
  public static void main(String[] args) throws Exception {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null; ) {
      var text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
      var file = new SimpleJavaFileObject(URI.create("string:///A.java"), JavaFileObject.Kind.SOURCE) {
        @Override public CharSequence getCharContent(boolean ignored) { return text; }
      };
      var found = new DiagnosticCollector<JavaFileObject>();
      var task = (JavacTask) compiler.getTask(null, null, found, List.of("-proc:none"), null, List.of(file));
      var isRight = new boolean[] {true};
      // The language allows a call of another constructor only as the first statement; the parser leaves that to later.
      for (var unit : task.parse()) new TreeScanner<Void, Void>() {
        @Override public Void visitMethod(MethodTree method, Void none) {
          var body = method.getBody();
          if (body != null && method.getName().contentEquals("<init>"))
            for (var statement : body.getStatements().stream().skip(1).toList())
              if (statement.toString().matches("(?s)(super|this)\\\\(.*")) isRight[0] = false;
          return super.visitMethod(method, none);
        }
      }.scan(unit, null);
      var ok = found.getDiagnostics().stream().noneMatch(d -> d.getKind() == Diagnostic.Kind.ERROR);
      System.out.println(ok && isRight[0] ? "y" : "n");
      System.out.flush();
    }
  }
}
`;

function javaChecker(): string {
  const folder = mkdtempSync(join(tmpdir(), "polyfs-oracle-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "Checker.java");
  writeFileSync(file, javaSource);
  return file;
}

/** A program that reads a text from each line, in base64, after its path if it is `named`, and answers `y` or `n`. */
function byLine(name: string, args: readonly string[], named = false): Oracle | undefined {
  if (!isInstalled(name)) return undefined;
  const child = spawn(name, args, { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    accepts: async (text, path) => {
      const parts = named ? [path, text] : [text];
      child.stdin.write(`${parts.map(part => Buffer.from(part).toString("base64")).join(" ")}\n`);
      return (await lines.next()).value === "y";
    },
    [Symbol.asyncDispose]: async () => void child.kill(),
  };
}

function byCommand(extension: string, command: Command): Oracle {
  const folder = mkdtempSync(join(tmpdir(), "polyfs-oracle-"));
  const file = join(folder, `A.${extension}`);
  return {
    accepts: async text => {
      writeFileSync(file, text);
      for (let one: Command | undefined = command; one !== undefined; one = one.next) {
        if (one !== command && !isInstalled(one.name)) break;
        const options = { encoding: "utf8", cwd: folder } as const;
        const { status, stdout, stderr } = spawnSync(one.name, [...one.args, file], options);
        const complaint = one.syntax?.test(`${stdout}\n${stderr}`) ?? status !== 0;
        if (complaint) return false;
      }
      return true;
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
