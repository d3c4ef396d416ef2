// A directory gets its mode after it was made. What another program puts under its name in between keeps its own.
import { mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { hasProc } from "../setup/proc.ts";
import { Fixture } from "./fixture.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** Makes `inside/made` with mode 755, and calls `swap` right after the system has made it. */
async function makeAnd(fixture: Fixture, swap: (made: string) => void): Promise<unknown> {
  const { mkdir } = sys;
  const { workspace, inside } = fixture;
  let swapped = false;
  sys.mkdir = (address, mode) => {
    mkdir(address, mode);
    if (!swapped && String(address).endsWith("/made")) {
      swapped = true;
      swap(join(inside, "made"));
    }
  };
  try {
    return await workspace
      .commit([{ kind: "mkdir", path: workspace.at("made"), mode: 0o755 }])
      .catch(error => error);
  } finally {
    sys.mkdir = mkdir;
  }
}

describe.runIf(process.platform === "linux")("the mode of a new directory", () => {
  it("is not given to a file outside that a link in its place leads to", async () => {
    using fixture = new Fixture();
    const secret = join(fixture.outside, "secret");
    writeFileSync(secret, "", { mode: 0o600 });
    await makeAnd(fixture, made => {
      renameSync(made, `${made}-aside`);
      symlinkSync(secret, made);
    });
    expect(modeOf(secret)).toBe("600");
  });

  it.runIf(hasProc)("is not given to a private directory that was put in its place", async () => {
    using fixture = new Fixture();
    const kept = join(fixture.inside, "private");
    mkdirSync(kept, { mode: 0o700 });
    writeFileSync(join(kept, "secret"), "");
    await makeAnd(fixture, made => {
      renameSync(made, `${made}-aside`);
      renameSync(kept, made);
    });
    expect(modeOf(join(fixture.inside, "made"))).toBe("700");
  });

  it("is exactly what was asked for, whatever the umask", async () => {
    using fixture = new Fixture();
    const umask = process.umask(0o077);
    try {
      await makeAnd(fixture, () => {});
    } finally {
      process.umask(umask);
    }
    expect(modeOf(join(fixture.inside, "made"))).toBe("755");
  });
});

it("a directory that another program makes at the same moment is used", async () => {
  using fixture = new Fixture();
  const { workspace, inside } = fixture;
  const { mkdir } = sys;
  sys.mkdir = (address, mode) => {
    if (String(address).endsWith("/made")) mkdirSync(join(inside, "made"), { recursive: true });
    mkdir(address, mode);
  };
  try {
    const path = workspace.at("made/a.txt");
    await workspace.commit([{ kind: "write", path, bytes: Buffer.from("a"), expect: "absent" }], {
      parents: true,
    });
  } finally {
    sys.mkdir = mkdir;
  }
  expect(fixture.text("made/a.txt")).toBe("a");
});
