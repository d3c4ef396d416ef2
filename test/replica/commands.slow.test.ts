// Commands in a replica while the store fails or another server writes: the answer has the output, says that the command
// ran, and says what did not reach the other replicas.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { ServedTree } from "../dialects/served-tree.ts";

const patience = { timeout: 60_000, interval: 100 };

/** Two servers of one workspace in a store. The first one serves the tree. */
async function replicas(tree: ServedTree) {
  const store = join(tree.base, "store");
  mkdirSync(store);
  const serve = async (root: string, state: string) => {
    const args = ["--store", store, "--store-workspace", "w", "--state-dir", join(tree.base, state)];
    const wire = await tree.start({ roots: [root], args: [...args, "--allow-run=unsandboxed"] });
    await wire.initialize();
    return wire;
  };
  return {
    store,
    here: await serve(tree.root, "state-1"),
    there: await serve(tree.directory("other"), "state-2"),
  };
}

it.each([
  ["polyfs", "run_command"],
  ["replay", "execute_command"],
  ["agent-tools", "bash"],
])("%s: %s says that the command ran, and others get its changes later", async (dialect, tool) => {
  await using tree = new ServedTree(dialect, { "kept.txt": "kept\n", "gone.txt": "gone\n" });
  const { store, here, there } = await replicas(tree);
  const run = async (wire: typeof here, command: string) => {
    const { content, isError } = await wire.call(tool, { command });
    return { isError: isError ?? false, said: JSON.stringify(content) };
  };

  // A file in its place: nothing can be read or written there.
  const cut = `mv '${store}' '${store}.away'; : > '${store}'`;
  const { isError, said } = await run(here, `rm gone.txt; echo once >> made.txt; ${cut}; echo its-output`);
  expect(isError, said).toBe(true);
  expect(said).toContain("its-output");
  expect(said).toContain("do not repeat a command that has run");
  expect(said).not.toContain("Nothing was changed");
  expect(tree.read("made.txt")).toBe("once\n");
  if (dialect === "polyfs")
    expect(JSON.stringify(await here.call("list_changes", {}))).toContain("A made.txt");

  rmSync(store);
  renameSync(`${store}.away`, store);
  await vi.waitFor(async () => {
    expect((await run(here, "true")).isError).toBe(false);
    const { said } = await run(there, "cat made.txt; ls");
    expect(said.match(/once|gone\.txt/g)).toEqual(["once"]);
  }, patience);
});

it("says that the command's lines were replaced by those that another server wrote in the same place", async () => {
  await using tree = new ServedTree("polyfs", { "log.txt": "begun\n" });
  const { here, there } = await replicas(tree);
  const [wrote, go] = [join(tree.base, "wrote"), join(tree.base, "go")];
  const running = here.call("run_command", {
    command: `echo mine >> log.txt; : > '${wrote}'; until [ -e '${go}' ]; do sleep 0.05; done; echo its-output`,
  });
  await vi.waitFor(() => expect(existsSync(wrote)).toBe(true), patience);
  const appended = await there.call("write_file", { path: "log.txt", content: "theirs\n", mode: "append" });
  expect(appended.isError ?? false, JSON.stringify(appended.content)).toBe(false);
  writeFileSync(go, "");
  const { content, isError } = await running;
  const said = JSON.stringify(content);
  expect(isError, said).toBe(true);
  expect(said).toContain("its-output");
  expect(said).toMatch(/in the same place.*log\.txt/);
  expect(tree.read("log.txt")).toBe("begun\ntheirs\n");
  expect((await here.call("run_command", { command: "true" })).isError ?? false).toBe(false);
});
