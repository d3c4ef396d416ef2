// Another program writes into a file while an edit of it is being committed.
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

describe.runIf(process.platform !== "win32")("while an edit is committed,", () => {
  it("the line that another program adds stays, before whichever system call", async () => {
    using fixture = new Fixture({ f: "one\n" });
    const file = join(fixture.inside, "f");
    const lost: string[] = [];
    for (let at = 1, goesOn = true; goesOn; at++) {
      goesOn = false;
      let call = "";
      const addLine = (count: number, name: string) => {
        if (count !== at) return;
        call = name;
        appendFileSync(file, `other ${at}\n`);
        goesOn = true;
      };
      await watching(addLine, () =>
        fixture.edit("f", async bytes => Buffer.concat([Buffer.from(`edit ${at}\n`), bytes])),
      );
      expect(fixture.text("f")).toContain(`edit ${at}\n`);
      if (goesOn && !fixture.text("f").includes(`other ${at}\n`)) lost.push(call);
    }
    // The file is looked at once more right before these two.
    expect(lost.filter(call => call !== "link" && call !== "rename")).toEqual([]);
  });

  it("what another program wrote into the old file comes back with undo, also where the state is on another disk", async context => {
    if (!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync(tmpdir()).dev)
      return context.skip("needs a second device at /dev/shm");
    using fixture = new Fixture({ f: "one\n" });
    const state = mkdtempSync("/dev/shm/polyfs-state-");
    using workspace = Workspace.open([{ path: fixture.inside, access: "read-write" }], { state });
    try {
      let replaced = 0;
      // Other work of the process may make system calls in between, so one pass may miss the moment of the rename.
      for (let at = 1, goesOn = true, passes = 5; goesOn || (replaced === 0 && --passes > 0); at++) {
        if (!goesOn) at = 1;
        goesOn = false;
        fixture.put("f", "one\n");
        const addLine = (count: number) => {
          if (count !== at) return;
          appendFileSync(join(fixture.inside, "f"), "other\n");
          goesOn = true;
        };
        const edit = async (bytes: Buffer) => Buffer.concat([Buffer.from("edit\n"), bytes]);
        await watching(addLine, () => workspace.edit(workspace.at("f"), edit));
        expect(readdirSync(fixture.inside)).toEqual(["f"]);
        if (!goesOn || fixture.text("f").includes("other\n")) continue;
        replaced++;
        await undo(workspace);
        expect(fixture.text("f")).toBe("one\nother\n");
      }
      expect(replaced).toBeGreaterThan(0);
    } finally {
      rmSync(state, { recursive: true });
    }
  });
});
