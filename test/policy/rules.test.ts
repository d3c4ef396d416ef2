// Rules over paths: deny wins whatever the order, otherwise the last rule that applies decides.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultRules } from "../../src/engine/policy/default-rules.ts";
import { foldedForms, pathGlobs, problemOf } from "../../src/engine/policy/path-globs.ts";
import { decideAll, Policy } from "../../src/engine/policy/policy.ts";
import {
  type AccessLevel,
  decisionFor,
  narrower,
  type PolicyRule,
  refusingName,
  unrestricted,
} from "../../src/engine/policy/rule.ts";

const about = (rules: readonly PolicyRule[], path: string) =>
  new Policy(rules).decide("/home/me/project", path);

describe("the default rules", () => {
  const policy = new Policy(defaultRules);
  const contents = (path: string) => policy.decide("/p", path).contents;
  it.each([".env", "app/.env", ".env.local", "app/.ENV", "prod.env", "deploy/credentials.json", ".npmrc"])(
    "mask %s",
    path => {
      expect(contents(path)).toBe("masked");
      expect(policy.decide("/p", path).changes).toBe(true);
    },
  );
  it.each(["server.pem", "keys/id_rsa", "id_ed25519", ".ssh/id_work", ".ssh", "a/.gnupg/x/y"])(
    "deny %s",
    path => {
      expect(contents(path)).toBe("none");
    },
  );
  it.each([".env.example", "app/.env.template", "id_rsa.pub", "src/env.ts", "README.md", "", "environment"])(
    "do not apply to %s",
    path => {
      expect(policy.decide("/p", path)).toBe(unrestricted);
    },
  );
});

describe("a rule", () => {
  it("with a slash starts at the served directory; where that is the top, it restricts at any depth and widens from there", () => {
    const rules: PolicyRule[] = [
      { paths: ["conf/*.ini", "!conf/public.ini"], access: "mask" },
      { paths: ["keys/**"], access: "deny" },
      { paths: ["db/**"], ask: ["write"] },
      { paths: ["src/conf/**"], access: "write" },
    ];
    const policy = new Policy(rules);
    expect(about(rules, "sub/conf/a.ini")).toBe(unrestricted);
    for (const top of ["", "C:"]) {
      const at = (path: string) => policy.decide(top, path);
      expect(at("home/me/project/conf/a.ini").contents).toBe("masked");
      expect(at("conf/a.ini").contents).toBe("masked");
      expect(at("home/me/project/conf/public.ini").contents).toBe("full");
      expect(at("home/keys/a/b").contents).toBe("none");
      expect(at("home/me/db/x.sql").ask).toEqual(["write"]);
      expect(at("home/me/src/conf/a.ini").contents).toBe("masked");
      expect(at("src/conf/a.ini").contents).toBe("full");
      expect(at("home/me/other.txt")).toBe(unrestricted);
    }
  });

  it("holds for everything below a directory that it names, and for the directory itself", () => {
    const rules: PolicyRule[] = [{ paths: ["secrets/**"], access: "deny" }];
    expect(["secrets", "secrets/a", "secrets/a/b"].map(path => about(rules, path).contents)).toEqual([
      "none",
      "none",
      "none",
    ]);
    expect(about(rules, "secretsx").contents).toBe("full");
  });
  it("without a slash holds at any depth; with one it is read from the root; with a leading one from the top", () => {
    expect(about([{ paths: ["*.sql"], access: "read" }], "a/b/c.sql").changes).toBe(false);
    expect(about([{ paths: ["migrations/*.sql"], access: "read" }], "a/migrations/c.sql").changes).toBe(true);
    expect(about([{ paths: ["/home/me/project/x"], access: "deny" }], "x/y").contents).toBe("none");
  });
  it("is revoked by ! for what follows it", () => {
    const rules: PolicyRule[] = [{ paths: ["*.env", "!example.env"], access: "deny" }];
    expect(about(rules, "example.env").contents).toBe("full");
    expect(about(rules, "a.env").contents).toBe("none");
  });
  it("denies although a later one allows; otherwise the later one decides", () => {
    const deny: PolicyRule = { paths: ["a"], access: "deny" };
    const read: PolicyRule = { paths: ["**"], access: "read" };
    const write: PolicyRule = { paths: ["a"], access: "write" };
    expect(about([deny, write], "a").contents).toBe("none");
    expect(about([read, write], "a").changes).toBe(true);
    expect(about([write, read], "a").changes).toBe(false);
  });
  it("asks without deciding about access", () => {
    const rules: PolicyRule[] = [
      { paths: ["**"], access: "read" },
      { paths: ["a"], ask: ["delete"] },
    ];
    expect(about(rules, "a")).toMatchObject({ changes: false, ask: ["delete"] });
  });
  it("applies to both Unicode normal forms and to any case", () => {
    const rules: PolicyRule[] = [{ paths: ["Größe"], access: "deny" }];
    expect(about(rules, "größe".normalize("NFD")).contents).toBe("none");
  });
});

it.each([
  ["", "empty"],
  ["!", "empty"],
  ["a[b", "unclosed"],
  ["a/../b", "impossible"],
  ["a//b", "impossible"],
  ["./", "impossible"],
  ["@(a|b)", "group"],
  ["!(a)", "group"],
  ["src/*(a|b)", "group"],
  ["id_{1..3}", "brace_range"],
  ["[z-a]", "backwards_range"],
  ["@\\(a|b)", undefined],
  ["app/(group)/**", undefined],
  ["**/*.key", undefined],
  ["dir/", undefined],
] as const)("the glob %j is %s", (glob, problem) => {
  expect(problemOf(glob)?.is).toBe(problem);
});

const level = fc.constantFrom<AccessLevel>("deny", "mask", "read", "write");
const name = fc.constantFrom("a", "b", ".env", "x.key");
const glob = fc.constantFrom("a", "a/**", "**/b", "*.key", "!a/b", ".env", "**", "!**", "b/a");
const rule = fc.record({ paths: fc.array(glob, { minLength: 1, maxLength: 3 }), access: level });
const rank = { none: 0, masked: 1, full: 2 };

it("a second rule set only restricts, and no order of rules opens what one denies", () => {
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 6 }),
      fc.array(rule, { maxLength: 6 }),
      fc.array(name, { minLength: 1, maxLength: 3 }),
      (one, other, names) => {
        const path = names.join("/");
        const [a, b] = [new Policy(one), new Policy(other)];
        const alone = a.decide("/r", path);
        const both = decideAll([a, b], "/r", path);
        expect(rank[both.contents]).toBeLessThanOrEqual(rank[alone.contents]);
        expect(both.changes && !alone.changes).toBe(false);
        expect(narrower(alone, both)).toMatchObject({ contents: both.contents, changes: both.changes });
        if (alone.contents === "none")
          expect(new Policy([...one].reverse()).decide("/r", path).contents).toBe("none");
      },
    ),
    { numRuns: 2000 },
  );
});

it("a name that a listing may skip the rules for is never denied", () => {
  const globs = fc.constantFrom("*.key", "a*", "secrets/**", "x/y.key", "größe", "**", "!b.key", "{a,b}.pem");
  const names = fc.constantFrom(
    "a.key",
    "b.key",
    "abc",
    "secrets",
    "Y.KEY",
    "größe".normalize("NFD"),
    "\u212aa.\u212aEY",
    "GRÖSSE",
    "b.pem",
    "plain",
  );
  fc.assert(
    fc.property(
      fc.array(globs, { minLength: 1, maxLength: 3 }),
      names,
      fc.constantFrom("", "x/"),
      (paths, name, above) => {
        const policy = new Policy([{ paths, access: "deny" }]);
        const isDenied = policy.decide("/r", above + name).contents === "none";
        const aboveDenied = above !== "" && policy.decide("/r", "x").contents === "none";
        if (isDenied && !aboveDenied) expect(policy.mayHide(name)).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});

it("a path is decided as if every glob of every rule were tried on it, whatever was asked about before", () => {
  const globs = fc.constantFrom(
    ...[
      "*.key",
      "a*",
      ".env.*",
      "!.env.b",
      "x/**",
      "x/y.key",
      "a*/b*",
      "größe*",
      "/r/x/*",
      "*",
      "[a]b",
      "!ab",
    ],
    ...["{a,.env}.b", "**/x/b", "/c*/**", "r", "x*y", "x/y*", "ab/*", "straße"],
  );
  const name = fc.constantFrom(
    "a",
    "ab",
    "b",
    "x",
    "y.key",
    ".env.b",
    ".ENV.a",
    "GRÖSSEN",
    "größer",
    "xzy",
    "strasse",
  );
  const path = fc.array(name, { maxLength: 4 }).map(names => names.join("/"));
  fc.assert(
    fc.property(
      fc.array(fc.record({ paths: fc.array(globs, { minLength: 1, maxLength: 4 }), access: level }), {
        maxLength: 4,
      }),
      fc.constantFrom("/r", "", "C:", "/Größe/a", "/r/x"),
      fc.array(path, { minLength: 1, maxLength: 12 }),
      (rules, root, paths) => {
        const policy = new Policy(rules);
        const decided = paths.map(one => policy.decide(root, one));
        expect(decided).toEqual(paths.map(one => tried(rules, root, one)));
      },
    ),
    { numRuns: 800 },
  );
});

/** The decision without an index, and without anything remembered. */
function tried(rules: readonly PolicyRule[], root: string, path: string) {
  const isTop = root === "" || root === "C:";
  const upwards = (whole: string) => {
    const names = whole.split("/");
    return [...names.keys()].map(i => names.slice(0, names.length - i).join("/")).concat("");
  };
  const [above = ""] = foldedForms(root);
  return foldedForms(path)
    .map(form => {
      const folded = {
        names: form.split("/"),
        relative: () => upwards(form),
        absolute: () => upwards(form === "" ? above : `${above}/${form}`),
      };
      const applying = rules
        .map((rule, i) => ({ ...rule, i }))
        .filter(({ paths, access }) => pathGlobs(paths).match(folded, isTop && access !== "write"));
      const deciding = applying.find(({ access }) => access === "deny") ?? applying.at(-1);
      if (deciding === undefined) return unrestricted;
      return decisionFor(deciding.access ?? "write", [], refusingName(deciding, deciding.i));
    })
    .reduce(narrower);
}
