// `polyfs grant`, `polyfs grants` and `polyfs revoke`: temporary approvals of what the policy asks about.
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { AskedAction } from "../../engine/policy/rule.ts";
import { canonicalPath, makeDirectoryFor } from "../../engine/workspace/system/named-file.ts";
import { claimFile } from "../claimed-file.ts";
import { listed } from "../columns.ts";
import { fromHome } from "../layer.ts";
import { grantsFile } from "../policy/configuration.ts";
import { type NamedGrant, readGrants, writeGrants } from "../policy/grants-file.ts";
import { print } from "../print.ts";
import { visibleName } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { command } from "./command.ts";

const questions: readonly AskedAction[] = ["write", "delete", "run"];
const units: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const grant = command({
  name: "grant",
  operands: "PATH",
  description:
    "Allows what the policy asks about, for PATH and everything below it. What a rule denies or masks stays so: polyfs policy explain PATH shows the rule. Running servers apply the grant immediately; it expires after the given time.",
  own: {
    write: { help: "Allow changes (the default)" },
    delete: { help: "Allow deletion" },
    run: { help: "Allow commands that are started there" },
    for: { value: "TIME", help: "How long: 30m, 1h, 2d (default 1h)" },
    to: { value: "CLIENT", help: "Only for this client or token; default: all clients" },
  },
  options: [],
  examples: [
    ["polyfs grant migrations --write --for 1h", "let agents write migrations without asking, for an hour"],
    ["polyfs grant ~/project --delete --for 30m --to alice", "only for the token alice"],
  ],
  most: 1,
  async run({ operands: [path], own }) {
    if (path === undefined) throw new UsageError("name a path; see polyfs grant --help");
    const expires = Date.now() + durationOf(own.get("for") ?? "1h");
    const at = canonicalPath(resolve(fromHome(path)));
    const named = questions.filter(question => own.has(question));
    const fresh = (named.length > 0 ? named : (["write"] as const)).map(question => ({
      id: randomBytes(4).toString("hex"),
      at,
      question,
      client: own.get("to"),
      expires,
    }));
    const file = grantsFile(process.env);
    makeDirectoryFor(file);
    using _ = await claimFile(file);
    writeGrants(file, [...readGrants(file), ...fresh]);
    await print(process.stdout, fresh.map(line).join(""));
    return 0;
  },
});

export const grants = command({
  name: "grants",
  operands: "",
  description: "Lists the current grants, with the names for polyfs revoke.",
  own: { json: { help: "Print JSON" } },
  options: [],
  examples: [["polyfs grants", "list grants, with client and expiry"]],
  most: 0,
  async run({ own }) {
    const now = Date.now();
    const current = readGrants(grantsFile(process.env)).filter(
      ({ expires }) => expires === undefined || expires > now,
    );
    if (own.has("json")) await print(process.stdout, `${JSON.stringify(current, undefined, 2)}\n`);
    else
      await print(process.stdout, current.length === 0 ? "nothing is granted\n" : current.map(line).join(""));
    return 0;
  },
});

export const revoke = command({
  name: "revoke",
  operands: "ID | PATH",
  description: "Revokes grants: the one with this name, or all for this path.",
  own: { all: { help: "Revoke all of them" } },
  options: [],
  examples: [["polyfs revoke 3f9a1c2b", "revoke one grant"]],
  most: 1,
  async run({ operands: [which], own }) {
    if ((which === undefined) !== own.has("all"))
      throw new UsageError("name either a grant or a path, or give --all");
    const file = grantsFile(process.env);
    using _ = await claimFile(file);
    const before = readGrants(file);
    const at = which === undefined ? undefined : canonicalPath(resolve(fromHome(which)));
    const after = own.has("all") ? [] : before.filter(one => one.id !== which && one.at !== at);
    if (after.length === before.length)
      throw new UsageError(`there is no grant ${which ?? ""}; polyfs grants lists them`);
    writeGrants(file, after);
    for (const one of before.filter(one => !after.includes(one)))
      await print(process.stdout, `revoked ${line(one)}`);
    return 0;
  },
});

function durationOf(text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === undefined || Number(count) === 0)
    throw new UsageError(`--for needs a time such as 30m, 1h or 2d, not ${JSON.stringify(text)}`);
  return Number(count) * (units[unit] ?? 0);
}

function line({ id, at, question, client, expires }: NamedGrant): string {
  const until = expires === undefined ? "" : `until ${new Date(expires).toISOString()}`;
  return listed([
    [
      id,
      [question, visibleName(at), client === undefined ? "for all clients" : `for ${client}`, until].join(
        "  ",
      ),
    ],
  ]);
}
