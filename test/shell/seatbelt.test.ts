// The sandbox of macOS as far as it can be tried elsewhere: by a program that takes its arguments and acts its part.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSeatbelt, openSeatbelt } from "../../src/engine/shell/seatbelt.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

describe.skipIf(process.platform === "win32")("the sandbox of macOS", () => {
  let base: string;
  let fake: string;

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "polyfs-seatbelt-"));
    fake = join(base, "sandbox-exec");
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  /** Keeps the profile, and refuses it where the script says so. */
  function program(refuse = "false"): void {
    const script = `#!/bin/sh\nprintf %s "$2" > ${base}/profile\nif ${refuse}; then exit 65; fi\nshift 2\nexec "$@"\n`;
    writeFileSync(fake, script);
    chmodSync(fake, 0o755);
  }

  it("is tried with the profile that commands get, without their directories", async () => {
    program();
    const found = await findSeatbelt(fake);
    if (!("kind" in found)) throw new Error(found.missing);
    const probed = readFileSync(join(base, "profile"), "utf8").split("\n");
    using workspace = Workspace.open([]);
    const { args } = await openSeatbelt(found, { workspace, network: false }).launch(
      "true",
      Object.create(null),
      {},
      Object.create(null),
    );
    expect(args[1]?.split("\n")).toEqual(probed);
    expect(probed).toContain("(deny default)");
  });

  it("is not there if it refuses that profile", async () => {
    program("grep -q 'deny default' <<END\n$2\nEND\n");
    expect(await findSeatbelt(fake)).toHaveProperty("missing");
  });

  it("gives targets only to rules that can have one", async () => {
    program();
    await findSeatbelt(fake);
    const targeted = readFileSync(join(base, "profile"), "utf8")
      .split("\n")
      .filter(line => line.includes("(target"));
    expect(targeted.length).toBeGreaterThan(0);
    for (const line of targeted) expect(line).not.toMatch(/process-(exec|fork)/);
  });
});
