// File systems that ignore case and Unicode form. Every path is spelled at random: a file is one file by all of its
// spellings, keeps the one that it has until it is renamed, and undo restores that, too. Rules and locks hold for all.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { Handle } from "../../src/engine/workspace/handle.ts";
import { isExactDevice, storedSpelling } from "../../src/engine/workspace/stored-name.ts";
import { Fixture, type Server, versionIn } from "../dialects/polyfs/fixture.ts";
import { type FoldingDisk, foldingDisk } from "./folding-disk.ts";

const disks = {
  "that keeps spellings": await foldingDisk(false),
  "that stores names decomposed": await foldingDisk(true),
};
afterAll(async () => {
  for (const disk of Object.values(disks)) await disk?.[Symbol.asyncDispose]();
});

const names = ["Readme.txt", "caf\u00e9-Notes", "\u00c4rger", "plain"];
const directories = ["", "Src/", "Src/D\u00e9p\u00f4t/"];
const fold = (path: string) => path.normalize("NFC").toLowerCase();

function spelled(path: string, chance: Chance): string {
  const letters = [...path].map(one => chance.pick([one, one.toLowerCase(), one.toUpperCase()])).join("");
  return letters.normalize(chance.pick(["NFC", "NFD"]));
}

/** Every file of a tree with its stored spelling. */
function filesIn(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter(one => one.isFile());
  const found = entries.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    found.sort().map(path => [path.slice(root.length + 1), readFileSync(path, "utf8")]),
  );
}

/** What the tree holds: by folded path, the path as it is stored, and the content. */
type Model = Map<string, { readonly at: string; readonly text: string }>;
const contents = (model: Model) =>
  Object.fromEntries([...model.values()].map(({ at, text }) => [at, text]).sort());

for (const [kind, disk] of Object.entries(disks))
  describe.skipIf(disk === undefined)(`a file system ${kind}`, () => {
    const { path = "" } = (disk ?? {}) as FoldingDisk;
    const keepsSpellings = kind === "that keeps spellings";
    const stored = (name: string) => (keepsSpellings ? name : name.normalize("NFD"));
    let fixture: Fixture;
    let servers: Server[];
    beforeAll(async () => {
      fixture = new Fixture({}, path);
      servers = [await fixture.serve(), await fixture.serve()];
    });
    afterAll(() => fixture[Symbol.asyncDispose]());

    // Where names are decomposed, the record of a change has the name as it was asked for, so only the last change can
    // always be undone.
    it.each([1, 2])("random changes under random spellings, and undo of all: seed %i", async seed => {
      const chance = new Chance(seed);
      let model: Model = new Map();
      fixture.reset({});
      for (const directory of directories) mkdirSync(fixture.path(stored(directory)), { recursive: true });
      for (const directory of directories)
        for (const name of names.slice(0, 2)) {
          const at = stored(directory + name);
          fixture.write(at, `${at} alpha\nomega\n`);
          model.set(fold(at), { at, text: `${at} alpha\nomega\n` });
        }
      const before = contents(model);
      const somewhere = () => chance.pick(directories) + chance.pick(names);
      /** Where a path leads: in stored directories, under the last name as it is given. */
      const placed = (given: string) => {
        const directory = directories.find(
          one => fold(one) === fold(given.slice(0, given.lastIndexOf("/") + 1)),
        );
        return stored(directory + given.slice(given.lastIndexOf("/") + 1));
      };
      const changed: Server[] = [];
      for (let i = 0; i < 50; i++) {
        const server = chance.pick(servers);
        const [from, to] = [spelled(somewhere(), chance), spelled(somewhere(), chance)];
        const known = model.get(fold(from));
        const isRespelled = fold(from) === fold(to);
        const isFree = isRespelled || !model.has(fold(to));
        const text = `${i}\nomega\n`;
        const patch = (head: string) => ({ patch: `*** Begin Patch\n${head}\n*** End Patch\n` });
        const line = known?.text.split("\n")[0] ?? "";
        const edited = known?.text.replace(line, `edit ${i}`) ?? "";
        const moved = (content: string) => {
          model.delete(fold(from));
          model.set(fold(to), { at: placed(to), text: content });
        };
        const kinds = {
          async write() {
            await server.says("write_file", { path: from, content: text });
            model.set(fold(from), { at: known?.at ?? placed(from), text });
          },
          async edit() {
            if (!known) return;
            const if_version = await chance.pick(servers).version(spelled(known.at, chance));
            const edits = [{ old: line, new: `edit ${i}` }];
            await server.says("edit_file", { path: from, edits, if_version });
            model.set(fold(from), { ...known, text: edited });
          },
          async move() {
            if (!known || known.at === placed(to)) return;
            if (!isFree) await server.refuses("move_path", { from, to });
            else {
              await server.says("move_path", { from, to });
              moved(known.text);
            }
          },
          async copy() {
            if (!known) return;
            if (model.has(fold(to))) await server.refuses("copy_path", { from, to });
            else {
              await server.says("copy_path", { from, to });
              model.set(fold(to), { at: placed(to), text: known.text });
            }
          },
          async remove() {
            if (!known) return;
            await server.says("delete_path", { path: from });
            model.delete(fold(from));
          },
          async patch() {
            if (!known || !isFree) return;
            const head = `*** Update File: ${from}\n*** Move to: ${to}\n@@\n-${line}\n+edit ${i}`;
            await server.says("apply_patch", patch(head));
            moved(edited);
          },
        };
        const was = new Map(model);
        const name = chance.pick(Object.keys(kinds)) as keyof typeof kinds;
        await kinds[name]();
        const told = `${i}: ${name} ${JSON.stringify([from, to])}`;
        expect(filesIn(fixture.root), told).toEqual(contents(model));
        if (JSON.stringify(contents(model)) === JSON.stringify(contents(was))) continue;
        if (!keepsSpellings || chance.next() < 0.3) {
          await server.says("undo", {});
          expect(filesIn(fixture.root), `undoing ${told}`).toEqual(contents(was));
          model = was;
        } else changed.push(server);
      }
      expect(changed.length > 8).toBe(keepsSpellings);
      for (const server of changed.reverse()) await server.says("undo", {});
      expect(filesIn(fixture.root)).toEqual(before);
    });

    it("edits by two servers under different spellings are all there", async () => {
      const lines = Array.from({ length: 40 }, (_, i) => `line ${i} old\n`);
      fixture.reset({ "Shared-\u00e9.txt": lines.join("") });
      const chance = new Chance(7);
      await Promise.all(
        servers.map(async (server, turn) => {
          for (let i = turn; i < lines.length; i += 2)
            await server.says("edit_file", {
              path: spelled("Shared-\u00e9.txt", chance),
              edits: [{ old: `line ${i} old`, new: `line ${i} new` }],
            });
        }),
      );
      expect(filesIn(fixture.root)).toEqual({
        [stored("Shared-\u00e9.txt")]: lines.join("").replaceAll("old", "new"),
      });
    });

    it("a file keeps its spelling while another program replaces it", async () => {
      fixture.reset({ "Shared-\u00e9.txt": "0" });
      const file = fixture.path(stored("Shared-\u00e9.txt"));
      const replacing = `
        const { renameSync, writeFileSync } = require("node:fs");
        for (let n = 0; ; n++) {
          writeFileSync(process.argv[1] + ".new", String(n));
          renameSync(process.argv[1] + ".new", process.argv[1]);
        }`;
      const child = spawn(process.execPath, ["-e", replacing, file], { cwd: tmpdir() });
      try {
        await expect.poll(() => readFileSync(file, "utf8")).not.toBe("0");
        using directory = Handle.open(fixture.root);
        const chance = new Chance(3);
        const seen = new Set<string>();
        for (let i = 0; i < 500; i++)
          seen.add(
            storedSpelling(directory, spelled("Shared-\u00e9.txt", chance), directory.stat().dev).normalize(
              "NFC",
            ),
          );
        expect([...seen]).toEqual(["Shared-\u00e9.txt"]);
        expect(isExactDevice(directory.stat().dev)).toBe(false);
      } finally {
        child.kill("SIGKILL");
      }
    });

    it("a version is valid under every spelling, and an old one is detected", async () => {
      fixture.reset({ "Notes.txt": "one\ntwo\n" });
      const [first, second] = servers as [Server, Server];
      const version = await first.version("NOTES.TXT");
      const edit = (old: string) => ({ path: "notes.TXT", edits: [{ old, new: old.toUpperCase() }] });
      const said = await second.says("edit_file", { ...edit("one"), if_version: version });
      expect(versionIn(said)).toBe(await first.version("Notes.txt"));
      const lines = await first.refuses("write_file", {
        path: "NOTES.txt",
        content: "x",
        if_version: version,
      });
      expect(lines[0]).toMatch(/^(changed|conflict|stale|modified)/);
      expect(filesIn(fixture.root)).toEqual({ "Notes.txt": "ONE\ntwo\n" });
    });

    it("a rule applies to every spelling, and so does a read-only directory", async () => {
      fixture.reset({
        ".env.local": "TOKEN=canary\n",
        "Secrets/key.txt": "canary\n",
        "Vault/v.txt": "vault\n",
      });
      const rules = { rules: [{ paths: [".env*", "secrets/**"], access: "deny" }] };
      const policy = join(fixture.base, "policy.json");
      writeFileSync(policy, JSON.stringify(rules));
      const vault = fixture.path("Vault");
      const server = await fixture.serve({
        args: ["--policy", policy, "--allow-read", vault],
      });
      const chance = new Chance(11);
      const before = filesIn(fixture.root);
      for (let i = 0; i < 12; i++)
        for (const path of [".env.local", "Secrets/key.txt", "Secrets/new.txt", "Vault/v.txt"]) {
          const at = spelled(path, chance);
          const answers = [
            await told(server, "write_file", { path: at, content: "x" }),
            await told(server, "edit_file", { path: at, edits: [{ old: "a", new: "b" }] }),
            await told(server, "move_path", { from: at, to: "taken" }),
            await told(server, "delete_path", { path: at, recursive: true }),
          ];
          for (const answer of answers) expect(answer, at).toMatch(/^[a-z_]+: /);
          if (!path.startsWith("Vault")) {
            expect(await told(server, "read_file", { path: at })).not.toContain("canary");
            expect(await told(server, "copy_path", { from: at, to: "copied" })).toMatch(/^[a-z_]+: /);
          }
          expect(filesIn(fixture.root), at).toEqual(before);
        }
    });
  });

/** What a call says, refused or not. */
async function told(server: Server, tool: string, params: object): Promise<string> {
  const { content } = await server.result(tool, params);
  return content.map(item => item.text ?? "").join("\n");
}
