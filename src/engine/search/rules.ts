// One ignore file by git's rules: later lines win, `!` re-includes, a slash anchors, a final slash means directories.
// Plain names and `*.ext`, nearly all lines in practice, are looked up in a map instead of matched.
import { gitPattern } from "../glob/git-pattern.ts";
import { NameEndings } from "../glob/name-endings.ts";
import type { Pattern } from "../glob/pattern.ts";
import { bytesWritten, isEscaped } from "../workspace/name.ts";

interface IgnoreRule {
  readonly order: number;
  readonly ignores: boolean;
  readonly directoriesOnly: boolean;
  /** The pattern, without `!`, a leading slash and a final one; a character for each byte. */
  readonly body: string;
  /** Whether it is about names at any depth, and not about paths. */
  readonly onName: boolean;
}

interface PatternRule extends IgnoreRule {
  readonly pattern: Pattern;
}

/** Wildcard rules that one file may have: each name is matched with each of them. What follows ignores nothing. */
const mostPatterns = 2000;

export class RuleFile {
  /** The endings of names that its rules can be about. */
  readonly endings = new NameEndings();
  readonly #names = new Map<string, IgnoreRule[]>();
  readonly #extensions = new Map<string, IgnoreRule[]>();
  readonly #patterns: PatternRule[] = [];

  constructor(text: string) {
    for (const [order, line] of text
      .replace(/^\ufeff/, "")
      .split("\n")
      .entries()) {
      const rule = parse(line, order);
      if (rule !== undefined) this.#add(rule);
    }
  }

  /**
   * True: ignored; false: re-included; undefined: no rule applies. The path is `prefix` and `name`; the rules see it
   * without its first `base` characters.
   */
  decide(prefix: string, base: number, name: string, isDirectory: boolean): boolean | undefined {
    const bare = nameBytes(name);
    let best = this.#names.size === 0 ? undefined : latest(this.#names.get(bare), isDirectory, undefined);
    if (this.#extensions.size > 0) {
      for (let dot = bare.indexOf("."); dot >= 0; dot = bare.indexOf(".", dot + 1)) {
        best = latest(this.#extensions.get(bare.slice(dot)), isDirectory, best);
      }
    }
    if (this.#patterns.length === 0) return best?.ignores;
    const path = nameBytes(prefix.slice(base)) + bare;
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

  #add(rule: IgnoreRule): void {
    const { body, onName } = rule;
    if (onName && !/[*?[\\]/.test(body)) {
      push(this.#names, body, rule);
      this.endings.add(body);
    } else if (onName && /^\*\.[^*?[\\]+$/.test(body)) {
      push(this.#extensions, body.slice(1), rule);
      this.endings.add(body);
    } else if (this.#patterns.length < mostPatterns) {
      const pattern = gitPattern(body);
      this.#patterns.push({ ...rule, pattern });
      this.endings.add(pattern.suffix);
    }
  }
}

function parse(line: string, order: number): IgnoreRule | undefined {
  if (line.startsWith("#")) return undefined;
  let body = withoutTrailingSpaces(line.replace(/\r$/, ""));
  const ignores = !body.startsWith("!");
  if (!ignores) body = body.slice(1);
  const directoriesOnly = body.endsWith("/");
  if (directoriesOnly) body = body.slice(0, -1);
  if (body === "") return undefined;
  const onName = !body.includes("/");
  return { order, ignores, directoriesOnly, body: bytesOf(body.replace(/^\//, "")), onName };
}

/** The last of the rules, or `best` if that is later. */
function latest(
  rules: readonly IgnoreRule[] | undefined,
  isDirectory: boolean,
  best: IgnoreRule | undefined,
): IgnoreRule | undefined {
  if (rules === undefined) return best;
  for (const rule of rules) {
    if ((best === undefined || rule.order > best.order) && (isDirectory || !rule.directoriesOnly))
      best = rule;
  }
  return best;
}

function push(map: Map<string, IgnoreRule[]>, key: string, rule: IgnoreRule): void {
  // The last one decides, for directories and for everything.
  const others =
    map.get(key)?.filter(({ directoriesOnly }) => directoriesOnly !== rule.directoriesOnly) ?? [];
  map.set(key, [...others, rule]);
}

/** The same for a name or path in its written form. */
function nameBytes(written: string): string {
  return isEscaped(written) ? bytesWritten(written).toString("latin1") : bytesOf(written);
}

/** A character for each byte: to git, `?` and classes are about bytes. */
function bytesOf(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Spaces at the end do not count, unless escaped; tabs do. */
function withoutTrailingSpaces(line: string): string {
  let end = 0; // of what counts
  for (let at = 0; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === " ") continue;
    end = at + 1;
  }
  return line.slice(0, end);
}
