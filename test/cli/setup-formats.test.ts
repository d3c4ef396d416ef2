// A configuration belongs to its owner: whatever odd text it is, putting a server in changes that server only, taking
// it out again leaves nothing, and what cannot be edited safely is refused. Parsers that others wrote are the judges.
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonFormat } from "../../src/cli/setup/json-format.ts";
import { tomlFormat } from "../../src/cli/setup/toml-format.ts";
import { Unfit } from "../../src/cli/setup/unfit.ts";
import { yamlFormat } from "../../src/cli/setup/yaml-format.ts";

// They come with a development dependency.
const judges = createRequire(createRequire(import.meta.url).resolve("knip"));
const readToml: (text: string) => Record<string, unknown> = judges("smol-toml").parse;
const readYaml: (text: string) => Record<string, unknown> = judges("yaml").parse;

const entry = { command: "/usr/bin/node", args: ["/opt/polyfs.js", "--read-only", '/home/me/my "project"'] };
const loose = { comments: true, trailingCommas: true };
const strict = { comments: false, trailingCommas: false };

describe("JSON", () => {
  const format = jsonFormat("mcpServers", loose);

  it("keeps comments, order, indentation and trailing commas", () => {
    const text = `// mine
{
\t"theme": "dark", // not light
\t"mcpServers": {
\t\t/* the old one */
\t\t"files": { "command": "x" }, // keep
\t},
\t"zoom": 1.50,
}
`;
    const edited = format.put(text, "polyfs", { command: "node", args: ["a"] });
    expect(edited).toBe(`// mine
{
\t"theme": "dark", // not light
\t"mcpServers": {
\t\t/* the old one */
\t\t"files": { "command": "x" }, // keep
\t\t"polyfs": {
\t\t\t"command": "node",
\t\t\t"args": [
\t\t\t\t"a"
\t\t\t]
\t\t},
\t},
\t"zoom": 1.50,
}
`);
    expect(format.remove(edited, "polyfs")).toBe(text);
  });

  it("puts the comma before a comment, and the new member after it", () => {
    const text = `{\n  "mcpServers": {\n    "files": {} // keep\n  }\n}`;
    const edited = format.put(text, "polyfs", { command: "n" });
    expect(edited).toBe(
      `{\n  "mcpServers": {\n    "files": {}, // keep\n    "polyfs": {\n      "command": "n"\n    }\n  }\n}`,
    );
    expect(format.remove(edited, "polyfs")).toBe(text);
  });

  it("writes a new file, fills an empty object, and stays on one line where the owner does", () => {
    expect(JSON.parse(format.put("", "polyfs", entry))).toEqual({ mcpServers: { polyfs: entry } });
    expect(JSON.parse(format.put("{}", "polyfs", entry))).toEqual({ mcpServers: { polyfs: entry } });
    expect(format.put('{"a":1}', "polyfs", { command: "n" })).toBe(
      '{"a":1,"mcpServers":{"polyfs":{"command":"n"}}}',
    );
  });

  it("updates an existing server, and keeps what the user added to it", () => {
    const text = `{ "mcpServers": { "polyfs": { "env": { "A": "1" }, "command": "old", "args": [] } } }`;
    expect(format.put(text, "polyfs", { command: "new", args: [] })).toBe(text.replace("old", "new"));
  });

  it("ends lines as the file does", () => {
    const edited = format.put('{\r\n  "a": 1\r\n}\r\n', "polyfs", entry);
    expect(edited.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  it.each([
    ["not JSON", "{ oops }"],
    ["cut off", '{"mcpServers": {'],
    ["a list", "[]"],
    ["servers that are not an object", '{"mcpServers": []}'],
    ["a server that is not an object", '{"mcpServers": {"polyfs": "x"}}'],
    ["text after the end", "{} {}"],
    ["nested without end", "[".repeat(5000)],
    ["an invalid number", '{"a": 01}'],
  ])("refuses %s", (_, text) => {
    expect(() => format.put(text, "polyfs", entry)).toThrow(Unfit);
  });

  it("refuses comments and trailing commas where the client does not accept them", () => {
    for (const text of ['{"a": 1,}', '{"a": [1,]}', "{} // c", "/* c */ {}"])
      expect(() => jsonFormat("mcpServers", strict).put(text, "polyfs", entry)).toThrow(Unfit);
  });

  /** JSON as people and programs write it: blanks, comments and trailing commas anywhere. */
  const gap = fc.constantFrom(
    "",
    " ",
    "\n",
    "\r\n  ",
    "\t",
    ' // c "{\n',
    "/* } , */",
    "\n  /* a\n b */\n",
    "//,\n",
  );
  const key = fc.oneof(
    fc.constantFrom("mcpServers", "polyfs", "command", "args", "__proto__", "", "a//b", 'é\\"}'),
    fc.string({ maxLength: 5 }),
  );
  const { odd } = fc.letrec<{ odd: string; object: string; scalar: string }>(tie => ({
    scalar: fc
      .oneof(
        fc.string({ maxLength: 6 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constant(null),
        fc.boolean(),
      )
      .map(value => JSON.stringify(value)),
    object: fc
      .tuple(fc.array(fc.tuple(gap, key, gap, gap, tie("odd"), gap), { maxLength: 4 }), fc.boolean(), gap)
      .map(([members, trailing, end]) => {
        const texts = members.map(([a, k, b, c, v, d]) => `${a}${JSON.stringify(k)}${b}:${c}${v}${d}`);
        return `{${texts.join(",")}${trailing && texts.length > 0 ? "," : ""}${end}}`;
      }),
    odd: fc.oneof(
      { maxDepth: 4 },
      tie("scalar"),
      tie("object"),
      fc.tuple(gap, tie("odd")).map(([a, v]) => `[${a}${v}]`),
    ),
  }));
  const root = fc
    .tuple(gap, fc.array(fc.tuple(gap, key, gap, odd, gap), { maxLength: 4 }), fc.boolean(), gap)
    .map(([head, members, trailing, end]) => {
      const texts = members.map(([a, k, b, v, c]) => `${a}${JSON.stringify(k)}:${b}${v}${c}`);
      return `${head}{${texts.join(",")}${trailing && texts.length > 0 ? "," : ""}${end}}\n`;
    });
  const meaning = (text: string): Record<string, unknown> => {
    const plain = text.replace(
      /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
      (_, string) => string ?? " ",
    );
    return JSON.parse(plain.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string) => string ?? ""));
  };

  it("of any odd form keeps its meaning except for the server, and is restored when the server is removed", () => {
    fc.assert(
      fc.property(root, text => {
        const before = meaning(text);
        let edited: string;
        try {
          edited = format.put(text, "polyfs", entry);
        } catch (error) {
          expect(error).toBeInstanceOf(Unfit);
          // Refused only where there is no object to put it into.
          const isObject = (value: unknown) =>
            typeof value === "object" && value !== null && !Array.isArray(value);
          const servers = before.mcpServers as Record<string, unknown>;
          expect(isObject(servers) && (!Object.hasOwn(servers, "polyfs") || isObject(servers.polyfs))).toBe(
            false,
          );
          expect(Object.hasOwn(before, "mcpServers")).toBe(true);
          return;
        }
        const after = meaning(edited);
        const { mcpServers, ...others } = after as { mcpServers: Record<string, unknown> };
        const { mcpServers: old = {}, ...untouched } = before as { mcpServers?: Record<string, unknown> };
        expect(others).toEqual(untouched);
        expect(mcpServers).toMatchObject({ ...old, polyfs: entry });
        const { polyfs: _, ...left } = meaning(format.remove(edited, "polyfs")).mcpServers as Record<
          string,
          unknown
        >;
        const { polyfs: __, ...was } = old;
        expect(left).toEqual(was);
        expect(format.put(edited, "polyfs", entry)).toBe(edited);
      }),
      { numRuns: 600 },
    );
  });
});

describe("TOML", () => {
  const format = tomlFormat("mcp_servers");
  const text = `# mine
model = "o" # the "best"
notes = """
[mcp_servers.polyfs]
"""
list = [
  "a", # ]
  'b]',
]

[mcp_servers.files]
command = "x"
[mcp_servers.files.env]
A = "1"

# about profiles
[profiles.a]
b = { c = 1 }
`;

  it("appends a table, and removing it restores every byte", () => {
    const edited = format.put(text, "polyfs", entry);
    expect(edited.startsWith(text)).toBe(true);
    const before = readToml(text) as { mcp_servers: object };
    expect(readToml(edited)).toEqual({ ...before, mcp_servers: { ...before.mcp_servers, polyfs: entry } });
    expect(format.remove(edited, "polyfs")).toBe(text);
    expect(format.remove(text, "polyfs")).toBe(text);
  });

  it("updates an existing table, keeps what the user added, and removes all of it", () => {
    const own = text.replace(
      "# about profiles",
      `[mcp_servers.polyfs] # here\nargs = [\n  "old",\n]\nenabled = true\n[mcp_servers.polyfs.env]\nB = '2'\n\n# about profiles`,
    );
    const edited = format.put(own, "polyfs", entry);
    expect(readToml(edited)).toMatchObject({
      mcp_servers: { polyfs: { ...entry, enabled: true, env: { B: "2" } } },
    });
    expect(format.put(edited, "polyfs", entry)).toBe(edited);
    expect(edited).toContain("[mcp_servers.polyfs] # here\n");
    const removed = format.remove(edited, "polyfs");
    expect(readToml(removed)).toEqual(readToml(text));
    expect(removed).toContain("# about profiles\n[profiles.a]");
  });

  it("uses the file's line endings, also where the last line has none", () => {
    const edited = format.put('a = 1\r\nb = "c"', "polyfs", entry);
    expect(edited.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
    expect(readToml(edited)).toMatchObject({ a: 1, b: "c", mcp_servers: { polyfs: entry } });
  });

  it.each([
    ["an inline table", 'mcp_servers = { files = { command = "x" } }'],
    ["a server as an inline table", '[mcp_servers]\npolyfs = { command = "x" }'],
    ["a server by dotted keys", 'mcp_servers.polyfs.command = "x"'],
    ["a table that is there twice", "[mcp_servers.polyfs]\n[mcp_servers.polyfs]"],
    ["an array of tables", "[[mcp_servers]]\na = 1"],
    ["invalid TOML", "this is not toml"],
    ["a string without end", 'a = "x\n'],
  ])("refuses %s", (_, odd) => {
    expect(() => format.put(odd, "polyfs", entry)).toThrow(Unfit);
  });

  it("of any order of statements keeps its meaning, except for the server", () => {
    const pieces = fc.shuffledSubarray(
      [
        "[a]\nx = 1 # [mcp_servers.polyfs]\n",
        '[mcp_servers."odd name"]\ncommand = \'c\' \nargs=["]", "#"]\n\n',
        "\n# comment\n[b.c]\ny = '''\n[mcp_servers.polyfs]\n'''\n",
        '[mcp_servers.polyfs]\n\n  args = ["old"]\n# own\ncommand="old"\n',
        "[[d]]\nz = [[1], [2]]\n",
        '[mcp_servers.other]\nenv = { A = "}" }',
      ],
      { minLength: 0 },
    );
    fc.assert(
      fc.property(pieces, parts => {
        const whole = `top = true\n${parts.join("\n")}`;
        const { mcp_servers: old = {}, ...others } = readToml(whole) as { mcp_servers?: object };
        const edited = format.put(whole, "polyfs", entry);
        expect(readToml(edited)).toEqual({ ...others, mcp_servers: { ...old, polyfs: entry } });
        expect(edited.match(/#.*/g)?.length).toBe(whole.match(/#.*/g)?.length);
        const { mcp_servers: left = {}, ...rest } = readToml(format.remove(edited, "polyfs")) as {
          mcp_servers?: object;
        };
        expect(rest).toEqual(others);
        expect(left).toEqual({ ...old, polyfs: undefined });
      }),
      { numRuns: 300 },
    );
  });
});

describe("YAML", () => {
  const format = yamlFormat("extensions");
  const fields = {
    enabled: true,
    type: "stdio",
    name: "polyfs",
    cmd: "/usr/bin/node",
    args: ["-y", "a: b # c"],
    timeout: 300,
  };
  const text = `# mine
GOOSE_MODEL: "gpt # 4"
extensions: # all of them
    developer:
        enabled: true
        description: |
            first
            # no comment
other:
- a
- b: "extensions:"


`;

  it("appends an entry, and removing it restores every byte", () => {
    const edited = format.put(text, "polyfs", fields);
    const before = readYaml(text) as { extensions: object };
    expect(readYaml(edited)).toEqual({ ...before, extensions: { ...before.extensions, polyfs: fields } });
    expect(edited).toContain("            # no comment\n    polyfs:\n");
    expect(format.remove(edited, "polyfs")).toBe(text);
    expect(format.put(edited, "polyfs", fields)).toBe(edited);
  });

  it.each([
    "",
    "a: 1\n",
    "a: 1",
    "extensions:\n",
    "extensions: {}\n",
    "extensions: { } # none\na: 1\n",
    "---\na: 1\n",
    "a: 1\r\n",
    "'extensions':\n  \"x\":\n    b: 1",
  ])("writes into %j", odd => {
    const edited = format.put(odd, "polyfs", fields);
    expect(readYaml(edited)).toMatchObject({ extensions: { polyfs: fields } });
    const removed = readYaml(format.remove(edited, "polyfs")) as { extensions: object };
    expect(removed.extensions).not.toHaveProperty("polyfs");
    if (odd.includes("\r\n")) expect(edited.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  it("updates an existing entry, and keeps what the user added to it", () => {
    const own =
      "extensions:\n  polyfs:\n    cmd: old # here\n    args:\n    - x\n    envs: {A: b}\n  z:\n    a: 1\n";
    const edited = format.put(own, "polyfs", fields);
    expect(readYaml(edited)).toEqual({
      extensions: { polyfs: { ...fields, envs: { A: "b" } }, z: { a: 1 } },
    });
    expect(readYaml(format.remove(edited, "polyfs"))).toEqual({ extensions: { z: { a: 1 } } });
  });

  it.each([
    ["flow style", "extensions: {a: {b: 1}}\n"],
    ["flow style at the top", "{extensions: {}}\n"],
    ["a list", "extensions:\n- a\n"],
    ["an anchor", "extensions: &x\n  a: 1\n"],
    ["tabs", "extensions:\n\ta: 1\n"],
    ["several documents", "a: 1\n---\nb: 2\n"],
    ["an entry in flow style", "extensions:\n  polyfs: {cmd: x}\n"],
    ["blocks whose empty lines count", "extensions:\n  a: |+\n    b\n\n"],
    ["a file that is not a mapping", "just text\n"],
    ["a key twice", "extensions:\n  a:\n    b: 1\nextensions:\n  c:\n    d: 1\n"],
  ])("refuses %s", (_, odd) => {
    expect(() => format.put(odd, "polyfs", fields)).toThrow(Unfit);
  });
});
