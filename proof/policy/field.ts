// A tree under rules, with a secret that no answer may depend on. Two fields differ in nothing but their secrets, which
// also have different lengths: whatever a server says about one, it must say about the other.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { AccessLevel, PolicyRule } from "../../src/engine/policy/rule.ts";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";

const rules: readonly PolicyRule[] = [
  { name: "locked", paths: ["locked/**"], access: "read" },
  { name: "masked", paths: [".env", ".ENV.*", "secrets.*"], access: "mask" },
  { name: "denied", paths: ["vault/**", "*.PEM", "caf\u00e9.txt"], access: "deny" },
];

/** What is there, by access. The secret is where the text has `@`. */
const files: readonly (readonly [name: string, access: AccessLevel, text: string])[] = [
  [".env", "mask", "# SECRET note\nSECRET_TOKEN=@\nPORT='@'\n"],
  ["config/secrets.json", "mask", '{\n  "SECRET": "@",\n  "list": ["@", true]\n}\n'],
  ["secrets.yaml", "mask", "SECRET: @\nnested:\n  - @\n"],
  ["config/secrets.toml", "mask", 'SECRET = "@"\n[part]\nother = "@"\n'],
  ["vault/key.txt", "deny", "SECRET @\n"],
  ["vault/deep/code.ts", "deny", "export function SECRET() { return '@'; }\n"],
  ["server.pem", "deny", "SECRET @\n"],
  ["cafe\u0301.txt", "deny", "SECRET @\n"],
  ["locked/001.sql", "read", "SECRET PUBLIC\n"],
  ["pub.txt", "write", "PUBLIC\n"],
  ["sub/inner.txt", "write", "PUBLIC SECRET\n"],
];

const links: readonly (readonly [name: string, target: string])[] = [
  ["link-env", ".env"],
  ["link-key", "vault/key.txt"],
  ["link-vault", "vault"],
  ["link-locked", "locked/001.sql"],
  ["sub/link-up", "../config"],
];

/** The names that rules concern, links to them included. */
export const ruled: readonly string[] = [
  ...files.filter(([, access]) => access !== "write").map(([name]) => name),
  ...links.map(([name]) => name),
  ...["vault", "vault/deep", "vault/new.txt", "locked", "locked/new.sql", "link-vault/key.txt"],
  ...["config", "sub/link-up/secrets.json", ".env.local", "new.pem"],
];

const then = new Date("2024-01-01T00:00:00Z");

export class Field implements Disposable {
  readonly base: string;
  readonly root: string;
  readonly secret: string;
  readonly #policy = new Policy(rules);
  #laid = "";

  constructor(length: number) {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-ruled-")));
    this.root = join(this.base, "root");
    this.secret = `CANARY${randomBytes(length).toString("hex")}`;
    writeFileSync(join(this.base, "policy.json"), JSON.stringify({ rules }));
    mkdirSync(this.root);
    this.renew();
  }

  get options(): string[] {
    const at = (name: string) => join(this.base, name);
    return ["--policy", at("policy.json"), "--state-dir", at("state"), "--audit", at("audit.log")];
  }

  get audit(): string {
    return readFileSync(join(this.base, "audit.log"), "utf8");
  }

  /** Puts everything back as it was at first, where it has changed. */
  renew(): void {
    if (this.#laid !== "" && this.#traces() === this.#laid) return;
    for (const name of readdirSync(this.root)) rmSync(join(this.root, name), { recursive: true });
    for (const [name, , text] of files) {
      mkdirSync(dirname(join(this.root, name)), { recursive: true });
      writeFileSync(join(this.root, name), text.replaceAll("@", this.secret));
      utimesSync(join(this.root, name), then, then);
    }
    for (const [name, target] of links) symlinkSync(target, join(this.root, name));
    this.#laid = this.#traces();
  }

  /**
   * What is wrong with the tree: something protected was changed, or a secret is where it can be read. What is below
   * `except` is swapped meanwhile, so a path there may lead elsewhere.
   */
  damage(except?: string): string | undefined {
    for (const [name, access, text] of files) {
      if (access !== "deny" && access !== "read") continue;
      if (readIfThere(join(this.root, name)) !== text.replaceAll("@", this.secret))
        return `${name} was changed`;
    }
    for (const name of below(this.root)) {
      if (except !== undefined && name.startsWith(except)) continue;
      const { contents } = this.#policy.decide(this.root, name);
      if (
        contents === "full" &&
        this.isIn(readIfThere(join(this.root, name)) ?? "") &&
        !vanishes(this.root, name)
      )
        return `the secret can be read in ${name}`;
    }
    return undefined;
  }

  /** Whether a text holds the secret, plain or encoded. */
  isIn(text: string): boolean {
    const bytes = Buffer.from(this.secret);
    // Base64 of a text depends on where it begins, so the middle of each of the three forms is looked for.
    const encoded = [0, 1, 2].map(skip => bytes.subarray(skip, skip + 12).toString("base64"));
    return [this.secret, bytes.toString("hex").slice(0, 24), ...encoded].some(form => text.includes(form));
  }

  #traces(): string {
    return below(this.root)
      .map(name => {
        const stat = lstatSync(join(this.root, name));
        const content = stat.isFile()
          ? readFileSync(join(this.root, name), "latin1")
          : stat.isSymbolicLink()
            ? readlinkSync(join(this.root, name))
            : "";
        return `${name} ${stat.mode} ${content}`;
      })
      .join("\n");
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** Everything in a directory, by relative name; links are not followed, and what goes meanwhile is left out. */
function below(directory: string, prefix = ""): string[] {
  return entriesOf(directory).flatMap(entry => {
    const name = `${prefix}${entry.name}`;
    return entry.isDirectory() ? [name, ...below(join(directory, entry.name), `${name}/`)] : [name];
  });
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Also undefined for a link or a directory. */
function readIfThere(path: string): string | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return readFileSync(fd, "utf8");
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/**
 * Whether it is a temporary file of a commit in progress: another call may be writing through a link to a masked file.
 * No tool shows such files, and they must be gone within five seconds.
 */
function vanishes(root: string, name: string): boolean {
  if (!isTemporaryName(basename(name))) return false;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < 250; i++) {
    if (readIfThere(join(root, name)) === undefined) return true;
    Atomics.wait(pause, 0, 0, 20);
  }
  return false;
}
