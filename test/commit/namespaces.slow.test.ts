// Processes in other process namespaces, as in containers that share a volume: their numbers mean nothing here. A
// living one is left alone, and what a dead one left half done is whole before it is read.
import { spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasProc } from "../setup/proc.ts";
import { bundle } from "./bundle.ts";
import { Fixture } from "./fixture.ts";
import { scenarios } from "./scenarios.ts";

let worker: Awaited<ReturnType<typeof bundle>>;

beforeAll(async () => {
  worker = await bundle("worker.ts");
});

afterAll(() => worker[Symbol.dispose]());

/** The shell is the namespace's first process, which no signal from inside can end. */
const elsewhere = ["-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", '"$@"; exit 0', "sh"];
const able = process.platform === "linux" && spawnSync("unshare", [...elsewhere, "true"]).status === 0;
const needs = able ? undefined : "needs permission to make process namespaces";

function runElsewhere(task: string, base: string, argument: string) {
  const args = [...elsewhere, process.execPath, worker.path, task, base, argument];
  return spawnSync("unshare", args, { encoding: "utf8" });
}

/** How many versions the files show. */
function versions(texts: readonly string[]): number {
  return new Set(texts.map(text => text.slice(0, 3))).size;
}

/** Four files, patched by a process elsewhere that was killed between them. */
function torn(fixture: Fixture): void {
  expect(runElsewhere("scenario", fixture.base, "2:4:rename").stderr).toMatch(/Killed|^$/);
  expect(versions(Object.values(fixture.tree()))).toBe(2);
}

async function read(fixture: Fixture): Promise<string[]> {
  const texts: string[] = [];
  for (const name of Object.keys(scenarios[2]?.files ?? {})) {
    using file = fixture.workspace.file(fixture.at(name));
    texts.push((await file.bytes(1_000_000)).toString());
  }
  return texts;
}

describe("a process killed in another namespace, in the middle of a patch", () => {
  it("leaves a whole commit to the first process that reads", async context => {
    if (needs !== undefined) return context.skip(needs);
    using fixture = new Fixture(scenarios[2]?.files);
    torn(fixture);
    expect(versions(await read(fixture))).toBe(1);
  });

  it("leaves one to a process that was reading all the time", async context => {
    if (needs !== undefined) return context.skip(needs);
    using fixture = new Fixture(scenarios[2]?.files);
    expect(versions(await read(fixture))).toBe(1);
    torn(fixture);
    expect(versions(await read(fixture))).toBe(1);
  });

  it.runIf(hasProc)("leaves one to a process in a third namespace, and no lock", context => {
    if (needs !== undefined) return context.skip(needs);
    using fixture = new Fixture(scenarios[2]?.files);
    torn(fixture);
    const { stdout } = runElsewhere("reads", fixture.base, "f0,f1,f2,f3");
    expect(versions(JSON.parse(stdout))).toBe(1);
    expect(readdirSync(join(fixture.state, "locks"))).toEqual([]);
  });

  it("does not delay writers", async context => {
    if (needs !== undefined) return context.skip(needs);
    using fixture = new Fixture(scenarios[2]?.files);
    torn(fixture);
    await fixture.commit([fixture.write("f0", "mine")]);
    expect(fixture.text("f0")).toBe("mine");
  });
});

describe("a process that lives in another namespace", () => {
  it("is not recovered while it runs, and is as soon as it is killed", async context => {
    if (needs !== undefined) return context.skip(needs);
    using fixture = new Fixture({ mine: "0" });
    const args = [...elsewhere, process.execPath, worker.path, "patches", fixture.base];
    const other = spawn("unshare", args, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise(resolve => other.on("close", resolve));
    let told = 0;
    const reaches = (count: number) =>
      new Promise<void>(resolve => {
        const look = () => (told >= count ? resolve() : setTimeout(look, 5));
        look();
      });
    other.stdout.on("data", data => {
      told += String(data).split("\n").length - 1;
    });
    await reaches(3);
    const folders = () => readdirSync(join(fixture.state, "processes"));
    const [theirs] = folders();
    // A process looks for dead ones at its start and while it waits for a lock.
    for (let i = 0; i < 5; i++) {
      fixture.reopen();
      await fixture.commit([fixture.write("mine", String(i)), fixture.write("f0", "between")]);
      await reaches(told + 2);
    }
    expect(folders()).toContain(theirs);
    other.kill("SIGKILL");
    await ended;
    const texts: string[] = [];
    for (let i = 1; i < 8; i++) {
      using file = fixture.workspace.file(fixture.at(`f${i}`));
      texts.push((await file.bytes(1_000_000)).toString());
    }
    expect(new Set(texts).size).toBe(1);
    // Its output is closed a moment before it is gone.
    await expect
      .poll(
        () => {
          using _ = fixture.workspace.file(fixture.at("f0"));
          return folders();
        },
        { timeout: 10_000 },
      )
      .not.toContain(theirs);
  });
});
