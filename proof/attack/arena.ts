// The fixture on which confinement is attacked: a root with something public, places outside with a secret, and every
// kind of link between them. The root can be reset without becoming another directory.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** The size of a file outside in every notation, which a reply must not reveal. */
const outsideSize = 777_777;

export class Arena implements Disposable {
  readonly base: string;
  root: string;
  readonly outside: string;
  /** Its name begins with the root's. */
  readonly sibling: string;
  /** The server's home directory. */
  readonly home: string;
  readonly state: string;
  readonly secret = `SECRET-${randomBytes(9).toString("hex")}`;
  /** The name of a file that no caller inside can know. */
  readonly hidden = `hidden-${randomBytes(9).toString("hex")}`;
  /** The directories that the server is started with. */
  serves: readonly string[];
  #laid: string;
  /** Other places that must not change, and what to remove at the end. */
  #around: readonly string[] = [];
  #furniture: Disposable | undefined;

  constructor() {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-arena-")));
    const at = (name: string) => join(this.base, name);
    [this.root, this.outside, this.sibling] = [at("root"), at("outside"), at("root-evil")];
    [this.home, this.state] = [at("home"), at("state")];
    const { outside, secret } = this;
    for (const place of [this.root, outside, this.sibling, this.home, join(outside, "sub")]) mkdirSync(place);
    for (const place of [outside, this.sibling, join(outside, "sub")])
      writeFileSync(join(place, "secret.txt"), `${secret}\n`);
    writeFileSync(join(outside, this.hidden), secret);
    writeFileSync(join(this.home, ".bashrc"), secret);
    writeFileSync(join(outside, "linked.txt"), "HARDLINKED\n");
    writeFileSync(join(outside, "sized.bin"), "");
    truncateSync(join(outside, "sized.bin"), outsideSize);
    this.#lay();
    this.#laid = this.#traces();
    this.serves = [this.root];
  }

  /** From now on the root is another directory, which is emptied. `around` must not change. */
  moveTo(root: string, serves: readonly string[], around: readonly string[], furniture: Disposable): this {
    [this.root, this.serves, this.#around, this.#furniture] = [root, serves, around, furniture];
    this.#empty();
    this.#lay();
    this.#laid = this.#traces();
    return this;
  }

  /** Resets the root if it has changed; returns whether it had. */
  renew(): boolean {
    if (this.#traces() === this.#laid) return false;
    this.#empty();
    this.#lay();
    return true;
  }

  #empty(): void {
    for (const name of readdirSync(this.root, { encoding: "buffer" }))
      rmSync(Buffer.concat([Buffer.from(`${this.root}/`), name]), { recursive: true, force: true });
  }

  /** Everything outside of the root: names, kinds, modes, times of the last change, bytes. */
  fingerprint(): string {
    return [this.outside, this.sibling, this.home, ...this.#around].map(place => print(place)).join("\n");
  }

  /** What a reply reveals that it must not; undefined if it is harmless. */
  leak(reply: string): string | undefined {
    const encoded = Buffer.from(this.secret).toString("base64").slice(0, 20);
    if (reply.includes(this.secret) || reply.includes(encoded)) return "the secret is out";
    if (reply.includes(this.hidden)) return "the reply reveals a name from outside";
    if (/777[,.]?777|759\.\d/.test(reply)) return "the reply reveals the size of a file outside";
    return undefined;
  }

  #lay(): void {
    const { root, outside } = this;
    const link = (target: string, name: string) => symlinkSync(target, join(root, name));
    mkdirSync(join(root, "sub"));
    mkdirSync(join(root, "tree"));
    writeFileSync(join(root, "pub.txt"), "PUBLIC\n");
    writeFileSync(join(root, "other.txt"), "KEEP\n");
    writeFileSync(join(root, "sub/inner.txt"), "PUBLIC\n");
    // A program that writes a file outside when it is started, and a configuration that would start it.
    writeFileSync(join(root, "run.sh"), `#!/bin/sh\ntouch ${outside}/STARTED\ncat "$1"\n`, { mode: 0o755 });
    writeFileSync(join(root, ".ripgreprc"), `--pre=${root}/run.sh\n`);
    link("pub.txt", "inner-link");
    link(join(outside, "secret.txt"), "file-link");
    link(outside, "directory-link");
    link(relative(root, outside), "relative-link");
    link(join(outside, "sub"), "deep-link");
    link("directory-link", "chained-link");
    link(join(outside, "created.txt"), "dangling-link");
    link(join(outside, "sized.bin"), "sized-link");
    link("loop-b", "loop-a");
    link("loop-a", "loop-b");
    link(root, "self-link");
    link("/", "slash-link");
    link("/dev/zero", "zero-link");
    link("/proc/self/environ", "environ-link");
    link("/proc/self/fd/0", "stdin-link");
    link(outside, "tree/d");
    link(join(outside, "secret.txt"), "tree/l");
    // A fork by a mount is on a file system of its own.
    if (statSync(root).dev === statSync(outside).dev)
      linkSync(join(outside, "linked.txt"), join(root, "hard-link"));
    else writeFileSync(join(root, "hard-link"), "HARDLINKED\n");
    execFileSync("mkfifo", [join(root, "fifo")]);
  }

  /** The name of everything in the root. Links are not followed: one of them leads everywhere. */
  names(): string[] {
    return [...below(this.root)].map(([name]) => name);
  }

  /** Enough of the root to see that something was done to it. */
  #traces(): string {
    const seen = [...below(this.root)].map(([, path, stat]) => {
      const bytes = stat.isFile() ? readFileSync(path, "latin1") : "";
      return `${path} ${stat.mode} ${bytes}${stat.isSymbolicLink() ? readlinkSync(path) : ""}`;
    });
    return seen.join("\n");
  }

  [Symbol.dispose](): void {
    this.#furniture?.[Symbol.dispose]();
    rmSync(this.base, { recursive: true, force: true });
  }
}

function* below(directory: string): Generator<[name: string, path: string, stat: Stats]> {
  for (const name of readdirSync(directory).sort()) {
    const path = join(directory, name);
    const stat = lstatSync(path);
    yield [name, path, stat];
    if (stat.isDirectory()) yield* below(path);
  }
}

/** The link count and change time of a file with names on both sides depend on the name inside. */
function print(path: string): string {
  const stat = lstatSync(path);
  const line = `${path} ${stat.mode} ${stat.mtimeMs} ${stat.size}`;
  if (stat.isDirectory()) {
    const names = readdirSync(path).sort();
    return [line, ...names.map(name => print(join(path, name)))].join("\n");
  }
  if (stat.isSymbolicLink()) return `${line} ${readlinkSync(path)}`;
  return stat.size < 4096 ? `${line} ${readFileSync(path, "latin1")}` : line;
}
