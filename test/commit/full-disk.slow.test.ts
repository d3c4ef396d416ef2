import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dialects } from "../../src/dialects/index.ts";
import { start } from "../mcp/wire.ts";
import { Fixture } from "./fixture.ts";
import { fill, mountSmall } from "./small-disk.ts";

const noMount = "needs permission to mount a file system";

const asText = (answer: unknown) => JSON.stringify(answer);

describe("on a full disk", () => {
  it.for([
    ["that has never been used", false],
    ["that was used before", true],
  ] as const)(
    "a file and a tree can be deleted with a state directory %s if the user allowed it, and the answer says that it is for good",
    async ([_, used], { skip }) => {
      using fixture = new Fixture({ a: "a", b: "b", "tree/x/y": "y", "tree/z": "z" });
      await using mount = mountSmall(fixture.state);
      skip(!mount.mounted, noMount);
      const args = ["--state-dir", fixture.state];
      if (used) {
        await using before = await start({ roots: [fixture.inside], args });
        await before.initialize();
        await before.call("write_file", { path: "c", content: "c" });
      }
      fill(fixture.state);
      {
        await using careful = await start({ roots: [fixture.inside], args });
        await careful.initialize();
        for (const path of ["a", "tree"]) {
          const refused = asText(await careful.call("delete_path", { path, recursive: true }));
          expect(refused).toContain("no room to keep");
          expect(refused).toContain("--allow-irrevocable");
          expect(refused).not.toContain(fixture.state);
        }
        expect(fixture.text("a")).toBe("a");
        expect(fixture.text("tree/x/y")).toBe("y");
      }
      const allowed = [...args, "--allow-irrevocable"];
      await using wire = await start({ roots: [fixture.inside], args: allowed });
      await wire.initialize();
      const refused = asText(await wire.call("write_file", { path: "b", content: "new" }));
      expect(refused).toContain("disk is full");
      expect(refused).not.toContain(fixture.state);
      expect(asText(await wire.call("delete_path", { path: "a" }))).toContain("cannot be undone");
      expect(asText(await wire.call("delete_path", { path: "tree", recursive: true }))).toContain(
        "cannot be undone",
      );
      expect(Object.keys(fixture.tree()).filter(name => name !== "c")).toEqual(["b"]);
      const undone = asText(await wire.call("undo", {}));
      expect(undone).not.toContain(fixture.state);
      expect(fixture.text("b")).toBe("b");
      if (used) expect(fixture.text("c")).toBe("c"); // undo does not take back an older change instead
    },
  );

  it("of tree and state alike, deleting makes room that can be used again", async ({ skip }) => {
    using fixture = new Fixture();
    const small = join(fixture.base, "small");
    await using mount = mountSmall(small);
    skip(!mount.mounted, noMount);
    const root = join(small, "root");
    mkdirSync(root);
    writeFileSync(join(root, "large"), Buffer.alloc(1_500_000, "x"));
    fill(small);
    await using wire = await start({ roots: [root], args: ["--state-dir", join(small, "state")] });
    await wire.initialize();
    const answer = asText(await wire.call("delete_path", { path: "large" }));
    expect(answer).not.toContain('"isError":true');
    expect(existsSync(join(root, "large"))).toBe(false);
    const written = asText(await wire.call("write_file", { path: "next", content: "fits" }));
    expect(written).not.toContain('"isError":true');
  });
});

describe("a state directory that cannot be used", () => {
  it.each(Object.keys(dialects))("is not named in answers of the dialect %s", async name => {
    using fixture = new Fixture({ a: "a\n" });
    const secret = join(fixture.base, "secret-place");
    writeFileSync(secret, "a file, where a directory is wanted");
    await using wire = await start({ dialect: name, roots: [fixture.inside], args: ["--state-dir", secret] });
    await wire.initialize();
    const { result } = await wire.request("tools/list", {});
    const tools = (result?.tools ?? []) as { name: string; inputSchema: Schema }[];
    expect(tools.length).toBeGreaterThan(0);
    for (const { name: tool, inputSchema } of tools) {
      const args = guess(inputSchema, fixture.inside);
      expect(asText(await wire.request("tools/call", { name: tool, arguments: args })), tool).not.toContain(
        "secret-place",
      );
    }
    expect(fixture.text("a")).toBe("a\n");
  });
});

interface Schema {
  readonly properties?: Record<string, { readonly type?: string }>;
  readonly required?: readonly string[];
}

/** Arguments that many tools take: names of a file where a text is wanted. */
function guess({ properties = {}, required = [] }: Schema, inside: string): Record<string, unknown> {
  const one = (name: string): unknown => {
    if (/path|file|from|source/i.test(name)) return join(inside, "a");
    if (/to|dest/i.test(name)) return join(inside, "b");
    const { type } = properties[name] ?? {};
    return type === "number" || type === "integer"
      ? 1
      : type === "boolean"
        ? false
        : type === "array"
          ? []
          : "text";
  };
  return Object.fromEntries(required.map(name => [name, one(name)]));
}

describe("a state directory in memory", () => {
  it("is reported at the start", async ({ skip }) => {
    using fixture = new Fixture({ a: "a" });
    await using mount = mountSmall(fixture.state);
    skip(!mount.mounted, noMount);
    await using wire = await start({ roots: [fixture.inside], args: ["--state-dir", fixture.state] });
    let said = "";
    wire.child.stderr?.on("data", chunk => {
      said += chunk;
    });
    await wire.initialize();
    await wire.call("write_file", { path: "a", content: "new" });
    expect(said).toContain("history and undo end when the machine is restarted");
  });
});

describe("a temporary file that is in no journal", () => {
  it("is hidden while it may belong to a commit, and shown once it is old", async () => {
    using fixture = new Fixture({ a: "a" });
    const name = `.polyfs-${"0123456789abcdef".repeat(2)}.tmp`;
    writeFileSync(join(fixture.inside, name), "left");
    const listed = () => {
      using directory = fixture.workspace.directory(fixture.at("."));
      return directory.entries().map(entry => entry.name);
    };
    expect(listed()).toEqual(["a"]);
    const { now } = Date;
    Date.now = () => now() + 11 * 60_000;
    try {
      expect(listed().sort()).toEqual([name, "a"].sort());
    } finally {
      Date.now = now;
    }
    rmSync(join(fixture.inside, name));
    expect(readdirSync(fixture.inside)).toEqual(["a"]);
  });
});
