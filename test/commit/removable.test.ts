// A tree of which something cannot be removed is refused before anything is touched, and leaves nothing under a
// temporary name.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { purge } from "../../src/engine/workspace/commit/purge.ts";
import { refuseStuck } from "../../src/engine/workspace/commit/removable.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { Handle } from "../../src/engine/workspace/handle.ts";
import { hasProc } from "../setup/proc.ts";
import { Fixture } from "./fixture.ts";
import { unmount } from "./small-disk.ts";

const files = { "d/a": "a", "d/b": "b", "d/in/x": "x" };

/** Whether this user may do that to a directory here, and take it back. */
function may(command: string, ...args: readonly string[]): (undo: string, ...more: string[]) => boolean {
  return (undo, ...more) => {
    const directory = mkdtempSync(join(tmpdir(), "polyfs-may-"));
    const able = spawnSync(command, [...args, directory], { stdio: "ignore" }).status === 0;
    if (able) spawnSync(undo, [...more, directory], { stdio: "ignore" });
    rmSync(directory, { recursive: true, force: true });
    return able;
  };
}

const mayProtect = may("chattr", "+i")("chattr", "-i");
const mayMount = hasProc && may("mount", "-t", "tmpfs", "tmpfs")("umount");

function outcome(commit: Promise<unknown>): Promise<unknown> {
  return commit.then(
    () => ({ code: "done" }),
    error => error,
  );
}

async function refusesRemoval(fixture: Fixture, says: object): Promise<void> {
  const before = fixture.tree();
  const path = fixture.at("d");
  expect(await outcome(fixture.commit([{ kind: "remove", path, recursive: true }]))).toMatchObject(says);
  await fixture.workspace.settled();
  expect(fixture.tree()).toEqual(before);
}

describe.skipIf(!mayProtect)("a tree with something immutable (needs permission to make it so)", () => {
  for (const name of ["d/in/x", "d/in", "d/empty"])
    it(`is not removed: ${name}`, async () => {
      using fixture = new Fixture(files);
      mkdirSync(join(fixture.inside, "d/empty"));
      execFileSync("chattr", ["+i", join(fixture.inside, name)]);
      try {
        await refusesRemoval(fixture, { code: "permission_denied", data: { path: name } });
      } finally {
        execFileSync("chattr", ["-i", join(fixture.inside, name)]);
      }
    });
});

describe.skipIf(!mayProtect)("a tree with something append-only (needs permission to make it so)", () => {
  for (const name of ["d/in/x", "d/in"])
    it(`is not removed: ${name}`, async () => {
      using fixture = new Fixture(files);
      execFileSync("chattr", ["+a", join(fixture.inside, name)]);
      try {
        await refusesRemoval(fixture, { code: "permission_denied", data: { path: "d/in/x" } });
      } finally {
        execFileSync("chattr", ["-a", join(fixture.inside, name)]);
      }
    });
});

describe.skipIf(!mayMount)("a tree and other mounts (needs permission to mount)", () => {
  it("is not removed with a disk that is mounted in it", async () => {
    using fixture = new Fixture(files);
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(fixture.inside, "d/in")]);
    writeFileSync(join(fixture.inside, "d/in/y"), "y");
    try {
      await refusesRemoval(fixture, { code: "busy", data: { path: "d/in" } });
    } finally {
      await unmount(join(fixture.inside, "d/in"));
    }
  });

  it("is not removed with a file that another one is mounted on", async () => {
    using fixture = new Fixture(files);
    execFileSync("mount", ["--bind", join(fixture.inside, "d/a"), join(fixture.inside, "d/in/x")]);
    try {
      await refusesRemoval(fixture, { code: "busy", data: { path: "d/in/x" } });
    } finally {
      await unmount(join(fixture.inside, "d/in/x"));
    }
  });

  it("is not removed with a disk that is mounted in it by another path", async () => {
    using fixture = new Fixture(files);
    const view = join(fixture.base, "view");
    mkdirSync(view);
    execFileSync("mount", ["--bind", "--make-private", fixture.inside, view]);
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(view, "d/in")]);
    try {
      await refusesRemoval(fixture, { code: "busy", data: { path: "d/in" } });
    } finally {
      await unmount(join(view, "d/in"));
      await unmount(view);
    }
  });

  it.skipIf(!mayProtect)("is not moved to another disk if something in it is immutable", async () => {
    using fixture = new Fixture(files);
    mkdirSync(join(fixture.inside, "disk"));
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(fixture.inside, "disk")]);
    execFileSync("chattr", ["+i", join(fixture.inside, "d/in/x")]);
    try {
      const before = fixture.tree();
      const move = { kind: "move", from: fixture.at("d"), to: fixture.at("disk/d") } as const;
      expect(await outcome(fixture.commit([move]))).toMatchObject({ code: "permission_denied" });
      await fixture.workspace.settled();
      expect(fixture.tree()).toEqual(before);
    } finally {
      execFileSync("chattr", ["-i", join(fixture.inside, "d/in/x")]);
      await unmount(join(fixture.inside, "disk"));
    }
  });
});

describe.skipIf(process.geteuid?.() !== 0)("another user's directory (needs root, to be two users)", () => {
  /** Removes a tree as a user who owns all of it but `theirs`. */
  function removedAs(
    user: number,
    theirs: { readonly mode: number; readonly holds?: string; readonly in: number },
  ) {
    const base = mkdtempSync(join(tmpdir(), "polyfs-users-"));
    try {
      for (const name of ["d", "d/in", "d/in/theirs"]) mkdirSync(join(base, name));
      for (const name of ["", "d", "d/in"]) chownSync(join(base, name), user, user);
      if (theirs.holds !== undefined) writeFileSync(join(base, "d/in/theirs", theirs.holds), "");
      chmodSync(join(base, "d/in/theirs"), theirs.mode);
      chmodSync(join(base, "d/in"), theirs.in);
      process.seteuid?.(user);
      try {
        using handle = Handle.open(base);
        purge(handle, "d");
      } finally {
        process.seteuid?.(0);
      }
      return readdirSync(base);
    } finally {
      rmSync(base, { recursive: true });
    }
  }

  it("goes with a tree if it is empty, though it cannot be renamed", () => {
    expect(removedAs(65534, { mode: 0o755, in: 0o755 })).toEqual([]);
  });

  it("goes with a tree if it is writable, and the one above it is closed", () => {
    expect(removedAs(65534, { mode: 0o777, holds: "x", in: 0o555 })).toEqual([]);
  });
});

it("an empty directory that takes the place of a file while that is asked about stays", async () => {
  using fixture = new Fixture({ "d/a": "a", "d/b": "b" });
  fixture.at("d");
  const { rmdir } = sys;
  let swapped = false;
  sys.rmdir = address => {
    if (!swapped && String(address).endsWith("/a")) {
      swapped = true;
      unlinkSync(join(fixture.inside, "d/a"));
      mkdirSync(join(fixture.inside, "d/a"));
    }
    rmdir(address);
  };
  let commit: Awaited<ReturnType<Fixture["commit"]>>;
  try {
    commit = await fixture.commit([{ kind: "remove", path: fixture.at("d"), recursive: true }]);
  } finally {
    sys.rmdir = rmdir;
  }
  expect([swapped, fixture.tree()]).toEqual([true, {}]);
  await undo(fixture.workspace, { change: commit.id });
  expect(fixture.tree()).toEqual({ "d/": "/", "d/a/": "/", "d/b": "b" });
});

it.skipIf(process.geteuid?.() !== 0)("what another user has in a sticky directory of theirs is stuck", () => {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-sticky-"));
  try {
    writeFileSync(join(directory, "x"), "");
    chmodSync(directory, 0o1777);
    using handle = Handle.open(directory);
    const stat = lstatSync(join(directory, "x"));
    const look = () => refuseStuck(handle.below("x"), stat, handle, () => "d/x");
    expect(look).not.toThrow();
    process.seteuid?.(65534);
    try {
      expect(look).toThrow(expect.objectContaining({ code: "permission_denied" }));
    } finally {
      process.seteuid?.(0);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});
