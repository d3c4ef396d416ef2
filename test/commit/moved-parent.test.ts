// A deletion whose record has to wait keeps the old content beside its place. If a directory above is moved meanwhile,
// the content is recorded and removed where it is then.
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { errno, watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

it.each(["ENOSPC", "EDQUOT", "EMFILE", "ENOMEM"])("after %s", async code => {
  using fixture = new Fixture({ "above/parent/d/e/f": "f\n", "above/parent/keep": "k\n" });
  fixture.workspace.at("above");
  const path = fixture.at("above/parent/d");
  const fail = (_: number, name: string, args: readonly unknown[]) => {
    if (name === "open" && String(args[0]).includes("/objects/")) throw errno(code, name);
  };
  const commit = await watching(fail, () =>
    fixture.commit([{ kind: "remove", path, recursive: true }, fixture.write("above/other", "o\n")]),
  );
  renameSync(join(fixture.inside, "above"), join(fixture.inside, "moved"));
  await fixture.workspace.settled();
  await expect.poll(() => readdirSync(join(fixture.inside, "moved/parent"))).toEqual(["keep"]);
  renameSync(join(fixture.inside, "moved"), join(fixture.inside, "above"));
  await undo(fixture.workspace, { change: commit.id });
  expect(fixture.text("above/parent/d/e/f")).toBe("f\n");
});
