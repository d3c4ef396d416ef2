// Commands in the background: read while they run, stopped, and gone with their owner.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JobOptions } from "../../src/engine/shell/job.ts";
import { Jobs } from "../../src/engine/shell/jobs.ts";
import { Fixture, odd, running } from "./fixture.ts";

let fixture: Fixture;
let jobs: Jobs;
beforeEach(() => {
  fixture = new Fixture();
  jobs = new Jobs({ running: 3, ended: 2, outputBytes: 1000 });
});
afterEach(async () => {
  await jobs[Symbol.asyncDispose]();
  fixture[Symbol.dispose]();
});

async function start(command: string, options: Partial<JobOptions> = {}): Promise<string> {
  using directory = fixture.workspace.directory(fixture.workspace.at(fixture.root));
  return (await jobs.start(command, { directory, ...options })).id;
}

const read = { waitMs: 20_000, limit: 1000 };

describe("a job", () => {
  it("is read while it runs, each time from where the reader was", async () => {
    const id = await start("echo one; until [ -e go ]; do sleep 0.02; done; echo two >&2; exit 4");
    const first = await jobs.output(id, 0, read);
    expect(first).toMatchObject({ text: "one\n", offset: 0, next: 4 });
    expect(first.state.exit).toBeUndefined();
    expect(await jobs.output(id, 4, { limit: 1000 })).toMatchObject({ text: "", next: 4 });
    await fixture.run("touch go");
    expect(await jobs.output(id, 4, read)).toMatchObject({ text: "two\n", next: 8 });
    const last = await jobs.output(id, 8, read);
    expect(last).toMatchObject({ text: "", next: 8, state: { exit: { exitCode: 4, signal: null } } });
  });

  it("keeps the end of what it wrote, and shows a late reader where that begins", async () => {
    const id = await start("seq 1 1000; echo end");
    const { state } = await jobs.output(id, 1_000_000, read); // waits for its end
    expect(state).toMatchObject({ bytes: 3897, exit: { exitCode: 0 } });
    const late = await jobs.output(id, 0, read);
    expect(late).toMatchObject({ offset: 2897, next: 3897 });
    expect(late.text).toMatch(/1000\nend\n$/);
    expect(await jobs.output(id, 3890, { limit: 3 })).toMatchObject({ text: "00\n", next: 3893 });
  });

  it("gives characters whole to every reader, wherever a read ends", async () => {
    const id = await start("printf 'a\\342\\202'; until [ -e go ]; do sleep 0.02; done; printf '\\254\\377'");
    const first = await jobs.output(id, 0, read);
    expect(first).toMatchObject({ text: "a", next: 1 });
    await fixture.run("touch go");
    await jobs.output(id, 1_000_000, read);
    expect((await jobs.output(id, 1, read)).text).toBe("€\ufffd");
  });

  it("is stopped with everything that it started, and says how it ended", async () => {
    const nap = odd();
    const id = await start(`echo up; setsid sleep ${nap} & trap '' TERM; sleep ${nap}; sleep ${nap}`);
    await jobs.output(id, 0, read);
    const state = await jobs.stop(id, 100);
    expect(state.exit).toMatchObject({ exitCode: null, signal: "SIGKILL", stopped: "request" });
    expect(running(nap)).toEqual([]);
    expect(await jobs.stop(id)).toEqual(state);
  });

  it("ends when its time is over", async () => {
    const id = await start("sleep 1000", { timeoutMs: 100 });
    expect((await jobs.output(id, 0, read)).state.exit).toMatchObject({
      signal: "SIGTERM",
      stopped: "timeout",
    });
  });

  it("does not block when a reader goes away", async () => {
    const id = await start("sleep 1000");
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    expect(await jobs.output(id, 0, { ...read, signal: controller.signal })).toMatchObject({ text: "" });
  });
});

describe("an owner's jobs", () => {
  it("end with it", async () => {
    const nap = odd();
    await start(`sleep ${nap}`);
    await start(`setsid sleep ${nap} & sleep ${nap}`);
    await jobs[Symbol.asyncDispose]();
    expect(running(nap)).toEqual([]);
    expect(jobs.list().map(job => job.exit?.signal)).toEqual(["SIGKILL", "SIGKILL"]);
  });

  it("are bounded in number: those that run, and those that are remembered", async () => {
    for (let i = 0; i < 3; i++) await start("sleep 1000");
    await expect(start("true")).rejects.toMatchObject({ code: "too_many_jobs", data: { limit: 3 } });
    for (const { id } of jobs.list()) await jobs.stop(id, 0);
    await start("sleep 1000");
    expect(jobs.list().map(job => job.id)).toEqual(["2", "3", "4"]);
    await expect(jobs.stop("1")).rejects.toMatchObject({ code: "unknown_job", data: { job: "1" } });
  });

  it("belong to one session", async () => {
    const id = await start("sleep 1000");
    await expect(new Jobs().output(id, 0, read)).rejects.toMatchObject({ code: "unknown_job" });
  });
});
