// The tree that the self-test works on: a root to serve, a place outside with a secret, and a home and state of its own,
// so that neither the user's settings nor the user's history are touched. All of it is temporary.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

export const secret = "SECRET-OUTSIDE-OF-THE-ROOT";

export class Fixture implements Disposable {
  readonly base: string;
  readonly root: string;
  readonly outside: string;

  /** In a new directory in `within`. */
  constructor(within: string) {
    this.base = realpathSync.native(mkdtempSync(join(within, "polyfs-selftest-")));
    this.root = join(this.base, "root");
    this.outside = join(this.base, "outside");
    for (const path of [this.root, this.outside, join(this.base, "home")]) mkdirSync(path);
    writeFileSync(join(this.outside, "secret.txt"), `${secret}\n`);
  }

  get environment(): Record<string, string> {
    const home = join(this.base, "home");
    const own = { HOME: home, USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home, XDG_CONFIG_HOME: home };
    return { ...own, POLYFS_STATE_DIR: join(this.base, "state"), POLYFS_CODE_CACHE: "off" };
  }

  write(name: string, text: string | Buffer): void {
    const path = join(this.root, name);
    makeDirectories(dirname(path));
    writeFileSync(path, text);
  }

  text(name: string): string {
    return readFileSync(join(this.root, name), "utf8");
  }

  has(name: string): boolean {
    return existsSync(join(this.root, name));
  }

  /** A link in the root that leads outside; false if links cannot be made. */
  link(name: string, target: string): boolean {
    try {
      const isDirectory = lstatSync(target).isDirectory();
      // Windows asks for no privilege where a directory is joined.
      symlinkSync(target, join(this.root, name), isDirectory ? "junction" : "file");
      return lstatSync(join(this.root, name)).isSymbolicLink();
    } catch {
      return false;
    }
  }

  /** Everything in a directory, by name: contents of files, and where links lead is not followed. */
  tree(directory = this.root, prefix = ""): Record<string, string> {
    const found: Record<string, string> = {};
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) Object.assign(found, this.tree(path, `${prefix}${entry.name}/`));
      else found[prefix + entry.name] = entry.isFile() ? readFileSync(path, "latin1") : "(link)";
    }
    return found;
  }

  [Symbol.dispose](): void {
    remove(this.base);
  }
}

function makeDirectories(path: string): void {
  if (existsSync(path)) return;
  makeDirectories(dirname(path));
  mkdirSync(path);
}

/** Removes a tree; links are removed, not followed. */
function remove(path: string): void {
  try {
    if (lstatSync(path).isDirectory()) {
      for (const name of readdirSync(path)) remove(join(path, name));
      rmdirSync(path);
    } else unlinkSync(path);
  } catch {
    // A server that was killed may still have it open, on Windows.
  }
}
