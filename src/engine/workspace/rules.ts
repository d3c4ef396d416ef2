// The policy in force for some roots, asked about canonical paths. A view of a workspace (a subdirectory, a token's
// part) asks the rules of the underlying roots, so that `app/secrets/**` means the same directory for all of them.

import { isUtf8 } from "node:buffer";
import { append } from "../append.ts";
import { Fault } from "../fault.ts";
import { type Allowed, type ApprovalGrant, covers, isAllowed, type Need } from "../policy/approval.ts";
import { hidesAsMuch, mask, maskFormat, unmask } from "../policy/mask/mask.ts";
import { revealsMore, type SeenText } from "../policy/mask/reveal.ts";
import { placeholder } from "../policy/mask/secret.ts";
import { decideAll, Policy } from "../policy/policy.ts";
import { type AskedAction, type Decision, narrower, type PolicyRule, unrestricted } from "../policy/rule.ts";
import { isPdf } from "../text/detect.ts";
import { foldName } from "../text/fold-name.ts";
import { type HiddenNames, RecentHiddenNames } from "./hidden-names.ts";
import { isWithin, pathsAbove } from "./within.ts";

/** The policies of a server, which may be replaced while it runs. */
export interface PolicySource {
  current(): readonly Policy[];
  /** What a person has approved of what rules ask about. */
  grants?(): readonly ApprovalGrant[];
}

/** A text that other bytes were made of, and its path, which decides how much of it is shown. */
export interface TextOrigin {
  readonly at: string;
  readonly bytes: Buffer;
}

interface Base {
  readonly path: string;
  whereabouts(): string;
  /** Directories that this one is a copy of: what rules say about those holds here too. */
  readonly standsFor?: readonly string[] | undefined;
}

/**
 * The largest file that is masked; a larger one under such a rule cannot be read. A mask takes some 40 ms for so many
 * bytes, and twice as long for a file that is made for that; other calls wait meanwhile.
 */
export const maxMaskedBytes = 1024 * 1024;

/** Rules as data: what another server has to know of them. */
export interface WrittenRules {
  readonly bases: readonly Pick<Base, "path" | "standsFor">[];
  readonly policies: readonly (readonly PolicyRule[])[];
}

/** Where a root is now. One whose handle was closed had been opened a second time, and is named by its path. */
function placeOf({ path, whereabouts }: Base): string {
  try {
    return whereabouts();
  } catch {
    return path;
  }
}

const noPolicies: PolicySource = { current: () => [] };
const mark = Buffer.from(placeholder);

export class Rules {
  readonly #source: PolicySource;
  readonly #more: readonly PolicySource[];
  readonly #bases: Base[] = [];
  readonly #recent: RecentHiddenNames;
  #hidden: HiddenNames | undefined;

  constructor(
    source: PolicySource = noPolicies,
    more: readonly PolicySource[] = [],
    recent = new RecentHiddenNames(),
  ) {
    this.#source = source;
    this.#more = more;
    this.#recent = recent;
  }

  /** The rules that were in force when they were written. */
  static read({ bases, policies: written }: WrittenRules): Rules {
    const policies = written.map(rules => new Policy(rules));
    const rules = new Rules({ current: () => policies });
    for (const base of bases) rules.addBase({ ...base, whereabouts: () => base.path });
    return rules;
  }

  get written(): WrittenRules {
    return {
      bases: this.#bases.map(base => ({ path: placeOf(base), standsFor: base.standsFor })),
      policies: this.policies.map(({ rules }) => rules),
    };
  }

  /** A root that relative globs are read against. */
  addBase(base: Base): void {
    this.#bases.push(base);
    this.#hidden = undefined;
  }

  /** The same rules and some more: together they only narrow. */
  and(more: PolicySource): Rules {
    const both = new Rules(this.#source, [...this.#more, more], this.#recent);
    append(both.#bases, this.#bases);
    return both;
  }

  get policies(): readonly Policy[] {
    const own = this.#source.current();
    return this.#more.length === 0 ? own : [...own, ...this.#more.flatMap(more => more.current())];
  }

  get restrict(): boolean {
    return this.policies.some(policy => !policy.isEmpty);
  }

  decide(at: string): Decision {
    return this.#decide(at, this.policies);
  }

  /**
   * About a path in another tree, such as the base of a fork. Its root is not known here, so it is whatever any of the
   * directories above it as the root would make of it.
   */
  decideElsewhere(at: string): Decision {
    const { policies } = this;
    let decision = unrestricted;
    for (const above of pathsAbove(at))
      decision = narrower(decision, decideAll(policies, above, at.slice(above.length + 1)));
    return decision;
  }

  #decide(at: string, policies: readonly Policy[]): Decision {
    if (policies.every(policy => policy.isEmpty)) return unrestricted;
    const only = this.#bases.length === 1 ? this.#bases[0] : undefined; // every read comes here
    if (only !== undefined && !only.standsFor?.length && isWithin(at, only.path)) {
      const place = bare(only.path);
      return narrower(unrestricted, decideAll(policies, place, at.slice(place.length + 1)));
    }
    const named = this.#bases.filter(({ path }) => isWithin(at, path)).map(({ path }) => path);
    // A root that was moved is where its handle says.
    const bases =
      named.length > 0
        ? named
        : this.#bases.map(base => base.whereabouts()).filter(path => isWithin(at, path));
    if (bases.length === 0) return decideAll(policies, at, "");
    return bases.reduce((decision, base) => {
      const relative = at.slice(bare(base).length + 1);
      return [base, ...this.#originals(base)].reduce(
        (narrowed, one) => narrower(narrowed, decideAll(policies, bare(one), relative)),
        decision,
      );
    }, unrestricted);
  }

  /** What the root at this place is a copy of. */
  #originals(place: string): readonly string[] {
    const base =
      this.#bases.find(one => one.path === place) ?? (this.#bases.length === 1 ? this.#bases[0] : undefined);
    return base?.standsFor ?? [];
  }

  /** The names that the current rules hide; undefined if they hide none. */
  get hidden(): HiddenNames | undefined {
    const { policies } = this;
    if (this.#hidden?.isOf(policies)) return this.#hidden;
    if (policies.every(policy => policy.isEmpty)) return undefined;
    const bases = [...this.#bases];
    this.#hidden = this.#recent.of({ policies, bases, decide: at => this.#decide(at, policies) });
    return this.#hidden;
  }

  /** Refuses what may not even be opened. */
  admit(at: string, given: string): Decision {
    const decision = this.decide(at);
    if (decision.contents === "none") throw refusal("open", decision, given);
    return decision;
  }

  /**
   * Refuses the bytes on the disk of a file at `at` to a reader who shows them as the rules have it at another path. That
   * of a record may lead elsewhere by now, through a link that was put in the place of a directory or of the file.
   */
  admitUnmasked(at: string, shownAt: string, given: string): void {
    const decision = this.admit(at, given);
    if (decision.contents !== "full" && foldName(at) !== foldName(shownAt))
      throw refusal("open", decision, given);
  }

  /** Refuses what may not be changed. */
  admitChange(at: string, given: string): Decision {
    const decision = this.admit(at, given);
    if (!decision.changes) throw refusal("change", decision, given);
    return decision;
  }

  /** The approvals that are still needed before a change at `at`. */
  open(at: string, question: AskedAction, client: string): Need | undefined {
    const { ask, asking } = this.decide(at);
    if (!ask.includes(question)) return undefined;
    const need = { at, question, ...(asking !== undefined && { rule: asking }) };
    const sources = [this.#source, ...this.#more];
    const grants = sources.flatMap(source => source.grants?.() ?? []);
    return grants.some(grant => covers(grant, need, client, Date.now())) ? undefined : need;
  }

  /**
   * Whether a command may change `at`. It cannot stop and ask, so what a rule asks about is protected from it unless a
   * person has allowed it beforehand.
   */
  isFreeForCommands(at: string, client: string, approved: readonly Allowed[]): boolean {
    return (
      this.decide(at).changes &&
      (["write", "delete"] as const).every(question => {
        const need = this.open(at, question, client);
        return need === undefined || isAllowed(need, approved);
      })
    );
  }

  /**
   * Whether a sandbox that shows these directories under these rules has a mount at `at`: something is shown in its place,
   * or it is protected and its parent is not. What is in a hidden directory needs none.
   */
  isCovered(at: string, roots: readonly string[]): boolean {
    const parent = at.slice(0, at.lastIndexOf("/"));
    const [decision, above] = [this.decide(at), this.decide(parent)];
    if (decision.contents === "none") return above.contents !== "none" || roots.includes(parent);
    const isProtected = ({ changes, ask }: Decision) => !changes || ask.some(question => question !== "run");
    return decision.contents === "masked" || (isProtected(decision) && !isProtected(above));
  }

  /** The bytes of a file as a caller may see them. */
  shown(at: string, bytes: Buffer, given = at): Buffer {
    const decision = this.admit(at, given);
    return decision.contents === "masked" ? maskedBytes(at, bytes, decision, given) : bytes;
  }

  /**
   * Whether a file would show more at `to` than at `from`: by the rule there, or because the mask goes by the name and
   * hides less of these bytes there. `read` is called only where that depends on them; undefined: nothing to show.
   */
  exposes(from: string, to: string, read: () => Buffer | undefined): boolean {
    const [here, there] = [this.decide(from), this.decide(to)];
    if (rank[there.contents] !== rank[here.contents] || here.contents !== "masked")
      return rank[there.contents] > rank[here.contents];
    const formats = [maskFormat(from), maskFormat(to)] as const;
    if (formats[0] === formats[1]) return false;
    const bytes = read();
    return bytes !== undefined && isMaskable(bytes) && !hidesAsMuch(textOf(bytes), ...formats);
  }

  /** Refuses bytes that would show at `to` what a rule hides in all the texts that they are made of. */
  admitMade(origins: readonly TextOrigin[], to: string, bytes: Buffer, given: string): void {
    const hidden = origins.find(({ at }) => this.decide(at).contents !== "full");
    if (hidden === undefined) return;
    const made = this.#seen({ at: to, bytes });
    if (made.as === "none") return;
    const texts = origins.map(origin => this.#seen(origin));
    if (revealsMore(made, texts)) throw refusal("mask", this.decide(hidden.at), given);
  }

  #seen({ at, bytes }: TextOrigin): SeenText {
    const { contents } = this.decide(at);
    if (contents !== "masked") return { text: textOf(bytes), as: contents };
    return { text: textOf(bytes), as: isMaskable(bytes) ? maskFormat(at) : "none" };
  }

  /** The bytes to write after a caller edited the text that `shown` returned. */
  restored(at: string, original: Buffer | undefined, edited: Uint8Array, given = at): Buffer {
    const bytes = Buffer.from(edited.buffer, edited.byteOffset, edited.byteLength);
    const decision = this.admitChange(at, given);
    if (decision.contents !== "masked") return bytes;
    const isLegacy = original !== undefined && !isUtf8(original);
    if (!isLegacy && !bytes.includes(mark)) return bytes;
    const text = original && unmask(textOf(original), bytes.toString("utf8"), maskFormat(at));
    if (text === undefined || (isLegacy && /[^\0-\xff]/.test(text))) throw refusal("mask", decision, given);
    return Buffer.from(text, isLegacy ? "latin1" : "utf8");
  }
}

function refusal(to: "open" | "change" | "mask", { rule = "" }: Decision, path: string): Fault {
  return new Fault("forbidden", { path, rule, to });
}

const rank = { none: 0, masked: 1, full: 2 } as const;

/** Of the control characters, text has blanks, line ends, backspaces and escapes. */
const noText = /[\0-\x07\x0e-\x1a\x1c-\x1f]/;

/**
 * Whether a masked file is shown at all, under any name. Masks look for ASCII letters, byte by byte: in UTF-16 and
 * UTF-32, each of which puts zeros between them, and in what is compressed, they would find nothing.
 */
function isMaskable(bytes: Buffer): boolean {
  return bytes.length <= maxMaskedBytes && !isPdf(bytes) && !noText.test(bytes.toString("latin1"));
}

function maskedBytes(at: string, bytes: Buffer, decision: Decision, given: string): Buffer {
  const masked = isMaskable(bytes) ? mask(textOf(bytes), maskFormat(at)) : undefined;
  if (masked === undefined) throw refusal("open", decision, given);
  return Buffer.from(masked);
}

/** A masked file is shown as UTF-8; one in a legacy encoding byte by byte, and written back in the same way. */
function textOf(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
}

/** A directory without the slash that the top of a file system ends with. */
function bare(directory: string): string {
  return directory.endsWith("/") ? directory.slice(0, -1) : directory;
}
