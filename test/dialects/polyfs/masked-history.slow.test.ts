// What history tells about a masked file: the same for a right guess of a hidden value as for a wrong one.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

const hidden = "PIN=4711\nOTHER=other0\n";

let fixture: Fixture;
beforeAll(() => {
  fixture = new Fixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({ ".env": hidden, "a.txt": "one\n" }));

/** Calls of one caller, and everything that they said. */
class Caller {
  readonly told: string[] = [];
  readonly changes: string[] = [];
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async call(tool: string, params: unknown = {}): Promise<void> {
    const { content, isError } = await this.#server.result(tool, params);
    const said = content.map(item => item.text ?? "").join("\n");
    for (const [, change = ""] of said.matchAll(/^change (\w+)/gm)) this.changes.push(change);
    this.told.push(`${tool}${isError ? " refused" : ""}: ${said}`);
  }

  async set(pin: string, path = ".env"): Promise<void> {
    await this.call("edit_file", { path, edits: [{ old: "PIN=••••", new: `PIN=${pin}` }] });
  }

  async undo(params: unknown = {}): Promise<void> {
    await this.call("undo", { ...(params as object), dry_run: true });
    await this.call("undo", params);
  }

  change(number: number): string {
    const id = this.changes[number];
    expect(id, this.told.join("\n")).toBeDefined();
    return id ?? "";
  }

  /** Without what differs from run to run, and without the guess. */
  transcript(guess: string): string {
    let all = this.told.join("\n");
    for (const [i, id] of this.changes.entries()) all = all.replaceAll(id, `<change ${i}>`);
    return all
      .replaceAll(/v:[0-9a-f]{12}/g, "<version>")
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "<time>")
      .replaceAll(guess, "<guess>");
  }
}

type Way = (caller: Caller, guess: string) => Promise<void>;

const diff: Way = caller => caller.call("list_changes", { since: "start", diff: true, mine: true });

const ways: Record<string, Way> = {
  "undone step by step": async (caller, guess) => {
    await caller.set(guess);
    await caller.set("1");
    for (let i = 0; i < 3; i++) await caller.undo();
  },
  "undone by its path": async (caller, guess) => {
    await caller.set(guess);
    for (let i = 0; i < 2; i++) await caller.undo({ path: ".env" });
  },
  "undone with everything since": async (caller, guess) => {
    await caller.set(guess);
    await caller.set("1");
    await caller.undo({ since: "start" });
  },
  "undone under a later edit": async (caller, guess) => {
    await caller.set(guess);
    await caller.set("1");
    await caller.undo({ change: caller.change(0) });
  },
  "made over the change that is undone": async (caller, guess) => {
    await caller.set("1");
    await caller.set(guess);
    await caller.undo({ change: caller.change(0) });
  },
  "between two changes that are undone": async (caller, guess) => {
    await caller.set("1");
    await caller.set(guess);
    await caller.set("2");
    await caller.undo({ changes: [caller.change(0), caller.change(2)] });
  },
  "undone twice, and redone": async (caller, guess) => {
    await caller.set(guess);
    await caller.undo({ change: caller.change(0) });
    await caller.undo({ change: caller.change(0) });
    await caller.undo({ change: caller.change(1) });
    await caller.undo({ change: caller.change(0) });
  },
  "one file of a change, of which the other was undone": async (caller, guess) => {
    const patch = `*** Begin Patch\n*** Update File: .env\n@@\n-PIN=••••\n+PIN=${guess}\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch`;
    await caller.call("apply_patch", { patch });
    await caller.undo({ path: "a.txt" });
    await caller.undo();
    await caller.undo();
  },
  "in the net difference": async (caller, guess) => {
    await caller.set(guess);
    await diff(caller, guess);
  },
  "in the net difference after an undo": async (caller, guess) => {
    await caller.set(guess);
    await caller.undo();
    await diff(caller, guess);
  },
  "in the net difference of a file that was moved": async (caller, guess) => {
    await caller.set(guess);
    await caller.call("move_path", { from: ".env", to: "b/.env" });
    await diff(caller, guess);
    await caller.undo();
    await caller.undo();
  },
  "in a file that was created, and that the real one replaced": async (caller, guess) => {
    await caller.call("write_file", { path: "b/.env", content: hidden.replace("4711", guess) });
    await caller.call("move_path", { from: ".env", to: "b/.env", overwrite: true });
    await caller.undo({ change: caller.change(0) });
  },
  "in a directory that was copied, and where the real one replaced it": async (caller, guess) => {
    await caller.call("write_file", { path: "b/.env", content: hidden.replace("4711", guess) });
    await caller.call("copy_path", { from: "b", to: "c" });
    await caller.call("move_path", { from: ".env", to: "c/.env", overwrite: true });
    await caller.undo({ change: caller.change(1) });
  },
  "taken back by another program": async (caller, guess) => {
    await caller.set(guess);
    fixture.write(".env", hidden);
    await caller.undo();
    await caller.undo();
    await caller.set("1");
    await diff(caller, guess);
  },
  "replaced by another program": async (caller, guess) => {
    await caller.set(guess);
    fixture.write(".env", hidden.replace("4711", "9999"));
    await caller.undo();
  },
};

describe("a guess of a masked value is not confirmed", () => {
  it.each(Object.entries(ways))("%s", async (_, way) => {
    const transcripts: string[] = [];
    for (const guess of ["4711", "4712"]) {
      fixture.reset({ ".env": hidden, "a.txt": "one\n" });
      const caller = new Caller(await fixture.serve());
      await way(caller, guess);
      transcripts.push(caller.transcript(guess));
    }
    expect(transcripts[0]).toBe(transcripts[1]);
  });
});

describe("a masked file", () => {
  it("gets its real bytes back, step by step and all at once", async () => {
    for (const steps of [[{}, {}, {}], [{ since: "start" }]]) {
      fixture.reset({ ".env": hidden });
      const caller = new Caller(await fixture.serve());
      for (const pin of ["1", "4711", "2"]) await caller.set(pin);
      expect(fixture.read(".env")).toBe(hidden.replace("4711", "2"));
      for (const params of steps) await caller.undo(params);
      expect(caller.told.at(-1)).toContain("[no difference in what is shown]");
      expect(fixture.read(".env"), caller.told.join("\n")).toBe(hidden);
    }
  });
});
