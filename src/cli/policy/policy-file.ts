// The policy file: a JSON object with rules, and examples that `polyfs policy test` checks. Its schema is published
// as docs/policy.schema.json; what the schema cannot express (a glob that matches nothing) is checked here too.

import { patternProblem } from "../../contract/problems.ts";
import type { Infer, ObjectSchema } from "../../contract/schema.ts";
import { tool } from "../../contract/tool.ts";
import { validate } from "../../contract/validate.ts";
import { sayIssue } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { type GlobProblem, problemOf } from "../../engine/policy/path-globs.ts";
import { parseStrictJson } from "../../host/strict-json.ts";

const paths = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 4096 },
  minItems: 1,
  description:
    "Globs, relative to every served directory; with a leading / matched against the absolute path. ! excludes.",
} as const;

export const policySchema = {
  title: "polyfs policy",
  type: "object",
  properties: {
    $schema: { type: "string" },
    rules: {
      type: "array",
      description: "deny always wins; otherwise the last rule that applies decides.",
      items: {
        type: "object",
        properties: {
          name: { type: "string", maxLength: 200, description: "Shown where the rule refuses something." },
          paths,
          access: {
            type: "string",
            enum: ["deny", "mask", "read", "write"],
            description:
              "deny: invisible. mask: keys without values; values can be replaced. read: read-only. write: no restriction.",
          },
          ask: {
            type: "array",
            items: { type: "string", enum: ["write", "delete", "run"] },
            description: "What needs a person's approval.",
          },
        },
        required: ["paths"],
        additionalProperties: false,
      },
    },
    examples: {
      type: "array",
      description: "Checked by `polyfs policy test`.",
      items: {
        type: "object",
        properties: {
          path: { type: "string", minLength: 1 },
          access: { type: "string", enum: ["deny", "mask", "read", "write"] },
        },
        required: ["path", "access"],
        additionalProperties: false,
      },
    },
  },
  required: ["rules"],
  additionalProperties: false,
} as const satisfies ObjectSchema;

export type PolicyDocument = Infer<typeof policySchema>;

const checker = tool({
  name: "policy",
  title: "",
  description: "",
  input: policySchema,
  effect: "reads",
  run: () => ({ content: [] }),
});

function sayProblem(problem: GlobProblem): string {
  if (problem.is === "impossible") return "can match nothing: a path has no empty, . or .. component";
  return `is not a valid glob: ${patternProblem(problem)}`;
}

/** The rules of a text, or its errors, one sentence each. */
export function parsePolicy(
  text: string,
): { readonly document: PolicyDocument } | { readonly wrong: readonly string[] } {
  let content: unknown;
  try {
    content = parseStrictJson(text);
  } catch (error) {
    return { wrong: [`not JSON (${error instanceof Error ? error.message : error})`] };
  }
  try {
    const document = validate(checker, content) as PolicyDocument;
    const wrong = document.rules.flatMap((rule, i) => wrongWith(rule, `rules[${i}]`));
    return wrong.length > 0 ? { wrong } : { document };
  } catch (error) {
    if (!Fault.is(error, "invalid_params")) throw error;
    return {
      wrong: error.data.issues.map(issue =>
        sayIssue(issue).replace("parameter of this tool", "key of a policy"),
      ),
    };
  }
}

function wrongWith(rule: PolicyDocument["rules"][number], at: string): string[] {
  const globs = rule.paths.flatMap((glob, i) => {
    const problem = problemOf(glob);
    return problem === undefined ? [] : [`${at}.paths[${i}] ${JSON.stringify(glob)} ${sayProblem(problem)}`];
  });
  if (rule.paths.every(glob => glob.startsWith("!")))
    globs.push(`${at}.paths only excludes: nothing matches`);
  if (rule.access === undefined && rule.ask === undefined) globs.push(`${at} has neither access nor ask`);
  return globs;
}
