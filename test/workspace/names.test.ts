// Names are bytes: whatever a file is called, its written name leads back to it, and undo restores exactly it.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { byteName } from "../../proof/model/byte-names.ts";
import { printable } from "../../src/contract/wording.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { bytesWritten, readName, written } from "../../src/engine/workspace/name.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe("a written name", () => {
  it("corresponds to the bytes one to one, as it is and as it is printed", () => {
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(seeds, seed => {
        const bytes = byteName(new Chance(seed), new Map());
        const name = written(bytes);
        expect(name.isWellFormed()).toBe(true);
        expect(bytesWritten(name)).toEqual(bytes);
        expect(readName(name)).toBe(name);
        expect(readName(printable(name))).toBe(name);
        const key = bytes.toString("latin1");
        expect(seen.get(printable(name)) ?? key).toBe(key);
        seen.set(printable(name), key);
      }),
      { numRuns: 3000 },
    );
  });

  it("is printed without what would turn, hide or break the text around it, and that form leads back to it", () => {
    const turning = [
      "\u202e",
      "\u202a",
      "\u2066",
      "\u2069",
      "\u061c",
      "\u200e",
      "\u200f",
      "\u2028",
      "\u2029",
      "\u0085",
      "\u009b",
      "\n",
      "\x7f",
    ];
    for (const char of turning) {
      const name = written(Buffer.from(`a${char}gpj.exe`));
      expect(printable(name)).toMatch(/^a(?:\\x[0-9a-f]{2})+gpj\.exe$/);
      expect(readName(printable(name))).toBe(name);
      const literal = written(Buffer.from(printable(name))); // a name that has the backslashes itself
      expect(literal).not.toBe(name);
      expect(bytesWritten(readName(printable(literal)))).toEqual(Buffer.from(printable(name)));
    }
  });

  it("is the text of the name if that is unambiguous", () => {
    const plain = [
      "a.txt",
      "größe",
      "cafe\u0301",
      "two\nlines",
      "back\\slash",
      "dev-disk\\x2duuid",
      "caf\\xc3\\xa9",
    ];
    for (const name of plain) expect(written(Buffer.from(name))).toBe(name);
    expect(written(Buffer.from([0x61, 0xff]))).toBe("a\\xff");
    expect(written(Buffer.from("a\\xff"))).toBe("a\\x5cxff");
  });
});

describe("a tree of any names", () => {
  it("is deleted and restored byte for byte, beside names in other Unicode forms", async () => {
    const base = mkdtempSync(join(tmpdir(), "polyfs-names-"));
    const root = join(base, "root");
    mkdirSync(root);
    using workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
    const chance = new Chance(7);
    const names = new Map<string, string>();
    const at = (name: Buffer) => Buffer.concat([Buffer.from(`${root}/d/`), name]);
    mkdirSync(join(root, "d"));
    for (let i = 0; i < 150; i++) {
      const name = byteName(chance, names);
      names.set(name.toString("latin1"), `content ${i}`);
      if (i % 5 === 0) symlinkSync(name, at(name));
      else writeFileSync(at(name), `content ${i}`);
    }
    const state = () =>
      readdirSync(join(root, "d"), { withFileTypes: true, encoding: "buffer" }).map(entry => {
        const name = entry.name as unknown as Buffer;
        return [name.toString("latin1"), entry.isFile() ? readFileSync(at(name), "utf8") : "link"].join(" ");
      });
    const before = state().sort();
    // One by one, then as a whole.
    for (const name of [...names.keys()].slice(0, 40)) {
      const path = workspace.at(`d/${written(Buffer.from(name, "latin1"))}`);
      await workspace.commit([{ kind: "remove", path }]);
      expect(state()).toHaveLength(before.length - 1);
      await undo(workspace);
    }
    expect(state().sort()).toEqual(before);
    const gone = await workspace.commit([{ kind: "remove", path: workspace.at("d"), recursive: true }]);
    expect(gone.recorded).toBe(true);
    await undo(workspace);
    expect(state().sort()).toEqual(before);
    rmSync(base, { recursive: true, force: true });
  });

  it("gets a new name exactly as it was asked for", async () => {
    const base = mkdtempSync(join(tmpdir(), "polyfs-names-"));
    using workspace = Workspace.open([{ path: base, access: "read-write" }], {
      state: mkdtempSync(join(tmpdir(), "polyfs-names-")),
    });
    const write = (name: string) =>
      workspace.commit([{ kind: "write", path: workspace.at(name), bytes: Buffer.from(name) }]);
    for (const name of ["caf\u00e9", "cafe\u0301", "\\xff", "\\x5cxff"]) await write(name);
    const found = readdirSync(base, "buffer").map(name => name.toString("latin1"));
    const wanted = [
      Buffer.from("caf\u00e9"),
      Buffer.from("cafe\u0301"),
      Buffer.from([0xff]),
      Buffer.from("\\xff"),
    ];
    expect(found.sort()).toEqual(wanted.map(name => name.toString("latin1")).sort());
    rmSync(base, { recursive: true, force: true });
  });
});
