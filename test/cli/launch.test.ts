// How an entry for a client starts npx: also where the client, started from a desktop, would not find it.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { npxPrefix } from "../../src/cli/setup/launch.ts";

it("names the directories of npx and of Node where a desktop program would not look", () => {
  const bin = mkdtempSync(join(tmpdir(), "polyfs-bin-"));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  writeFileSync(join(bin, "npx"), "#!/bin/sh\n");
  chmodSync(join(bin, "npx"), 0o755);
  const path = (node: string) => npxPrefix("darwin", { PATH: `${bin}:/usr/bin` }, node);
  expect(path("/opt/node/bin/node")).toEqual([
    "/usr/bin/env",
    `PATH=${bin}:/opt/node/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
  ]);
  expect(path(join(bin, "node"))).toEqual(["/usr/bin/env", `PATH=${bin}:/usr/bin:/bin:/usr/sbin:/sbin`]);
});

it("starts npx through the shell on Windows, where nothing else works", () => {
  expect(npxPrefix("win32", {})).toEqual(["cmd", "/c"]);
});
