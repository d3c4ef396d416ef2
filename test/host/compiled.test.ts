// Scripts run from their compiled form: that it is used at all, and that nothing wrong with it is ever more than a
// slower start.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type CompiledScript, runCompiled } from "../../src/host/compiled.ts";

const posix = process.platform !== "win32";

function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-compiled-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const script = join(root, "script.cjs");
  const directory = join(root, "home", "cache");
  mkdirSync(join(root, "home"));
  writeFileSync(script, "(function answer() { return [1, 2, 3].map(x => x + 1).join(); })");
  const run = (use = "one", fill = true) => runCompiled(script, { directory, use, fill });
  const forms = () => readdirSync(directory).map(name => join(directory, name));
  return { root, script, directory, run, forms };
}

/** Calls the function that the script is. */
function answerOf({ value }: CompiledScript): unknown {
  return typeof value === "function" ? value() : undefined;
}

/** A place with one form in it, and the form. */
async function filled() {
  const at = place();
  const first = at.run();
  expect(answerOf(first)).toBe("2,3,4");
  await first.keep?.();
  const [form = ""] = at.forms();
  expect(at.forms()).toEqual([form]);
  return { ...at, form };
}

it("the second start uses what the first one cached, for the user alone", async () => {
  const { run, form, directory } = await filled();
  const second = run();
  expect(second.times).toBe(1);
  expect(answerOf(second)).toBe("2,3,4");
  if (posix) expect([form, directory].map(path => lstatSync(path).mode & 0o777)).toEqual([0o600, 0o700]);
});

it("the code is cached again with what has run since, and the cache counts how often", async () => {
  const { run, script, forms } = await filled();
  writeFileSync(
    script,
    "(function answer(deep) { return deep ? (() => [4].map(x => x * 2).join())() : 'flat'; })",
  );
  const first = run("three");
  await first.keep?.();
  const size = () => Math.max(...forms().map(form => lstatSync(form).size));
  const sizeOnce = size();
  const young = run("three");
  expect(young.times).toBe(1);
  expect(typeof young.value === "function" && young.value(true)).toBe("8");
  await young.keep?.();
  expect(size()).toBeGreaterThan(sizeOnce); // the function that ran is in it now
  const ripe = run("three");
  expect(ripe.times).toBe(2);
  expect(typeof ripe.value === "function" && ripe.value(true)).toBe("8");
});

it("the code is not cached again if nothing more has run", async () => {
  const { run, form } = await filled();
  const before = lstatSync(form, { bigint: true }).mtimeNs;
  const second = run();
  expect(answerOf(second)).toBe("2,3,4");
  await second.keep?.();
  await second.keep?.();
  expect(lstatSync(form, { bigint: true }).mtimeNs).toBe(before);
  expect(run().times).toBe(1);
});

it("nothing is cached unless it is asked for", async () => {
  const { run, script, root } = place();
  expect(run("one", false).keep).toBeUndefined();
  const plain = runCompiled(script, undefined);
  expect([answerOf(plain), plain.keep]).toEqual(["2,3,4", undefined]);
  expect(readdirSync(join(root, "home"))).toEqual([]);
});

it("another source of the same length is compiled again, and so is another use", async () => {
  const { run, script, forms } = await filled();
  expect(run("two").times).toBe(0);
  writeFileSync(script, readFileSync(script, "utf8").replace("x + 1", "x + 2"));
  const changed = run();
  expect(answerOf(changed)).toBe("3,4,5");
  await changed.keep?.();
  expect(forms()).toHaveLength(2);
});

it("a damaged cache is never run, wherever the damage is, and is replaced", async () => {
  const { run, form } = await filled();
  const good = readFileSync(form);
  const damaged: Buffer[] = [
    Buffer.alloc(0),
    good.subarray(0, 10),
    good.subarray(0, -1),
    Buffer.alloc(good.length),
  ];
  for (let at = 0; at < good.length; at += 7) {
    const bytes = Buffer.from(good);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    damaged.push(bytes);
  }
  for (const bytes of damaged) {
    writeFileSync(form, bytes);
    const again = run();
    expect(again.times).toBe(0);
    expect(answerOf(again)).toBe("2,3,4");
  }
  await run().keep?.();
  expect(run().times).toBe(1);
});

it.runIf(posix)("a cache that others could have written is ignored", async () => {
  const { run, form, directory } = await filled();
  chmodSync(form, 0o620);
  expect(run().times).toBe(0);
  chmodSync(form, 0o600);
  chmodSync(directory, 0o777);
  const open = run();
  expect(open.times).toBe(0);
  const before = lstatSync(form).ino;
  await open.keep?.();
  expect(lstatSync(form).ino).toBe(before);
});

it.runIf(posix)("links are not followed, neither to read nor to write", async () => {
  const { root, run, form, directory, forms } = await filled();
  const elsewhere = join(root, "elsewhere");
  writeFileSync(elsewhere, readFileSync(form), { mode: 0o600 });
  rmSync(form);
  symlinkSync(elsewhere, form);
  const linked = run();
  expect(linked.times).toBe(0);
  await linked.keep?.();
  expect(lstatSync(form).isFile()).toBe(true);

  rmSync(directory, { recursive: true });
  mkdirSync(join(root, "theirs"));
  symlinkSync(join(root, "theirs"), directory);
  await run().keep?.();
  expect(forms()).toEqual([]);
});

it("where nothing can be cached, nothing fails", async () => {
  const { root, run } = place();
  rmSync(join(root, "home"), { recursive: true });
  writeFileSync(join(root, "home"), "a file in the way");
  const only = run();
  await only.keep?.();
  expect(answerOf(only)).toBe("2,3,4");
  expect(readFileSync(join(root, "home"), "utf8")).toBe("a file in the way");
});

it("caches of removed programs are deleted in the end, and other files stay", async () => {
  const { directory, run, forms } = await filled();
  writeFileSync(join(directory, "notes.txt"), "mine");
  for (let i = 0; i < 40; i++) {
    const old = join(directory, `${i}.code`);
    writeFileSync(old, "");
    utimesSync(old, i, i);
  }
  await run("two").keep?.();
  expect(forms()).toHaveLength(25);
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("mine");
  expect([run("one").times, run("two").times]).toEqual([1, 1]);
});
