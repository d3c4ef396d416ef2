import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import type { Current } from "../../src/engine/workspace/commit/commit.ts";
import { faultOf, Ground } from "./ground.ts";

const line = (file: Current | undefined, text: string) =>
  Buffer.concat([file?.bytes ?? Buffer.alloc(0), Buffer.from(`${text}\n`)]);

describe("many at once in one process", () => {
  it("a hundred edits of one file are all applied, in the order in which they came", async () => {
    using ground = new Ground({ a: "" });
    const numbers = Array.from({ length: 100 }, (_, i) => String(i));
    await Promise.all(
      numbers.map(text =>
        ground.workspace.edit(ground.at("a"), bytes => Buffer.concat([bytes, Buffer.from(`${text}\n`)])),
      ),
    );
    expect(ground.text("a").trim().split("\n")).toEqual(numbers);
  });

  it("edits of several files in opposite orders neither wait for each other forever nor lose anything", async () => {
    const names = ["a", "b", "c", "d"];
    using ground = new Ground(Object.fromEntries(names.map(name => [name, ""])));
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const some = names.filter((_, n) => (i + n) % 4 !== 0);
        const paths = (i % 2 === 0 ? some : some.reverse()).map(name => ground.at(name));
        return ground.workspace.editAll(paths, files =>
          files.map(file => ({ kind: "write", path: file.path, bytes: line(file, String(i)) })),
        );
      }),
    );
    for (const [n, name] of names.entries()) {
      const wanted = Array.from({ length: 60 }, (_, i) => i).filter(i => (i + n) % 4 !== 0);
      const found = ground.text(name).trim().split("\n").map(Number);
      expect(found.sort((a, b) => a - b)).toEqual(wanted);
    }
  });

  it("writes into one new directory share it", async () => {
    using ground = new Ground();
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        ground.commit([ground.write(`new/deep/f${i}`, "x")], { parents: true }),
      ),
    );
    expect(Object.keys(ground.tree()).length).toBe(42);
  });

  it("of forty that want to create the same file, one does", async () => {
    using ground = new Ground();
    const tries = Array.from({ length: 40 }, (_, i) =>
      faultOf(ground.commit([ground.write("a", String(i), { expect: "absent" })])),
    );
    const told = await Promise.all(tries);
    expect(told.filter(code => code === "none").length).toBe(1);
    expect(new Set(told)).toEqual(new Set(["none", "exists"]));
  });

  it("a hundred megabytes without a pause go through, and the journals stay bounded", async () => {
    using ground = new Ground();
    const bytes = Buffer.alloc(1_000_000, "x");
    for (let i = 0; i < 100; i++) {
      await ground.commit([{ kind: "write", path: ground.at(`f${i % 3}`), bytes }]);
    }
    const processes = join(ground.state, "processes");
    const own = join(processes, readdirSync(processes)[0] ?? "");
    const journals = readdirSync(own).filter(name => name.startsWith("journal"));
    const size = journals.reduce((sum, name) => sum + statSync(join(own, name)).size, 0);
    expect(journals.length).toBe(2);
    expect(size).toBeLessThan(80_000_000);
  });

  it("a reader sees whole versions only, and never none", async () => {
    using ground = new Ground({ a: "0 ".repeat(5000) });
    let writing = true;
    const writer = (async () => {
      for (let i = 1; i <= 150; i++) await ground.commit([ground.write("a", `${i} `.repeat(5000))]);
      writing = false;
    })();
    while (writing) {
      const text = readFileSync(join(ground.inside, "a"), "utf8");
      const version = text.slice(0, text.indexOf(" "));
      expect(text === `${version} `.repeat(5000)).toBe(true);
      await new Promise(resolve => setImmediate(resolve));
    }
    await writer;
  });
});

describe("when somebody without our locks changes a file", () => {
  it("during an edit, the edit is made anew from what is there now", async () => {
    using ground = new Ground({ a: "one\n" });
    let calls = 0;
    await ground.workspace.edit(ground.at("a"), bytes => {
      // The same size, and within the same tick of the clock: only the content tells.
      if (calls++ === 0) writeFileSync(join(ground.inside, "a"), "two\n");
      return Buffer.concat([bytes, Buffer.from("mine\n")]);
    });
    expect(calls).toBe(2);
    expect(ground.text("a")).toBe("two\nmine\n");
  });

  it("again and again, the edit is refused and their bytes stay", async () => {
    using ground = new Ground({ a: "0" });
    let calls = 0;
    const edit = ground.workspace.edit(ground.at("a"), bytes => {
      writeFileSync(join(ground.inside, "a"), String(++calls));
      return Buffer.concat([bytes, Buffer.from("mine")]);
    });
    expect(await faultOf(edit)).toBe("changed_meanwhile");
    expect(ground.text("a")).toBe(String(calls));
  });

  it("a file that appears where an edit found none is not overwritten", async () => {
    using ground = new Ground();
    const seen: (string | undefined)[] = [];
    await ground.workspace.editAll([ground.at("a")], ([file]) => {
      seen.push(file?.bytes?.toString());
      if (seen.length === 1) ground.put("a", "theirs\n");
      return [{ kind: "write", path: ground.at("a"), bytes: line(file, "mine") }];
    });
    expect(seen).toEqual([undefined, "theirs\n"]);
    expect(ground.text("a")).toBe("theirs\nmine\n");
  });
});

describe("an edit", () => {
  it("may change files that it did not name, under their locks", async () => {
    using ground = new Ground({ a: "a", b: "b" });
    await ground.workspace.editAll([ground.at("a")], () => [
      ground.write("a", "A"),
      { kind: "move", from: ground.at("b"), to: ground.at("c") },
    ]);
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({ a: "A", c: "b" });
  });

  it("that changes nothing, or fails, leaves the file and lets the next one in", async () => {
    using ground = new Ground({ a: "a" });
    const nothing = await ground.workspace.edit(ground.at("a"), () => undefined);
    expect(nothing.files).toEqual([]);
    const failing = ground.workspace.edit(ground.at("a"), () => {
      throw new Fault("no_change", { path: "a", edit: 0 });
    });
    expect(await faultOf(failing)).toBe("no_change");
    expect(await faultOf(ground.workspace.edit(ground.at("none"), bytes => bytes))).toBe("not_found");
    await ground.workspace.edit(ground.at("a"), () => Buffer.from("b"));
    expect(ground.text("a")).toBe("b");
  });

  it("that is cancelled while it waits gives up its place", async () => {
    using ground = new Ground({ a: "" });
    const stop = new AbortController();
    let release = () => {};
    const first = ground.workspace.edit(ground.at("a"), async () => {
      await new Promise<void>(resolve => {
        release = resolve;
      });
      return Buffer.from("first");
    });
    const second = ground.workspace.edit(ground.at("a"), () => Buffer.from("second"), {
      signal: stop.signal,
    });
    const third = ground.workspace.edit(ground.at("a"), bytes =>
      Buffer.concat([bytes, Buffer.from(" third")]),
    );
    setTimeout(() => stop.abort(), 20);
    await expect(second).rejects.toThrow();
    release();
    await Promise.all([first, third]);
    expect(ground.text("a")).toBe("first third");
  });
});
