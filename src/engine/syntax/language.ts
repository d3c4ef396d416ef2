// Which language a file is written in, by its name or its first line, and which of the grammars reads it.

export type Grammar =
  | "bash"
  | "c-sharp"
  | "cpp"
  | "css"
  | "go"
  | "ini"
  | "java"
  | "javascript"
  | "php"
  | "powershell"
  | "python"
  | "regex"
  | "ruby"
  | "rust"
  | "tsx"
  | "typescript";

/** `markup`: only the scripts in it are read. `c` is read as C++, whose keywords C may use as names. */
export interface Language {
  readonly name: string;
  readonly grammar: Grammar;
  readonly markup?: true;
}

// Maps: a file may be called `constructor`.
const byExtension: ReadonlyMap<string, Language> = table({
  bash: ["sh", "bash", "zsh", "ksh", "bats"],
  "c-sharp": ["cs", "csx"],
  cpp: ["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl", "cu", "cuh"],
  css: ["css"],
  go: ["go"],
  ini: ["ini", "cfg", "properties", "editorconfig", "gitconfig"],
  java: ["java"],
  javascript: ["js", "mjs", "cjs", "jsx"],
  php: ["php", "phtml", "php5", "inc"],
  powershell: ["ps1", "psm1", "psd1"],
  python: ["py", "pyi", "pyw"],
  ruby: ["rb", "rake", "gemspec", "ru"],
  rust: ["rs"],
  tsx: ["tsx"],
  typescript: ["ts", "mts", "cts"],
});

const byName: ReadonlyMap<string, Grammar> = new Map([
  ["rakefile", "ruby"],
  ["gemfile", "ruby"],
  ["guardfile", "ruby"],
  ["podfile", "ruby"],
  ["vagrantfile", "ruby"],
  ["sconstruct", "python"],
  [".bashrc", "bash"],
  [".bash_profile", "bash"],
  [".profile", "bash"],
  [".zshrc", "bash"],
  ["pkgbuild", "bash"],
]);

const interpreters: readonly (readonly [RegExp, Grammar])[] = [
  [/\b(ba|z|k|da|a)?sh$/, "bash"],
  [/\bpython[\d.]*$/, "python"],
  [/\bruby[\d.]*$/, "ruby"],
  [/\b(node|bun)$/, "javascript"],
  [/\b(deno|tsx|ts-node)$/, "typescript"],
  [/\bphp[\d.]*$/, "php"],
  [/\bpwsh$/, "powershell"],
];

/** The language of a file; undefined if there is no grammar for it. */
export function languageOf(path: string, text: string): Language | undefined {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 ? name.slice(dot + 1) : "";
  if (extension === "c" || extension === "h") return { name: "c", grammar: "cpp" };
  if (["vue", "svelte", "html", "htm", "xhtml", "astro"].includes(extension)) return markup(text);
  const known = byExtension.get(extension);
  if (known !== undefined) return known;
  const grammar = byName.get(name) ?? (extension === "" ? byFirstLine(text) : undefined);
  return grammar && { name: grammar, grammar };
}

/** A text that is code under every name that can be one of code. */
const anyCode = "#!/bin/sh\n<script>x</script>";

/** Whether a file of this name can have a language. If not, its text need not be decoded. */
export function mayHaveLanguage(path: string): boolean {
  return languageOf(path, anyCode) !== undefined;
}

function byFirstLine(text: string): Grammar | undefined {
  const command = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(\S+)/.exec(text.slice(0, 200))?.[1];
  return command === undefined ? undefined : interpreters.find(([name]) => name.test(command))?.[1];
}

const scripts = /<script\b([^>]*)>([\s\S]*?)<\/script\s*>/gi;
const otherType =
  /\btype\s*=\s*["']?(?!(?:module|text\/(?:java|type|ecma)script|application\/(?:x-)?javascript)\b)[^"'\s>]+/i;

function markup(text: string): Language | undefined {
  for (const [, attributes = "", body = ""] of text.matchAll(scripts)) {
    if (otherType.test(attributes) || body.trim() === "") continue;
    const typed = /\blang\s*=\s*["']?tsx?\b/i.test(attributes);
    return { name: "script", grammar: typed ? "typescript" : "javascript", markup: true };
  }
  return undefined;
}

/** The input of the parser: of markup only the scripts, everything else as blanks, so that offsets stay. */
export function parsedPart(text: string, { markup: isMarkup }: Language): string {
  if (!isMarkup) return text;
  let part = "";
  let at = 0;
  const blank = (end: number) => text.slice(at, end).replace(/[^\n]/g, " ");
  for (const { 0: whole, 1: attributes = "", 2: body = "", index } of text.matchAll(scripts)) {
    if (otherType.test(attributes)) continue;
    const start = index + whole.indexOf(">", 7 + attributes.length) + 1;
    part += blank(start);
    part += body;
    at = start + body.length;
  }
  return part + blank(text.length);
}

function table(rows: Partial<Record<Grammar, readonly string[]>>): Map<string, Language> {
  const entries = Object.entries(rows).flatMap(([grammar, extensions]) =>
    extensions.map(extension => [extension, { name: grammar, grammar: grammar as Grammar }] as const),
  );
  return new Map(entries);
}
