// Another program writes into a file while an edit of it is being committed.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
});
