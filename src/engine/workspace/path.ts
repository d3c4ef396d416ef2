// Paths as capabilities. A WorkspacePath is a granted root and a path below it; only a Workspace creates one, so a
// raw string cannot be opened, and does not compile where one is needed. It says nothing about the disk: that is
// checked, race-free, when it is opened (resolve.ts).
import { isAbsolute, join, normalize, resolve } from "node:path";
import { Fault } from "../fault.ts";
import { bytesOf, display, Handle } from "./handle.ts";
import { bytesWritten, isEscaped, readName } from "./name.ts";
import { type Root, rootHolding, rootNamed, under } from "./root.ts";
import { isReservedOnWindows, isUnc, onWindows, ownForm, windowsPathOfUri } from "./windows-path.ts";

const maxNameBytes = 255;

const mint = Symbol("only a Workspace mints paths");

/** A path inside a workspace. `workspace.at()` makes it; nothing else can be opened. */
export class WorkspacePath {
  readonly #root: Root;
  /** The names from the root down, as they are written (name.ts); none for the root itself. */
  readonly segments: readonly string[];
  /** The path as the caller wrote it, for answers about it. */
  readonly given: string;
  /** Whether it means these names and no others. Otherwise an existing name in another Unicode form may be meant. */
  readonly exact: boolean;
  /** Whether it leads through no link. */
  readonly direct: boolean;

  /** @internal */
  constructor(
    key: typeof mint,
    root: Root,
    segments: readonly string[],
    given: string,
    { exact = false, direct = false }: Pick<PathForms, "exact" | "direct"> = {},
  ) {
    if (key !== mint) throw new TypeError("A WorkspacePath comes from a Workspace");
    this.#root = root;
    this.segments = segments;
    this.given = given;
    this.exact = exact;
    this.direct = direct;
  }

  get root(): Root {
    return this.#root;
  }

  get name(): string {
    return this.segments.at(-1) ?? "";
  }

  get isRoot(): boolean {
    return this.segments.length === 0;
  }

  /** Relative to the root, with `/`; "" for the root itself. */
  get relative(): string {
    return this.segments.join("/");
  }

  /** Absolute, in the root's canonical spelling. Links below the root are not resolved. */
  get absolute(): string {
    return this.isRoot ? this.#root.path : under(this.#root.path, this.relative);
  }

  get parent(): WorkspacePath {
    return this.upTo(-1);
  }

  /** The path of its first names, as many as `slice` takes. @internal */
  upTo(names: number): WorkspacePath {
    return new WorkspacePath(mint, this.#root, this.segments.slice(0, names), this.given, this);
  }

  /** A path below this one. The relative path comes from a walk: plain names, no `..`. */
  below(relative: string, given = `${this.given}/${relative}`): WorkspacePath {
    const names = relative.split("/").filter(name => name !== "" && name !== ".");
    if (names.includes("..")) throw new Fault("outside_roots", { path: given });
    return new WorkspacePath(mint, this.#root, [...this.segments, ...names], given, this);
  }
}

/** How a caller may write paths. By default: absolute, or relative to the first root. */
export interface PathForms {
  /** What relative paths are relative to; the first root where left out. */
  readonly base?: string;
  /** The directory that `~` stands for; without it `~` is an ordinary name. */
  readonly home?: string;
  /** Whether `file://` URIs are paths. */
  readonly uris?: boolean;
  /** Whether the path means exactly these names, whatever their Unicode form: it comes from the server. */
  readonly exact?: boolean;
  /** Whether it leads through no link, nor to one. Where there is one, the path is refused (`is_a_link`). */
  readonly direct?: boolean;
}

/** Turns a caller's string into a path below one of the roots, or refuses it. Opens nothing for reading. */
export function parsePath(roots: readonly Root[], given: string, forms: PathForms = {}): WorkspacePath {
  const written = spelled(given, forms);
  const first = roots[0];
  const base = forms.base ?? first?.path;
  if (base === undefined) throw new Fault("outside_roots", { path: given });
  const absolute = absoluteOf(written, base);
  // Even a lookup on a network share would identify the user to that machine.
  const named = rootNamed(roots, absolute) ?? (isUnc(absolute) ? undefined : rootReached(roots, absolute));
  if (named === undefined) throw new Fault("outside_roots", { path: given });
  const names = named.rest.split("/").filter(name => name !== "");
  const segments = isEscaped(named.rest) ? names.map(readName) : names;
  for (const name of segments) {
    if (name.length * 3 > maxNameBytes && bytesWritten(name).length > maxNameBytes)
      throw new Fault("invalid_path", { path: given, reason: "too_long" });
  }
  return new WorkspacePath(mint, named.root, segments, given, forms);
}

function spelled(given: string, forms: PathForms): string {
  const refuse = (reason: "empty" | "nul" | "not_unicode" | "reserved" | "too_long"): never => {
    throw new Fault("invalid_path", { path: given.slice(0, 1000), reason });
  };
  if (given === "") refuse("empty");
  if (given.includes("\0")) refuse("nul");
  if (!given.isWellFormed()) refuse("not_unicode");
  if (given.length > 65_536) refuse("too_long");
  let written = given;
  if (written[4] === ":" && /^file:\/\//i.test(written)) {
    // An invalid path is not treated as a name: a caller does not mean a directory called `file:`.
    written = (forms.uris ? fromUri(written) : undefined) ?? refuse("reserved");
  }
  if (forms.home !== undefined && (written === "~" || written.startsWith("~/"))) {
    written = join(forms.home, written.slice(1));
  }
  const reserved = onWindows
    ? isReservedOnWindows(written)
    : written[1] === ":" && /^[A-Za-z]:\\/.test(written);
  if (reserved) refuse("reserved");
  return written;
}

function fromUri(uri: string): string | undefined {
  try {
    const url = new URL(uri);
    if (!onWindows && url.host !== "" && url.host !== "localhost") return undefined;
    const path = decodeURIComponent(url.pathname);
    if (path.includes("\0")) return undefined;
    return onWindows ? windowsPathOfUri(url.host, path) : path;
  } catch {
    return undefined;
  }
}

/** A root that an absolute path reaches through links or other names outside the roots (`/tmp` for `/private/tmp`). */
function rootReached(roots: readonly Root[], absolute: string): { root: Root; rest: string } | undefined {
  const rest: string[] = [];
  for (let path = absolute; ; ) {
    try {
      using handle = Handle.open(isEscaped(path) ? bytesWritten(path) : path);
      const whereabouts = handle.whereabouts();
      const root = rootHolding(roots, whereabouts);
      if (root === undefined) return undefined;
      const inside = display(whereabouts.slice(bytesOf(root.path).length));
      return { root, rest: [inside, ...rest].join("/") };
    } catch {
      const parent = ownForm(resolve(path, ".."));
      if (parent === path || rest.length > 64) return undefined;
      rest.unshift(path.slice(parent.length).replace(/^\//, ""));
      path = parent;
    }
  }
}

/** `\dir` on Windows has no drive: it is on that of `base`. */
function absoluteOf(written: string, base: string): string {
  if (onWindows) return ownForm(resolve(base, ownForm(written)));
  return isAbsolute(written) ? withoutTrailingSlash(normalize(written)) : resolve(base, written);
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
