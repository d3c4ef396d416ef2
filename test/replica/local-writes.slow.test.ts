// Another program of this machine writes into a file while a change of another machine is being applied to it, or while
// a change of this one is being sent to the store.
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { errno, watching } from "../commit/failing.ts";
import { Fixture } from "./fixture.ts";

describe("a pull beside another program", () => {
  it("keeps the line that the program adds, before whichever system call", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n2\n3\n4\n5\n6\n" });
    const b = await fixture.machine("b");
    b.line.isDeaf = true;
    const lost: string[] = [];
    for (let at = 1, goesOn = true; goesOn; at++) {
      await a.replica.refresh("reads");
      await a.edit("f", text => text.replace("2\n", `2\nfrom a ${at}\n`));
      goesOn = false;
      let call = "";
      const addLine = (count: number, name: string) => {
        if (count !== at) return;
        call = name;
        appendFileSync(join(b.root, "f"), `from b ${at}\n`);
        goesOn = true;
      };
      await watching(addLine, () => b.replica.refresh("reads"));
      expect(b.text("f")).toContain(`from a ${at}\n`);
      if (goesOn && !b.text("f").includes(`from b ${at}\n`)) lost.push(call);
    }
    // The file is looked at once more right before these two.
    expect(lost.filter(call => call !== "link" && call !== "rename")).toEqual([]);
  });
});

/** The calls that need room on the disk. */
const growing = new Set(["write", "link", "rename", "mkdir", "symlink", "copyFile"]);

describe("an edit beside another program", () => {
  const ways = {
    "writes into the file": (file: string, text = "0\n1\n2\n") => writeFileSync(file, text),
    "replaces the file": (file: string, text = "0\n1\n2\n") => {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    },
  };
  for (const [way, change] of Object.entries(ways))
    it(`is made once if the program ${way} while the edit is sent, and both changes are kept`, async () => {
      await using fixture = new Fixture();
      const a = await fixture.machine("a", { f: "1\n2\n" });
      const b = await fixture.machine("b");
      let isChanged = false;
      a.line.afterAppend = async () => {
        if (!isChanged) change(join(a.root, "f"));
        isChanged = true;
      };
      await a.edit("f", text => `${text}edited\n`);
      expect(a.text("f")).toBe("0\n1\n2\nedited\n");
      await b.replica.refresh("reads");
      expect(b.text("f")).toBe("0\n1\n2\nedited\n");
      expect(b.replica.revision).toBe(a.replica.revision);
      await b.edit("f", text => `${text}again\n`);
      await a.replica.refresh("reads");
      expect(a.text("f")).toBe(b.text("f"));
    });

  it("is applied once if another machine appends between the two sends, and the caller gets not_applied", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n2\n", g: "" });
    const b = await fixture.machine("b");
    a.line.isDeaf = true;
    let isChanged = false;
    a.line.afterAppend = async () => {
      if (isChanged) return;
      isChanged = true;
      ways["replaces the file"](join(a.root, "f"));
      await b.replica.refresh("writes");
      await b.edit("g", () => "from b\n");
    };
    await expect(a.edit("f", text => `${text}edited\n`)).rejects.toMatchObject({
      code: "not_applied",
      data: { paths: ["f"] },
    });
    expect(a.text("f")).toBe("0\n1\n2\nedited\n");
    expect(a.text("g")).toBe("from b\n");
    await b.replica.refresh("reads");
    expect(b.text("f")).toBe("1\n2\nedited\n");
    await a.replica.publishChanges({ action: "run", client: "" });
    await b.replica.refresh("reads");
    expect(b.tree()).toEqual(a.tree());
  });

  it("leaves what was sent of the program, where what it wrote after that gives way to the edit", async () => {
    await using fixture = new Fixture();
    const warned: string[] = [];
    const a = await fixture.machine(
      "a",
      { f: "title\n1\n2\nend\n", g: "" },
      { warn: message => warned.push(message) },
      line => {
        line.isDeaf = true;
      },
    );
    const b = await fixture.machine("b");
    const put = (text: string) => ways["replaces the file"](join(a.root, "f"), text);
    const moments = [
      () => put("title by a program\n1\n2\nfirst\nend\n"),
      () => put("title by a program\n1\n2\nfirst\nsecond\nend\n"),
      () => b.edit("g", () => "from b\n"),
    ];
    a.line.beforeAppend = async () => void (await moments.shift()?.());
    await expect(a.edit("f", text => text.replace(/^title.*/, "edited"))).rejects.toMatchObject({
      code: "not_applied",
    });
    expect(warned).toEqual([expect.stringContaining("f was changed here and by revision")]);
    await a.replica.publishChanges({ action: "run", client: "" });
    await b.replica.refresh("reads");
    expect(b.text("f")).toBe("edited\n1\n2\nfirst\nend\n");
    expect(b.tree()).toEqual(a.tree());
  });

  it("that is in the store is never reported as not made, at whatever moment this machine's disk is full", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "" });
    const b = await fixture.machine("b");
    const told = new Set<string>();
    for (let at = 1, goesOn = true; goesOn; at++) {
      const line = `edit ${at}\n`;
      goesOn = false;
      let writes = 0;
      const fail = (_: number, name: string) => {
        if (!growing.has(name) || ++writes < at) return;
        goesOn = true;
        throw errno("ENOSPC", name);
      };
      const outcome = await watching(fail, () =>
        a
          .edit("f", text => text + line)
          .then(
            () => "made",
            error => (error instanceof Fault ? error.code : String(error)),
          ),
      );
      told.add(outcome);
      await a.replica.refresh("reads");
      await b.replica.refresh("reads");
      const times = b.text("f").split(line).length - 1;
      expect({ at, outcome, times }).toEqual({
        at,
        outcome,
        times: outcome === "made" || outcome === "not_applied" ? 1 : 0,
      });
      expect(a.text("f")).toBe(b.text("f"));
    }
    expect(told).toContain("not_applied");
  });
});
