// Whether a snapshot still fits its base is asked at every fork: by a look that is divided among processes, and shared by
// callers that ask at the same time.
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { isChangedSince } from "../../src/engine/shell/changed-since.ts";
import { SharedRuns } from "../../src/engine/workspaces/shared-runs.ts";
import { Fixture, treeOf } from "./fixture.ts";

const odd = ["-delete", "a b", "ü", "(", "!", "line\nbreak", "it's $(touch x)"];
const changes: { readonly [what: string]: (at: string) => void } = {
  "a file written in place, with its old times": at => {
    writeFileSync(join(at, "file"), "other");
    utimesSync(join(at, "file"), 1, 1);
  },
  "a new file": at => writeFileSync(join(at, "new"), ""),
  "a file removed": at => rmSync(join(at, "file")),
  "a mode": at => chmodSync(join(at, "file"), 0o600),
  "a directory renamed": at => renameSync(join(at, "-delete"), join(at, "moved")),
};

it.runIf(process.platform === "linux").each(Object.entries(changes))(
  "a divided comparison finds %s at every depth",
  async (_, change) => {
    const top = mkdtempSync(join(tmpdir(), "polyfs-look-"));
    try {
      for (const below of ["", "/-delete", "/-delete/a b", "/-delete/a b/("]) {
        const tree = join(top, `tree${below.length}`);
        const lay = (at: string, depth: number) => {
          mkdirSync(at);
          writeFileSync(join(at, "file"), "bytes");
          symlinkSync("/", join(at, "link"));
          if (depth < 4) for (const name of depth < 2 ? odd : odd.slice(0, 4)) lay(join(at, name), depth + 2);
        };
        lay(tree, 0);
        for (const place of ["/-delete/a b", "/-delete/a b/("])
          mkdirSync(join(tree, place, "-delete"), { recursive: true });
        writeFileSync(join(tree, "/-delete/a b/(/file"), "bytes");
        await setTimeout(15); // the clock of the file system ticks this slowly
        const since = Date.now();
        await setTimeout(15);
        expect(await isChangedSince(tree, { since, isLarge: true })).toBe(false);
        change(`${tree}${below}`);
        expect(await isChangedSince(tree, { since, isLarge: true }), below).toBe(true);
      }
    } finally {
      rmSync(top, { recursive: true });
    }
  },
);

it("a run serves only callers that asked before it started", async () => {
  const runs = new SharedRuns<number>();
  let [count, state] = [0, 0];
  const look = async () => {
    const seen = state;
    count++;
    await setTimeout(5);
    return seen;
  };
  const first = runs.of("base", look);
  state = 1;
  const later = Array.from({ length: 50 }, () => runs.of("base", look));
  state = 2;
  expect(await first).toBe(0);
  expect(new Set(await Promise.all(later))).toEqual(new Set([2]));
  expect(count).toBe(2);
  state = 3;
  expect(await runs.of("base", look)).toBe(3);
});

it("forks that are requested at once all start with the base's content at that time", async () => {
  using fixture = new Fixture();
  const base = fixture.files("base", { "a.txt": "one\n" });
  await fixture.workspaces.adopt("main", base, "");
  const first = fixture.workspaces.fork("first", "main", "");
  fixture.files("base", { "a.txt": "two\n" });
  const others = Array.from({ length: 8 }, (_, i) => fixture.workspaces.fork(`fork-${i}`, "main", ""));
  for (const { root } of await Promise.all(others))
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("two\n");
  await first;
});

it.each(
  Object.entries({
    ...changes,
    "a file replaced by a directory": at => {
      rmSync(join(at, "file"));
      mkdirSync(join(at, "file"));
    },
    "a file written through a hard link": at => {
      linkSync(join(at, "file"), join(at, "link"));
      writeFileSync(join(at, "link"), "other");
    },
    nothing: () => {},
  } satisfies typeof changes),
)("a fork of a fork has what its base has, after %s", async (_, change) => {
  using fixture = new Fixture();
  const names = ["file", "-delete/file", "-delete/deep/file", "-delete/-delete/file"];
  const base = fixture.files("base", Object.fromEntries(names.map(name => [name, "bytes"])));
  await fixture.workspaces.adopt("main", base, "");
  const middle = await fixture.workspaces.fork("middle", "main", "");
  await fixture.workspaces.fork("before", "middle", "");
  for (const below of ["", "-delete"]) {
    await setTimeout(150); // longer ago than the clock of the file system is trusted
    change(join(middle.root, below));
    const { root } = await fixture.workspaces.fork(`after${below}`, "middle", "");
    expect(treeOf(root)).toEqual(treeOf(middle.root));
    expect(statSync(root).mode).toBe(statSync(middle.root).mode);
    if (existsSync(join(root, below, "file")))
      expect(statSync(join(root, below, "file")).mode).toBe(statSync(join(middle.root, below, "file")).mode);
    if (!existsSync(join(middle.root, "-delete"))) return;
  }
});

it("a cancelled fork does not cancel others that wait for the same snapshot", async () => {
  using fixture = new Fixture();
  const base = fixture.files("base", { "a.txt": "one\n" });
  const main = await fixture.workspaces.adopt("main", base, "");
  fixture.files("base", { "a.txt": "two\n" });
  const cancelling = new AbortController();
  const all = [cancelling.signal, cancelling.signal, undefined].map(signal =>
    fixture.workspaces.snapshots.of(main, signal),
  );
  cancelling.abort();
  const [first, second, third] = await Promise.allSettled(all);
  expect([first?.status, second?.status]).toEqual(["rejected", "rejected"]);
  if (third?.status !== "fulfilled") throw new Error("the third was cancelled, too");
  using held = third.value;
  expect(readFileSync(join(held.tree, "a.txt"), "utf8")).toBe("two\n");
});
