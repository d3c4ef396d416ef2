// `polyfs policy`: which rule decides about a path, whether the examples of a policy hold, and its schema.
import { resolve } from "node:path";
import { plainWording, say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { overriddenRules } from "../../engine/policy/overridden.ts";
import { Policy } from "../../engine/policy/policy.ts";
import type { AccessLevel, Decision } from "../../engine/policy/rule.ts";
import { readNamedFile } from "../../engine/workspace/system/named-file.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { reachOf } from "../../mcp/auth/reach.ts";
import { createLog } from "../../mcp/log.ts";
import type { Config } from "../config.ts";
import { chooseDialect } from "../dialect.ts";
import { openDirectories } from "../directories.ts";
import { fromHome } from "../layer.ts";
import { choosePolicy, policyOf, sayOverridden } from "../policy/policy-choice.ts";
import { parsePolicy, policySchema } from "../policy/policy-file.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command, directoryOptions, type Given } from "./command.ts";
import { whereTheUserStands } from "./standing.ts";
import { tokensIn } from "./token-values.ts";

export const policy = command({
  name: "policy",
  operands: "explain PATH... | test FILE | schema",
  description:
    "explain prints what the rules allow for a path, and which rule decides, for a server of the same directories (default: the working directory). test runs the examples in a policy file. schema prints the JSON Schema of the file.",
  own: {
    as: {
      value: "TOKEN",
      help: "explain for this token of --tokens, including its own rules",
      with: ["explain"],
    },
    json: { help: "explain: print JSON", with: ["explain"] },
  },
  options: ["dialect", "policy", "tokens", ...directoryOptions],
  examples: [
    ["polyfs policy explain .env src/main.ts", "what an agent may do with these files here"],
    ["polyfs policy test policy.json", "exit with 1 if an example fails"],
  ],
  most: { explain: Number.POSITIVE_INFINITY, test: 1, schema: 0 },
  apart: ["tokens"],
  async run(given) {
    const [verb, ...rest] = given.operands;
    if (verb === "explain") return await explain(given, rest);
    if (verb === "test") return await test(rest[0] ?? given.config.policy);
    await print(process.stdout, `${JSON.stringify(policySchema, undefined, 2)}\n`);
    return 0;
  },
});

async function explain({ config, own }: Given, paths: readonly string[]): Promise<number> {
  if (paths.length === 0) throw new UsageError("name a path; see polyfs policy --help");
  const standing = whereTheUserStands(config);
  const dialect = await chooseDialect(config.dialect);
  const chosen = policyOf(
    { ...standing, "policy-is-advisory": true },
    dialect,
    createLog(config["log-level"]),
  );
  using engine = openDirectories(standing, { withoutRoots: "usage" }, undefined, chosen);
  using narrowed = own.has("as") ? forToken(engine.workspace, own.get("as") ?? "", config) : undefined;
  const workspace = narrowed ?? engine.workspace;
  const found = paths.map(path => {
    try {
      const at = workspace.locate(workspace.at(resolve(fromHome(path))));
      return { path, ...explained(at.root.rules.decide(at.path), at.root.access === "read-only") };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (Fault.is(error, "forbidden"))
        return { path, access: "deny" as const, rule: error.data.rule, ask: [] };
      return { path, problem: say(plainWording, error) };
    }
  });
  if (own.has("json")) await print(process.stdout, `${JSON.stringify(found, undefined, 2)}\n`);
  else await print(process.stdout, `policy: ${chosen.name}\n${found.map(sentence).join("")}`);
  return 0;
}

type Explained = { readonly path: string } & (ReturnType<typeof explained> | { readonly problem: string });

function explained(decision: Decision, isReadOnly: boolean) {
  const { ask, rule } = decision;
  const access = accessOf(decision);
  return { access: isReadOnly && access === "write" ? ("read" as const) : access, rule, ask };
}

function accessOf({ contents, changes }: Decision): AccessLevel {
  if (contents === "none") return "deny";
  if (contents === "masked") return "mask";
  return changes ? "write" : "read";
}

function sentence(one: Explained): string {
  if ("problem" in one) return `${one.path}: ${one.problem}\n`;
  const asks = one.ask.length === 0 ? "" : `; asks before ${one.ask.join(", ")}`;
  return `${one.path}: ${one.access}${one.rule === undefined ? " (no rule)" : ` by ${one.rule}`}${asks}\n`;
}

/** What a token of the file may reach, under its own rules too. The caller disposes of it. */
function forToken(workspace: Workspace, name: string, config: Config): Workspace {
  const file = config.tokens;
  if (file === undefined) throw new UsageError("--as needs --tokens FILE");
  const token = tokensIn(file).find(one => one.name === name);
  if (token === undefined) throw new UsageError(`${file} has no token named ${JSON.stringify(name)}`);
  const { workspace: reach, narrowed } = reachOf(
    workspace,
    token.roots,
    token.effects ?? ["reads", "writes"],
  );
  const rules =
    token.policy === undefined
      ? { current: () => [] }
      : choosePolicy(token.policy, false, process.env, createLog(config["log-level"]));
  const under = reach.under(rules);
  if (narrowed) reach[Symbol.dispose]();
  return under;
}

async function test(file: string | undefined): Promise<number> {
  if (file === undefined) throw new UsageError("name a policy file");
  const parsed = parsePolicy(readNamedFile(resolve(fromHome(file))));
  if ("wrong" in parsed) {
    await print(process.stderr, parsed.wrong.map(one => `${file}: ${one}\n`).join(""));
    return 1;
  }
  const { rules, examples = [] } = parsed.document;
  for (const one of overriddenRules(rules))
    await print(process.stderr, `${file}: warning: ${sayOverridden(one)}\n`);
  const compiled = new Policy(rules);
  const wrong = examples.flatMap(({ path, access }) => {
    const got = accessOf(
      path.startsWith("/") ? compiled.decide("", path.slice(1)) : compiled.decide("/served", path),
    );
    return got === access ? [] : [`${path}: expected ${access}, got ${got}\n`];
  });
  await print(
    process.stdout,
    `${wrong.join("")}${examples.length - wrong.length} of ${examples.length} examples hold\n`,
  );
  return wrong.length === 0 ? 0 : 1;
}
