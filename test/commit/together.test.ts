import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import type { Current } from "../../src/engine/workspace/commit/change.ts";
import { inSlices } from "../../src/engine/workspace/footprint/time-slice.ts";
import { Fixture, faultOf } from "./fixture.ts";

const line = (file: Current | undefined, text: string) =>
  Buffer.concat([file?.bytes ?? Buffer.alloc(0), Buffer.from(`${text}\n`)]);

describe("many edits at once in one process", () => {
  it("a hundred edits of one file are all applied, in the order in which they came", async () => {
    using fixture = new Fixture({ a: "" });
    const numbers = Array.from({ length: 100 }, (_, i) => String(i));
    await Promise.all(
      numbers.map(text =>
        fixture.workspace.edit(fixture.at("a"), bytes => Buffer.concat([bytes, Buffer.from(`${text}\n`)])),
      ),
    );
    expect(fixture.text("a").trim().split("\n")).toEqual(numbers);
  });

  it("a call that is held up before its first file keeps its place", async () => {
    /** Takes longer than a slice to give its first element, as when the machine stops the process there. */
    class HeldUp extends Array<number> {
      override *[Symbol.iterator](): ArrayIterator<number> {
        const until = performance.now() + 30;
        while (performance.now() < until);
        yield 1;
      }
    }
    const done: string[] = [];
    const first = inSlices(new HeldUp(), () => done.push("first"));
    const second = inSlices([2], () => done.push("second"));
    await Promise.all([first, second]);
    expect(done).toEqual(["first", "second"]);
  });

  it("edits of several files in opposite orders neither wait for each other forever nor lose anything", async () => {
    const names = ["a", "b", "c", "d"];
    using fixture = new Fixture(Object.fromEntries(names.map(name => [name, ""])));
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const some = names.filter((_, n) => (i + n) % 4 !== 0);
        const paths = (i % 2 === 0 ? some : some.reverse()).map(name => fixture.at(name));
        return fixture.workspace.editAll(paths, files =>
          files.map(file => ({ kind: "write", path: file.path, bytes: line(file, String(i)) })),
        );
      }),
    );
    for (const [n, name] of names.entries()) {
      const wanted = Array.from({ length: 60 }, (_, i) => i).filter(i => (i + n) % 4 !== 0);
      const found = fixture.text(name).trim().split("\n").map(Number);
      expect(found.sort((a, b) => a - b)).toEqual(wanted);
    }
  });

  it("writes into one new directory share it", async () => {
    using fixture = new Fixture();
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        fixture.commit([fixture.write(`new/deep/f${i}`, "x")], { parents: true }),
      ),
    );
    expect(Object.keys(fixture.tree()).length).toBe(42);
  });

  it("one of forty creations of the same file succeeds", async () => {
    using fixture = new Fixture();
    const tries = Array.from({ length: 40 }, (_, i) =>
      faultOf(fixture.commit([fixture.write("a", String(i), { expect: "absent" })])),
    );
    const told = await Promise.all(tries);
    expect(told.filter(code => code === "none").length).toBe(1);
    expect(new Set(told)).toEqual(new Set(["none", "exists"]));
  });

  it("a hundred megabytes without a pause go through, and the journals stay bounded", async () => {
    using fixture = new Fixture();
    const bytes = Buffer.alloc(1_000_000, "x");
    for (let i = 0; i < 100; i++) {
      await fixture.commit([{ kind: "write", path: fixture.at(`f${i % 3}`), bytes }]);
    }
    const processes = join(fixture.state, "processes");
    const own = join(processes, readdirSync(processes)[0] ?? "");
    const journals = readdirSync(own).filter(name => name.startsWith("journal"));
    const size = journals.reduce((sum, name) => sum + statSync(join(own, name)).size, 0);
    expect(journals.length).toBe(2);
    expect(size).toBeLessThan(80_000_000);
  });

  it("a reader always sees a complete version", async () => {
    using fixture = new Fixture({ a: "0 ".repeat(5000) });
    let writing = true;
    const writer = (async () => {
      for (let i = 1; i <= 150; i++) await fixture.commit([fixture.write("a", `${i} `.repeat(5000))]);
      writing = false;
    })();
    while (writing) {
      const text = readFileSync(join(fixture.inside, "a"), "utf8");
      const version = text.slice(0, text.indexOf(" "));
      expect(text === `${version} `.repeat(5000)).toBe(true);
      await new Promise(resolve => setImmediate(resolve));
    }
    await writer;
  });
});

describe("when a program that does not take our locks changes a file", () => {
  it("during an edit, the edit is computed again from the current content", async () => {
    using fixture = new Fixture({ a: "one\n" });
    let calls = 0;
    await fixture.workspace.edit(fixture.at("a"), bytes => {
      // The same size, and within the same tick of the clock: only the content shows it.
      if (calls++ === 0) writeFileSync(join(fixture.inside, "a"), "two\n");
      return Buffer.concat([bytes, Buffer.from("mine\n")]);
    });
    expect(calls).toBe(2);
    expect(fixture.text("a")).toBe("two\nmine\n");
  });

  it("again and again, the edit is refused and the program's bytes stay", async () => {
    using fixture = new Fixture({ a: "0" });
    let calls = 0;
    const edit = fixture.workspace.edit(fixture.at("a"), bytes => {
      writeFileSync(join(fixture.inside, "a"), String(++calls));
      return Buffer.concat([bytes, Buffer.from("mine")]);
    });
    expect(await faultOf(edit)).toBe("changed_meanwhile");
    expect(fixture.text("a")).toBe(String(calls));
  });

  it("a file that appears where an edit found none is not overwritten", async () => {
    using fixture = new Fixture();
    const seen: (string | undefined)[] = [];
    await fixture.workspace.editAll([fixture.at("a")], ([file]) => {
      seen.push(file?.bytes?.toString());
      if (seen.length === 1) fixture.put("a", "theirs\n");
      return [{ kind: "write", path: fixture.at("a"), bytes: line(file, "mine") }];
    });
    expect(seen).toEqual([undefined, "theirs\n"]);
    expect(fixture.text("a")).toBe("theirs\nmine\n");
  });
});

describe("an edit", () => {
  it("may change files that it did not name, under their locks", async () => {
    using fixture = new Fixture({ a: "a", b: "b" });
    await fixture.workspace.editAll([fixture.at("a")], () => [
      fixture.write("a", "A"),
      { kind: "move", from: fixture.at("b"), to: fixture.at("c") },
    ]);
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({ a: "A", c: "b" });
  });

  it("that changes nothing, or fails, leaves the file and lets the next one in", async () => {
    using fixture = new Fixture({ a: "a" });
    const nothing = await fixture.workspace.edit(fixture.at("a"), () => undefined);
    expect(nothing.files).toEqual([]);
    const failing = fixture.workspace.edit(fixture.at("a"), () => {
      throw new Fault("no_change", { path: "a", edit: 0 });
    });
    expect(await faultOf(failing)).toBe("no_change");
    expect(await faultOf(fixture.workspace.edit(fixture.at("none"), bytes => bytes))).toBe("not_found");
    await fixture.workspace.edit(fixture.at("a"), () => Buffer.from("b"));
    expect(fixture.text("a")).toBe("b");
  });

  it("that is cancelled while it waits gives up its place", async () => {
    using fixture = new Fixture({ a: "" });
    const stop = new AbortController();
    let release = () => {};
    const first = fixture.workspace.edit(fixture.at("a"), async () => {
      await new Promise<void>(resolve => {
        release = resolve;
      });
      return Buffer.from("first");
    });
    const second = fixture.workspace.edit(fixture.at("a"), () => Buffer.from("second"), {
      signal: stop.signal,
    });
    const third = fixture.workspace.edit(fixture.at("a"), bytes =>
      Buffer.concat([bytes, Buffer.from(" third")]),
    );
    setTimeout(() => stop.abort(), 20);
    await expect(second).rejects.toThrow();
    release();
    await Promise.all([first, third]);
    expect(fixture.text("a")).toBe("first third");
  });
});
