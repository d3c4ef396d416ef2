// Two forks by hard links of a tree with a directory that its owner may not write to. Argument: an empty directory.
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Workspaces } from "../../src/engine/workspaces/workspaces.ts";

const [, , top = ""] = process.argv;
const base = join(top, "base");
for (const name of ["closed", "later"]) {
  mkdirSync(join(base, name), { recursive: true });
  writeFileSync(join(base, name, "file"), "old");
}
chmodSync(join(base, "closed"), 0o555);
const workspaces = new Workspaces({
  directory: join(top, "all"),
  store: path => new DirectoryStore(path),
  method: "link",
});
await workspaces.adopt("main", base, "me");
const one = await workspaces.fork("one", "main", "me");
const other = await workspaces.fork("other", "main", "me");
chmodSync(join(one.root, "later"), 0o555);

const workspace = Workspace.open([{ path: one.root, access: "read-write" }], { state: join(top, "state") });
const write = (path: string) =>
  workspace.commit([{ kind: "write", path: workspace.at(path), bytes: Buffer.from("new") }]).then(
    ({ files }) => files[0]?.effect,
    error => error.code,
  );
const wrote = { closed: await write("closed/file"), later: await write("later/file") };
const read = ({ root }: { root: string }) =>
  ["closed", "later"].map(name => readFileSync(join(root, name, "file"), "utf8"));
const contents = { one: read(one), other: read(other) };
await workspaces.readyForCommands(one);
const links = ["closed/file", "later/file"].map(name => statSync(join(one.root, name)).nlink);
const modes = ["closed", "later"].map(name => (statSync(join(one.root, name)).mode & 0o777).toString(8));
writeSync(1, JSON.stringify({ wrote, contents, links, modes }));
process.exit();
