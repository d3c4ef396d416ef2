// An edit reads its file once and carries it through. What another program does to the file or its directory while the
// edit is computed is noticed before the commit.
import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { Fixture } from "./fixture.ts";

/** Appends "!" to `inside/d/a.txt`, and calls `meanwhile` during the first computation. */
async function edit({ workspace, inside }: Fixture, meanwhile: (file: string) => void) {
  const file = join(inside, "d/a.txt");
  mkdirSync(join(inside, "d"));
  writeFileSync(file, "one\n", { mode: 0o644 });
  let rounds = 0;
  const bytes = async (read: Buffer) => {
    if (++rounds === 1) meanwhile(file);
    return Buffer.concat([read, Buffer.from("!")]);
  };
  const result = await workspace.edit(workspace.at("d/a.txt"), bytes).catch(error => error);
  return { file, result, rounds };
}

describe.runIf(process.platform !== "win32")("while an edit is computed,", () => {
  it("other bytes of the same length are not overwritten", async () => {
    using fixture = new Fixture();
    const { file, rounds } = await edit(fixture, path => writeFileSync(path, "two\n"));
    expect(readFileSync(file, "utf8")).toBe("two\n!");
    expect(rounds).toBe(2);
  });

  it("a file that another program puts in its place is edited instead", async () => {
    using fixture = new Fixture();
    const { file } = await edit(fixture, path => {
      writeFileSync(`${path}.new`, "one\n", { mode: 0o600 });
      renameSync(`${path}.new`, path);
    });
    expect(readFileSync(file, "utf8")).toBe("one\n!");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("a mode that another program sets stays", async () => {
    using fixture = new Fixture();
    const { file } = await edit(fixture, path => chmodSync(path, 0o640));
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it("a hard link added to the file is noticed", async () => {
    using fixture = new Fixture();
    const { file, result } = await edit(fixture, path => linkSync(path, `${path}.other`));
    expect(result.files).toMatchObject([{ otherNames: 1 }]);
    expect(readFileSync(`${file}.other`, "utf8")).toBe("one\n");
  });

  it("a file whose directory moved out of the root is not written, and no fault quotes it", async () => {
    using fixture = new Fixture();
    const { inside, outside, workspace } = fixture;
    const { result } = await edit(fixture, () => renameSync(join(inside, "d"), join(outside, "d")));
    expect(Fault.is(result, "not_found")).toBe(true);
    expect(readFileSync(join(outside, "d/a.txt"), "utf8")).toBe("one\n");
    mkdirSync(join(inside, "e"));
    writeFileSync(join(inside, "e/b.txt"), "b");
    const quoting = workspace.edit(workspace.at("e/b.txt"), bytes => {
      renameSync(join(inside, "e"), join(outside, "e"));
      throw new Fault("invalid_argument", { message: String(bytes) });
    });
    await expect(quoting).rejects.toMatchObject({ code: "not_found" });
  });
});
