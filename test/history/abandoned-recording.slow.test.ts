// A command is recorded while no other one is. Servers in different PID namespaces cannot see each other's processes:
// what one of them holds counts while its heartbeat is fresh, and not after it died.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { announceCommand, announceSandbox } from "../../src/engine/workspace/footprint/running-commands.ts";
import { claim } from "../../src/engine/workspace/system/claim.ts";

const elsewhere = "1-7-100-0123456789ab"; // of another PID namespace
const hourAgo = new Date(Date.now() - 3_600_000);

let state: string;
let lock: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "polyfs-recording-"));
  mkdirSync(join(state, "commands"));
  lock = join(state, "commands", "recording");
});
afterEach(() => rmSync(state, { recursive: true }));

it.each([
  ["of a server that died in another PID namespace", elsewhere],
  ["of a server that died before it had written its name", ""],
])("the lock %s goes to the next command", async (_, owner) => {
  writeFileSync(lock, owner);
  utimesSync(lock, hourAgo, hourAgo);
  const command = announceCommand(state, ["/root"], "one");
  await command.recordAlone();
  const [name] = readdirSync(join(state, "commands")).filter(one => one !== "recording");
  expect(readFileSync(lock, "utf8")).toBe(name);
  command[Symbol.dispose]();
  expect(readdirSync(join(state, "commands"))).toEqual([]);
});

it("the lock of a server that lives in another PID namespace stays, also when the next command ends", async () => {
  writeFileSync(lock, elsewhere);
  const command = announceCommand(state, ["/root"], "one");
  await command.recordAlone(); // gives up
  command[Symbol.dispose]();
  expect(readFileSync(lock, "utf8")).toBe(elsewhere);
});

it("a command that has lost the lock leaves it to its new owner", async () => {
  const command = announceCommand(state, ["/root"], "one");
  await command.recordAlone();
  writeFileSync(lock, elsewhere);
  command[Symbol.dispose]();
  expect(readFileSync(lock, "utf8")).toBe(elsewhere);
});

it("a running command, its lock, a sandbox and a claim are kept fresh", async () => {
  mkdirSync(join(state, "sandboxes"));
  using command = announceCommand(state, ["/root"], "one");
  using _sandbox = announceSandbox(join(state, "sandboxes"), { roots: ["/root"], shown: [] });
  mkdirSync(join(state, "claims"));
  using _claim = claim(join(state, "claims"), "replica");
  await command.recordAlone();
  const files = ["commands", "sandboxes", "claims"].flatMap(folder =>
    readdirSync(join(state, folder)).map(name => join(state, folder, name)),
  );
  expect(files).toHaveLength(4);
  for (const file of files) utimesSync(file, hourAgo, hourAgo);
  const times = () => files.map(file => statSync(file).mtimeMs > Date.now() - 60_000);
  await expect.poll(times, { timeout: 60_000, interval: 200 }).toEqual([true, true, true, true]);
}, 90_000);
