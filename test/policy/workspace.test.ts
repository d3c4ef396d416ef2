// Rules bind where paths are opened and where changes are made, so every tool has them.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { defaultRules } from "../../src/engine/policy/default-rules.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { PolicyRule } from "../../src/engine/policy/rule.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-rules-"));
  root = join(base, "root");
  mkdirSync(join(root, "secrets/deep"), { recursive: true });
  mkdirSync(join(root, "app"));
  writeFileSync(join(root, ".env"), "TOKEN=hunter2\n# note\nPORT=80\n");
  writeFileSync(join(root, "secrets/deep/key"), "CANARY");
  writeFileSync(join(root, "app/a.txt"), "A");
  writeFileSync(join(root, "app/server.pem"), "CANARY");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open(
  rules: readonly PolicyRule[] = [...defaultRules, { paths: ["secrets/**"], access: "deny" }],
): Workspace {
  const policies = [new Policy(rules)];
  return Workspace.open([{ path: root, access: "read-write" }], {
    state: join(base, "state"),
    rules: { current: () => policies },
  });
}

async function read(workspace: Workspace, path: string): Promise<string> {
  using file = workspace.file(workspace.at(path));
  return (await file.bytes(10_000)).toString();
}

async function codeOf(action: () => unknown): Promise<string | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    return error instanceof Fault ? error.code : String(error);
  }
}

const edit = (workspace: Workspace, path: string, from: string, to: string) =>
  workspace.edit(workspace.at(path), bytes => Buffer.from(bytes.toString().replace(from, to)), {
    by: { action: "test", client: "me" },
  });

describe("a directory that is moved or copied", () => {
  const rules: readonly PolicyRule[] = [
    { paths: ["**/flows/*.yml"], access: "read" },
    { paths: ["**/vault/*.txt"], access: "deny" },
    { paths: ["**/migrations/*.sql"], ask: ["write"] },
    { paths: ["**/conf/*.ini"], access: "mask" },
  ];
  it.each([
    ["flows/new.yml", "forbidden"],
    ["vault/new.txt", "forbidden"],
    ["migrations/new.sql", "approval_needed"],
    ["conf/new.ini", undefined],
  ] as const)("brings no file to where it could not be written: %s", async (path, code) => {
    using workspace = open(rules);
    const at = (name: string) => workspace.at(name);
    const [directory = "", name = ""] = path.split("/");
    const bytes = Buffer.from("new");
    const commit = (change: Change) => codeOf(() => workspace.commit([change], { parents: true }));
    expect(await commit({ kind: "write", path: at(path), bytes })).toBe(code);
    rmSync(join(root, directory), { recursive: true, force: true });
    for (const depth of ["", "a/b/"])
      for (const kind of ["copy", "move"] as const) {
        const staged = depth === "" ? "staged" : `staged/${depth.slice(0, -1)}/other`;
        expect(await commit({ kind: "write", path: at(`${staged}/${name}`), bytes })).toBeUndefined();
        const to = depth === "" ? directory : `moved/${directory}`;
        expect(await commit({ kind, from: at(staged), to: at(to) }), `${kind} to ${to}`).toBe(code);
        expect(existsSync(join(root, to, name))).toBe(code === undefined);
        rmSync(join(root, to), { recursive: true, force: true });
        rmSync(join(root, "staged"), { recursive: true, force: true });
      }
  });
});

describe("a path that a rule denies", () => {
  it("cannot be read, listed, probed, or reached by a link", async () => {
    symlinkSync("secrets/deep/key", join(root, "link"));
    using workspace = open();
    for (const path of ["secrets/deep/key", "link", "app/server.pem", "secrets/none"])
      expect(await codeOf(() => read(workspace, path)), path).toBe("forbidden");
    for (const path of ["secrets", "secrets/deep"])
      expect(await codeOf(() => workspace.directory(workspace.at(path)).close()), path).toBe("forbidden");
    expect(await codeOf(() => workspace.stat(workspace.at("secrets/deep/key")))).toBe("forbidden");
  });
  it("is refused in the same way whatever is there, and by whatever path", async () => {
    const paths = ["secrets/deep/key", "secrets/deep/none", "secrets/key/x", "secrets/loop", "secrets/out"];
    const links = {
      straight: "secrets/deep/key",
      through: "secrets/deep/key/x",
      inner: "secrets/loop",
      dangling: "secrets/deep/none",
      back: "secrets/deep/../../app/a.txt",
      chain: "straight",
      absolute: join(root, "secrets/deep/key"),
      above: "app/../secrets/deep",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
    const all = [...paths, ...Object.keys(links), "straight/x", "above/key", "above/key/x", "dangling/x"];
    const answers = async () => {
      using workspace = open();
      const found: Record<string, unknown> = {};
      for (const path of all) {
        const at = workspace.at(path);
        found[path] = [
          await codeOf(() => read(workspace, path)),
          await codeOf(() => workspace.directory(at).close()),
          await codeOf(() => workspace.stat(at)),
          await codeOf(() => workspace.commit([{ kind: "write", path: at, bytes: Buffer.from("x") }])),
          await codeOf(() =>
            workspace.commit(
              [{ kind: "write", path: workspace.at(`${path}/new`), bytes: Buffer.from("x") }],
              {
                parents: true,
              },
            ),
          ),
        ];
      }
      return found;
    };
    symlinkSync("loop", join(root, "secrets/loop"));
    symlinkSync("/etc", join(root, "secrets/out"));
    writeFileSync(join(root, "secrets/key"), "CANARY");
    const full = await answers();
    rmSync(join(root, "secrets"), { recursive: true });
    expect(await answers()).toEqual(full);
    expect(
      Object.values(full)
        .flat()
        .filter(code => code !== "forbidden"),
    ).toEqual([]);
  });
  it("is not named by the refusal of something else that the same rule denies", async () => {
    using workspace = open([{ paths: ["secrets/**", "app/midnight.txt"], access: "deny" }]);
    const refused = await read(workspace, "secrets/deep/key").catch((error: unknown) => error);
    expect(JSON.stringify((refused as Fault).data)).toContain("rule 1");
    expect(JSON.stringify((refused as Fault).data)).not.toContain("midnight");
  });
  it("is not named by the refusal to undo a change from before the rule", async () => {
    const ids: string[] = [];
    {
      using before = open([]);
      const at = (path: string) => before.at(path);
      const write = (path: string, text: string): Change => ({
        kind: "write",
        path: at(path),
        bytes: Buffer.from(text),
      });
      for (const change of [
        write("secrets/midnight", "1"),
        write("secrets/midnight", "2"),
        { kind: "move", from: at("secrets/midnight"), to: at("app/moved") },
        { kind: "move", from: at("app/moved"), to: at("secrets/midnight") },
        write("tree/in/midnight.pem", "3"),
        { kind: "copy", from: at("tree"), to: at("copy") },
        { kind: "remove", path: at("tree"), recursive: true },
        { kind: "remove", path: at("secrets/midnight") },
      ] satisfies Change[])
        ids.push((await before.commit([change], { parents: true })).id);
    }
    using workspace = open();
    let refused = 0;
    for (const change of ids)
      for (const dryRun of [true, false])
        await undo(workspace, { change, dryRun }).catch((error: unknown) => {
          expect(error).toBeInstanceOf(Fault);
          expect(JSON.stringify((error as Fault).data)).not.toContain("midnight");
          refused++;
        });
    expect(refused).toBeGreaterThan(10);
  });
  it("cannot be written, removed, moved, or taken along with its directory", async () => {
    using workspace = open();
    const at = (path: string) => workspace.at(path);
    const write = { kind: "write", path: at("secrets/deep/new"), bytes: Buffer.from("x") } as const;
    expect(await codeOf(() => workspace.commit([write], { parents: true }))).toBe("forbidden");
    expect(await codeOf(() => workspace.commit([{ kind: "remove", path: at("app"), recursive: true }]))).toBe(
      "forbidden",
    );
    expect(await codeOf(() => workspace.commit([{ kind: "move", from: at("app"), to: at("b") }]))).toBe(
      "forbidden",
    );
    expect(await codeOf(() => workspace.commit([{ kind: "copy", from: at("app"), to: at("b") }]))).toBe(
      "forbidden",
    );
    expect(existsSync(join(root, "app/server.pem"))).toBe(true);
  });
  it("is the same for a view of a part of the workspace", async () => {
    using workspace = open([{ paths: ["secrets/deep/**"], access: "deny" }]);
    using part = workspace.within(workspace.at("secrets"));
    expect(await codeOf(() => read(part, "deep/key"))).toBe("forbidden");
  });
});

it("what a rule protects can be read and not changed", async () => {
  using workspace = open([{ paths: ["app/**"], access: "read" }]);
  expect(await read(workspace, "app/a.txt")).toBe("A");
  expect(await codeOf(() => edit(workspace, "app/a.txt", "A", "B"))).toBe("forbidden");
  expect(
    await codeOf(() => workspace.commit([{ kind: "remove", path: workspace.at("app"), recursive: true }])),
  ).toBe("forbidden");
  expect(readFileSync(join(root, "app/a.txt"), "utf8")).toBe("A");
});

describe("a masked file", () => {
  it("shows its keys and no value", async () => {
    using workspace = open();
    expect(await read(workspace, ".env")).toBe("TOKEN=••••\n# note\nPORT=••••\n");
  });
  it("can be edited without being seen, and the edit can be undone to the byte", async () => {
    using workspace = open();
    const commit = await edit(workspace, ".env", "# note\n", "# note\nNEW=1\n");
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("TOKEN=hunter2\n# note\nNEW=1\nPORT=80\n");
    const [file] = commit.files;
    expect((await file?.after?.bytes())?.toString()).not.toContain("hunter2");
    await edit(workspace, ".env", "TOKEN=••••", "TOKEN=changed");
    expect(readFileSync(join(root, ".env"), "utf8")).toContain("TOKEN=changed\n");
    const undone = await undo(workspace, {});
    expect(JSON.stringify(undone.restored.map(one => [String(one.before), String(one.after)]))).not.toMatch(
      /hunter2|changed/,
    );
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("TOKEN=hunter2\n# note\nNEW=1\nPORT=80\n");
    await workspace.settled();
  });
  it("can be overwritten with placeholders, which keep their values", async () => {
    using workspace = open();
    await workspace.commit([
      { kind: "write", path: workspace.at(".env"), bytes: Buffer.from("PORT=••••\nTOKEN=••••\n") },
    ]);
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("PORT=80\nTOKEN=hunter2\n");
  });
  it("cannot be copied or moved to where it would be seen", async () => {
    using workspace = open();
    const at = (path: string) => workspace.at(path);
    expect(
      await codeOf(() => workspace.commit([{ kind: "copy", from: at(".env"), to: at("env.txt") }])),
    ).toBe("forbidden");
    expect(
      await codeOf(() => workspace.commit([{ kind: "move", from: at(".env"), to: at("env.txt") }])),
    ).toBe("forbidden");
    expect(await codeOf(() => edit(workspace, ".env", "# note", "X=••••"))).toBe("forbidden");
    await workspace.commit([{ kind: "copy", from: at(".env"), to: at(".env.backup") }]);
    expect(await read(workspace, ".env.backup")).not.toContain("hunter2");
  });
  it.each([
    [".env", ".netrc"],
    [".env", "_netrc"],
    [".env", ".git-credentials"],
    [".env", ".pgpass"],
    [".env", ".htpasswd"],
    [".env", ".kube/config"],
    [".npmrc", "credentials.json"],
    [".npmrc", "secrets.json"],
    [".npmrc", ".dockercfg"],
    ["own/app.env", "own/notes"],
    ["own/.kube", "own/kube"],
  ])("%s shows no value under the name %s, or cannot be moved there", async (from, to) => {
    mkdirSync(join(root, "own/.kube"), { recursive: true });
    mkdirSync(join(root, ".kube"));
    const secret = "//r.example/:_authToken=hunter2\nTOKEN=hunter2\nclosing: /*\nPASS: hunter2\n";
    for (const name of [".env", ".npmrc", "own/app.env", "own/.kube/config"])
      writeFileSync(join(root, name), secret);
    using workspace = open([...defaultRules, { paths: ["own/**"], access: "mask" }]);
    const at = (path: string) => workspace.at(path);
    const bytes = Buffer.from("TOKEN=••••\n# new\n");
    const changes: Change[] = [
      { kind: "move", from: at(from), to: at(to) },
      { kind: "copy", from: at(from), to: at(to) },
      ...(from === "own/.kube" ? [] : [{ kind: "move", from: at(from), to: at(to), bytes } as const]),
    ];
    for (const change of changes) {
      const code = await codeOf(() => workspace.commit([change]));
      if (code === undefined) {
        expect(await read(workspace, to)).not.toContain("hunter2");
        await undo(workspace, {});
      } else expect(code).toBe("forbidden");
      expect(existsSync(join(root, from))).toBe(true);
    }
    await workspace.settled();
  });
  it("cannot be moved to a name whose mask would show a value", async () => {
    writeFileSync(join(root, ".npmrc"), "a=/* hunter2\n");
    using workspace = open();
    const at = (path: string) => workspace.at(path);
    for (const kind of ["move", "copy"] as const)
      expect(
        await codeOf(() => workspace.commit([{ kind, from: at(".npmrc"), to: at("secrets.json") }])),
      ).toBe("forbidden");
    const bytes = Buffer.from("b=1\na=••••\n");
    expect(
      await codeOf(() =>
        workspace.commit([{ kind: "move", from: at(".npmrc"), to: at("secrets.json"), bytes }]),
      ),
    ).toBe("forbidden");
  });
  it("can be moved to a name whose mask hides as much of it, and undo moves it back", async () => {
    writeFileSync(join(root, ".netrc"), "machine a login b password hunter2\n");
    using workspace = open();
    const at = (path: string) => workspace.at(path);
    await workspace.commit([{ kind: "move", from: at(".netrc"), to: at(".env.netrc") }]);
    expect(await read(workspace, ".env.netrc")).not.toContain("hunter2");
    await undo(workspace, {});
    expect(await read(workspace, ".netrc")).toBe("machine a login b password ••••\n");
    await workspace.settled();
  });
  it("reveals no value where an undo puts it into another context", async () => {
    writeFileSync(join(root, ".netrc"), "machine a\npassword\n\n\nhunter2\n");
    using workspace = open();
    const write = (text: string) =>
      workspace.commit([{ kind: "write", path: workspace.at(".netrc"), bytes: Buffer.from(text) }]);
    const { id } = await write("machine a\npassword\n\n\ndummy\n");
    await write("machine a\nlogin\n\n\ndummy\n");
    for (const dryRun of [true, false])
      expect(await codeOf(() => undo(workspace, { change: id, dryRun }))).toBe("stale");
    expect(readFileSync(join(root, ".netrc"), "utf8")).not.toContain("hunter2");
    await workspace.settled();
  });
  it.each([
    ["app/a.txt", ".env"],
    ["app/.env", "secrets.json"],
  ])(
    "reveals no value by the undo of a move from %s over %s that it was written into later",
    async (from, over) => {
      writeFileSync(join(root, from), "A=1\n");
      writeFileSync(join(root, over), "{}\n");
      using workspace = open();
      const at = (path: string) => workspace.at(path);
      const { id } = await workspace.commit([
        { kind: "move", from: at(from), to: at(over), overwrite: true },
      ]);
      const later = over === ".env" ? "TOKEN=hunter2\n" : '{\n"a": [\n# hunter2\n]}\n';
      writeFileSync(join(root, over), later);
      expect(await codeOf(() => undo(workspace, { change: id }))).toBe("forbidden");
      expect(readFileSync(join(root, over), "utf8")).toBe(later);
      await workspace.settled();
    },
  );
  it("can be moved back by undo after an edit that is hidden there too", async () => {
    writeFileSync(join(root, "app/.env"), "A=1\n");
    using workspace = open();
    const [from, to] = [workspace.at("app/.env"), workspace.at("app/.npmrc")];
    await workspace.commit([{ kind: "move", from, to }]);
    writeFileSync(join(root, "app/.npmrc"), "A=hunter2\n");
    await undo(workspace, {});
    expect(await read(workspace, "app/.env")).toBe("A=••••\n");
    await workspace.settled();
  });
  it("in a format or an encoding that hides ASCII from the mask is not shown, under any name", async () => {
    const workspace = open([{ paths: ["app/**"], access: "mask" }]);
    const text = "password=hunter2\n";
    const encoded = {
      "utf-16le": Buffer.from(`\ufeff${text}`, "utf16le"),
      "utf-16be": Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
      "utf-16le without a mark": Buffer.from(text, "utf16le"),
      "utf-32le": Buffer.from(Uint32Array.from(`\ufeff${text}`, one => one.charCodeAt(0)).buffer),
      "zeros far behind": Buffer.from(`${"a\n".repeat(9000)}\0${text}`),
      "compressed, without zeros": deflateRawSync(text).filter(byte => byte > 0),
      "a PDF in ASCII": Buffer.from("%PDF-1.4\n4 0 obj<<>>stream\n(passw) Tj (ord: hunter2) Tj\nendstream\n"),
    };
    for (const name of ["notes.txt", "a.py", "b.env", "c.json", "d.yaml", "e.toml", ".netrc", ".pgpass"])
      for (const [encoding, bytes] of Object.entries(encoded)) {
        writeFileSync(join(root, "app", name), bytes);
        expect([name, encoding, await codeOf(() => read(workspace, `app/${name}`))]).toEqual([
          name,
          encoding,
          "forbidden",
        ]);
      }
  });

  it("in a legacy encoding keeps its bytes", async () => {
    writeFileSync(join(root, ".env"), Buffer.from("A=gr\xf6\xdfe\n# caf\xe9\n", "latin1"));
    using workspace = open();
    expect(await read(workspace, ".env")).toBe("A=••••\n# café\n");
    await edit(workspace, ".env", "# café", "B=2\n# café");
    expect(readFileSync(join(root, ".env"))).toEqual(
      Buffer.from("A=gr\xf6\xdfe\nB=2\n# caf\xe9\n", "latin1"),
    );
  });
});
