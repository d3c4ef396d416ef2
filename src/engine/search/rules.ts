// One ignore file, read by git's rules: later lines win, `!` takes back, a slash anchors, a final slash means
// directories. Plain names and `*.ext`, nearly all lines in practice, are looked up instead of matched. Braces
// are alternatives, an unclosed `[` is plain, and all blanks at the end are dropped, as ripgrep has it and git does
// not: one policy, whichever of us walks.
import { expandBraces, isBalanced } from "../glob/braces.ts";
import { Pattern } from "../glob/pattern.ts";

interface Rule {
  readonly order: number;
  readonly ignores: boolean;
  readonly directoriesOnly: boolean;
}

interface PatternRule extends Rule {
  readonly pattern: Pattern;
  readonly onName: boolean;
}

export class RuleFile {
  readonly #names = new Map<string, Rule[]>();
  readonly #extensions = new Map<string, Rule[]>();
  readonly #patterns: PatternRule[] = [];
  readonly #lines: readonly string[];
  /** Whether any line takes something back in. */
  readonly #negates: boolean;

  constructor(text: string) {
    this.#lines = text.replace(/^\ufeff/, "").split("\n");
    let negates = false;
    for (const [order, line] of this.#lines.entries()) {
      const ignores = this.#add(line, order);
      negates ||= ignores === false;
    }
    this.#negates = negates;
  }

  /**
   * What the rules mean further down, wherever that is, as lines of an ignore file that leaves out no more than they
   * do: a line that is bound to a place is dropped, or where it takes back in, bound to none.
   */
  get anywhere(): string[] {
    return this.#lines.flatMap(line => {
      if (line.startsWith("#")) return [];
      const [, negation = "", written = ""] = /^(!?)(?:\*\*\/)?(.*)$/s.exec(line) ?? [];
      const body = withoutTrailingBlanks(written.replace(/\r$/, ""));
      if (body === "" || body === "/") return [];
      if (!body.slice(0, -1).includes("/") && !body.endsWith("\\/")) return [negation + body];
      if (negation === "") return [];
      const last = /\/([\w.-]+)\/?$/.exec(body)?.[1];
      return [last === undefined ? "!*" : `!${last}`];
    });
  }

  get negates(): boolean {
    return this.#negates;
  }

  /**
   * True: ignored; false: taken back in; undefined: not spoken of. The path is `prefix` and `name`; the rules are
   * about what comes behind its first `base` characters.
   */
  decide(prefix: string, base: number, name: string, isDirectory: boolean): boolean | undefined {
    let best = this.#names.size === 0 ? undefined : latest(this.#names.get(name), isDirectory, undefined);
    if (this.#extensions.size > 0) {
      for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
        best = latest(this.#extensions.get(name.slice(dot)), isDirectory, best);
      }
    }
    if (this.#patterns.length === 0) return best?.ignores;
    const path = bytesOf(prefix.slice(base) + name);
    const bare = bytesOf(name);
    for (let i = this.#patterns.length - 1; i >= 0; i--) {
      const rule = this.#patterns[i] as PatternRule;
      if (best !== undefined && rule.order < best.order) break;
      if (rule.directoriesOnly && !isDirectory) continue;
      if (rule.pattern.matches(rule.onName ? bare : path)) {
        best = rule;
        break;
      }
    }
    return best?.ignores;
  }

  #add(line: string, order: number): boolean | undefined {
    let body = line.replace(/\r$/, "");
    if (body.startsWith("#")) return undefined;
    body = withoutTrailingBlanks(body);
    let ignores = true;
    if (body.startsWith("!")) {
      ignores = false;
      body = body.slice(1);
    }
    const directoriesOnly = body.endsWith("/") && !body.endsWith("\\/");
    if (directoriesOnly) body = body.slice(0, -1);
    if (body === "" || !isBalanced(body, true)) return undefined;
    const rule = { order, ignores, directoriesOnly };
    for (const alternative of expandBraces(body, 256) ?? []) this.#index(alternative, rule);
    return ignores;
  }

  #index(body: string, rule: Rule): void {
    const onName = !body.includes("/");
    if (onName && !/[*?[\\]/.test(body)) push(this.#names, body, rule);
    else if (/^\*\.[^*?[\\/]+$/.test(body)) push(this.#extensions, body.slice(1), rule);
    else this.#patterns.push({ ...rule, pattern: new Pattern(bytesOf(body.replace(/^\//, ""))), onName });
  }
}

/** The last of the rules, or `best` where that is later. */
function latest(
  rules: readonly Rule[] | undefined,
  isDirectory: boolean,
  best: Rule | undefined,
): Rule | undefined {
  if (rules === undefined) return best;
  for (const rule of rules) {
    if ((best === undefined || rule.order > best.order) && (isDirectory || !rule.directoriesOnly))
      best = rule;
  }
  return best;
}

function push(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const rules = map.get(key);
  if (rules === undefined) map.set(key, [rule]);
  else rules.push(rule);
}

/** A character for each byte: `?` and classes are about bytes, to git and to ripgrep. */
function bytesOf(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Blanks at the end do not count, unless escaped. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && /[ \t\r]/.test(line[end - 1] ?? "") && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
