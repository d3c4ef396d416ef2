// What a language's own parser says about a text. An oracle that is not installed is left out, and told.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { typescript5 } from "./typescript-5.ts";

export interface Oracle extends AsyncDisposable {
  /** Whether a file of this content parses. */
  accepts(text: string): Promise<boolean>;
}

/** Undefined where it cannot be had here. */
export async function oracleOf(extension: string): Promise<Oracle | undefined> {
  if (["ts", "tsx", "js"].includes(extension)) return typescript(extension);
  if (extension === "py") return byLine("python3", ["-c", pythonChecker]);
  if (extension === "java") return byLine("java", [javaChecker()]);
  const command = commands[extension];
  return command !== undefined && isInstalled(command.name) ? byCommand(extension, command) : undefined;
}

interface Command {
  readonly name: string;
  readonly args: readonly string[];
  /** Compilers do more than parse: only these complaints count. */
  readonly syntax?: RegExp;
}

const commands: Readonly<Record<string, Command>> = {
  go: { name: "gofmt", args: ["-e", "-l"] },
  rs: {
    name: "rustfmt",
    args: ["--check", "--edition", "2021", "--config", "skip_children=true"],
    syntax: /^error(?!.*(?:unresolved|left behind trailing|file not found))/m,
  },
  cpp: {
    name: "g++",
    args: ["-fsyntax-only", "-w", "-x", "c++", "-std=c++20", "-fmax-errors=40"],
    syntax:
      /error: (?:expected|stray|unterminated|missing terminating|extra|invalid suffix|unbalanced|two or more data types|a function-definition is not allowed|.*before .*token)/,
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
      const file = ts.createSourceFile(`a.${extension}`, text, ts.ScriptTarget.Latest, false, kind);
      return file.parseDiagnostics.length === 0;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const pythonChecker = `import ast,base64,sys,warnings
warnings.simplefilter("ignore")
for line in sys.stdin:
    try:
        ast.parse(base64.b64decode(line).decode()); print("y", flush=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError): print("n", flush=True)
`;

const javaSource = `import com.sun.source.util.JavacTask;
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
      task.parse();
      var ok = found.getDiagnostics().stream().noneMatch(d -> d.getKind() == Diagnostic.Kind.ERROR);
      System.out.println(ok ? "y" : "n");
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

/** A program that reads a text from each line, in base64, and answers `y` or `n`. */
function byLine(name: string, args: readonly string[]): Oracle | undefined {
  if (!isInstalled(name)) return undefined;
  const child = spawn(name, args, { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    accepts: async text => {
      child.stdin.write(`${Buffer.from(text).toString("base64")}\n`);
      return (await lines.next()).value === "y";
    },
    [Symbol.asyncDispose]: async () => void child.kill(),
  };
}

function byCommand(extension: string, { name, args, syntax }: Command): Oracle {
  const folder = mkdtempSync(join(tmpdir(), "polyfs-oracle-"));
  const file = join(folder, `A.${extension}`);
  return {
    accepts: async text => {
      writeFileSync(file, text);
      const { status, stdout, stderr } = spawnSync(name, [...args, file], { encoding: "utf8", cwd: folder });
      if (syntax === undefined) return status === 0;
      return !syntax.test(`${stdout}\n${stderr}`);
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
