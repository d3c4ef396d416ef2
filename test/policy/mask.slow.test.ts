// Masked files: keys are shown, values are not, and an edit of what is shown leaves every hidden byte as it was.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, visit } from "yaml";
import {
  hidesAsMuch,
  type MaskFormat,
  maskFormat,
  mask as maskIfFew,
  unmask,
} from "../../src/engine/policy/mask/mask.ts";

const mask = (text: string, format: MaskFormat): string => maskIfFew(text, format) ?? "";

const samples: readonly (readonly [MaskFormat, string, string])[] = [
  [
    "key-value",
    "# the shop\nDB_URL=postgres://u:CANARY@h/db\nexport TOKEN=\"CANARY two\"\nEMPTY=\n#OLD=CANARY\nKEY='CANARY\nCANARY'\r\nLAST=CANARY",
    "# the shop\nDB_URL=••••\nexport TOKEN=\"••••\"\nEMPTY=\n#OLD=••••\nKEY='••••'\r\nLAST=••••",
  ],
  ["key-value", "[a]\nuser = CANARY\nCANARY without a key\n", "[a]\nuser = ••••\n••••\n"],
  [
    "key-value",
    'export A="CANARY"; export B="CANARY" # c\nC="CANARY" # c\n',
    'export A=••••\nC="••••" # c\n',
  ],
  [
    "key-value",
    "KEY=CANARY\nCANARY\nCANARY=\nB=CANARY\nCANARY==\n[a]\n  c =\n    CANARY=CANARY\n  d = CANARY\n",
    "KEY=••••\n••••\n••••\nB=••••\n••••\n[a]\n  c =\n    ••••\n  d = ••••\n",
  ],
  [
    "json",
    '{\n  "db": { "password": "CANARY", "port": 5432, "tls": true },\n  "list": ["CANARY", "CANARY\\"q"]\n}\n',
    '{\n  "db": { "password": "••••", "port": ••••, "tls": true },\n  "list": ["••••", "••••"]\n}\n',
  ],
  ["json", '{"a": "CANARY', '{"a": "••••'],
  [
    "json",
    '{"a": "CANARY": 1, "b": ["CANARY": 2], "c" "CANARY": 3}',
    '{"a": "••••": ••••, "b": ["••••": ••••], "••••" "••••": ••••}',
  ],
  ["json", "{a: 'CANARY, //CANARY', b: 'C:CANARY'}", "{a: '••••', b: '••••'}"],
  ["yaml", "--- {a: CANARY}\n--- |\n  CANARY\n  # CANARY\n---\n%CANARY\n", "--- ••••\n--- ••••\n---\n••••\n"],
  [
    "yaml",
    "# c\ndb:\n  password: CANARY # why\n  key: |\n    CANARY\n    CANARY\n  hosts:\n    - CANARY\n    - name: CANARY\nlast: 'CANARY'\n",
    "# c\ndb:\n  password: ••••\n  key: ••••\n  hosts:\n    - ••••\n    - name: ••••\nlast: '••••'\n",
  ],
  [
    "yaml",
    "|\nCANARY: a\n# CANARY\n---\na:b: |\n  x\n\n  # CANARY\nc: CANARY\n",
    "••••\n---\n••••\nc: ••••\n",
  ],
  [
    "toml",
    '[db]\npassword = "CANARY"\nkeys = [\n  "CANARY",\n]\ntext = """\nCANARY\n"""\n',
    '[db]\npassword = "••••"\nkeys = ••••\ntext = "••••"\n',
  ],
  [
    "netrc",
    '# CI\nmachine a.example login me password CANARY\nmachine b.example\n  login x\n  password "CANARY CANARY"\naccount CANARY\nCANARY\n',
    "# CI\nmachine a.example login me password ••••\nmachine b.example\n  login x\n  password ••••\naccount ••••\n••••\n",
  ],
  [
    "last-field",
    "# db\nh:5432:db:me:CANARY\\:CANARY\nme:CANARY$x\nCANARY\n",
    "# db\nh:5432:db:me:••••\nme:••••\n••••\n",
  ],
  [
    "git-credentials",
    "https://me:CANARY@h.example\nhttps://CANARY@g.example\nCANARY\n",
    "https://••••@h.example\nhttps://••••@g.example\n••••\n",
  ],
  [
    "text",
    "see https://me:CANARYCANARY@host/x and password: CANARY1\n",
    "see https://me:••••@host/x and password: ••••\n",
  ],
  [
    "text",
    'DB_PASSWORD="CANARY"\nauthToken: f"CANARY"\nSECRET_KEY = """CANARY\nCANARY"""\npassword = "a\\"CANARY"\n',
    "DB_PASSWORD=••••\nauthToken: ••••\nSECRET_KEY = ••••\npassword = ••••\n",
  ],
  [
    "text",
    'password="CANARY CANARY\ntoken: \'CANARY CANARY"\nexport API_KEY=`CANARY CANARY\nsecret = ""\npassword = f"a\\"CANARY CANARY\ntoken=b\'CANARY CANARY\\\n',
    'password=••••\ntoken: ••••\nexport API_KEY=••••\nsecret = ""\npassword = ••••\ntoken=••••\n',
  ],
  [
    "text",
    '["password = \\"CANARY CANARY\\"\\n",\n "x"]\n{\\"token\\": \\"CANARY\\", \\"n\\": 1}\n',
    '["password = ••••",\n "x"]\n{\\"token\\": ••••, \\"n\\": 1}\n',
  ],
];

const pieces = [
  ...[
    "a",
    " ",
    "\t",
    "\n",
    "-",
    "- ",
    "-  ",
    "#",
    ":",
    ": ",
    "=",
    ",",
    ".",
    "\\",
    '"',
    "'",
    "`",
    "[",
    "]",
    "{",
    "}",
    "|",
  ],
  ...[
    "--- ",
    "//",
    "/*",
    "k: ",
    "k = ",
    "export ",
    "password=",
    'password="""',
    'token=\\"',
    "machine ",
    "a://b:",
    "eyJ",
    "-eyJ",
    "sk-",
    "SG.",
    "••••",
  ],
  ...["-----BEGIN ", "PRIVATE KEY", "-----"],
];

describe("text that a parser takes for a value", () => {
  const fragments =
    "k: |k:\n  |- |? |: |BAR\n|BAR-\n|>\n|\n|\n  |\n |\"|'|{|}|[|]|, | # c|&a |!!str |--- |\n\n|CANARY|CANARY|CANARY: |#CANARY\n|a ";
  const fragment = fc.constantFrom(...fragments.split("|").map(one => one.replace("BAR", "|")));

  it("is not shown, however the YAML is written", () => {
    let found = 0;
    const options = { numRuns: 4000, seed: 1 };
    const check = fc.property(fc.array(fragment, { minLength: 3, maxLength: 14 }), parts => {
      const text = parts.join("");
      const documents = parseAllDocuments(text, { logLevel: "silent", uniqueKeys: false });
      const all = "empty" in documents ? [] : documents;
      if (!text.includes("CANARY") || all.some(({ errors }) => errors.length > 0)) return;
      // Each value has a number: the same word may be a key elsewhere.
      let count = 0;
      const numbered = text.replace(/CANARY/g, () => `CANARY${count++};`);
      const values: string[] = [];
      for (const document of parseAllDocuments(numbered, { logLevel: "silent", uniqueKeys: false }))
        visit(document, {
          Scalar: (key, node) =>
            void (key !== "key" && values.push(...(`${node.value}`.match(/CANARY\d+;/g) ?? []))),
        });
      found += values.length;
      const shown = mask(numbered, "yaml");
      expect(values.filter(one => shown.includes(one))).toEqual([]);
    });
    fc.assert(check, options);
    expect(found).toBeGreaterThan(100);
  });
});

describe("masking takes time proportional to the text", () => {
  // A pattern that shares what it repeats between two of its parts does not end within anyone's life.
  it.each([...new Set(samples.map(([format]) => format))])("%s, whatever is repeated", format => {
    for (const one of pieces)
      for (const end of ["", "a", "\n:", '"'])
        for (const other of ["", "a", " ", "\n"]) {
          const text = `${(one + other).repeat(300)}${end}`;
          expect(unmask(text, mask(text, format), format) ?? text).toBe(text);
        }
  });
});

describe("a masked text shows keys and structure, and no value", () => {
  it.each(samples)("%s: %j", (format, text, shown) => {
    expect(mask(text, format)).not.toContain("CANARY");
    expect(mask(text, format)).toBe(shown);
  });
  it.each([
    [".env", "key-value"],
    [".env.local", "key-value"],
    ["prod.env", "key-value"],
    ["app.JSON", "json"],
    ["values.yml", "yaml"],
    ["Cargo.toml", "toml"],
    [".netrc", "netrc"],
    ["/home/me/.kube/config", "yaml"],
    ["config", "text"],
    [".pgpass", "last-field"],
    [".git-credentials", "git-credentials"],
    ["notes", "text"],
  ] as const)("%s is read as %s", (name, format) => expect(maskFormat(name)).toBe(format));
});

describe("an edit of a masked text", () => {
  it.each(samples)("that changes nothing restores the file: %s %j", (format, text) => {
    expect(unmask(text, mask(text, format), format)).toBe(text);
  });
  const env = "A=one\nB=two\n# note\nC=three\n";
  it("adds a key and keeps the others", () => {
    expect(unmask(env, "A=••••\nNEW=x\nB=••••\n# note\nC=••••\n", "key-value")).toBe(
      "A=one\nNEW=x\nB=two\n# note\nC=three\n",
    );
  });
  it("replaces one value and keeps the others, also in another order", () => {
    expect(unmask(env, "C=••••\nA=new\nB=••••\n", "key-value")).toBe("C=three\nA=new\nB=two\n");
  });
  it("is refused where it copies a hidden value to another key", () => {
    expect(unmask(env, "A=••••\nB=••••\n# note\nC=••••\nD=••••\n", "key-value")).toBeUndefined();
  });
  it("is refused where a placeholder is a part of a value", () => {
    expect(unmask(env, "A=x••••\nB=••••\n# note\nC=••••\n", "key-value")).toBeUndefined();
  });
  it("is refused where a hidden value would be shown afterwards", () => {
    const yaml = "a: one\nb: two\n";
    expect(unmask(yaml, "a: x\n••••\nb: ••••\n", "yaml")).toBeUndefined();
    expect(unmask('{"a": "one"}', '{"••••": "x"}', "json")).toBeUndefined();
  });
  it("keeps placeholders that were in the file itself", () => {
    const text = "# •••• is a mask\nA=one\n";
    expect(unmask(text, "# •••• is a mask\nA=••••\nB=2\n", "key-value")).toBe(
      "# •••• is a mask\nA=one\nB=2\n",
    );
  });
});

const line = fc.string({
  unit: fc.constantFrom(
    "a",
    "b",
    " ",
    '"',
    "'",
    "=",
    ":",
    "-",
    "#",
    "{",
    "}",
    "[",
    "]",
    "|",
    ",",
    "\\",
    "\t",
    "CANARY",
  ),
});
const document = fc.array(line, { maxLength: 8 }).map(lines => lines.join("\n"));

const allFormats = [
  ...(["key-value", "json", "yaml", "toml"] as const),
  ...(["netrc", "last-field", "git-credentials", "text"] as const),
];
it.each(allFormats)("any text in %s comes back byte for byte when nothing is edited", format => {
  fc.assert(
    fc.property(document, text => {
      expect(unmask(text, mask(text, format), format)).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

const secret = fc.stringMatching(/^S3CR[a-zA-Z0-9]{6,12}$/);
const makers: {
  readonly [format in "key-value" | "json" | "yaml" | "toml"]: (pairs: readonly [string, string][]) => string;
} = {
  "key-value": pairs => pairs.map(([k, v]) => `${k}=${v}\n`).join(""),
  json: pairs => `${JSON.stringify(Object.fromEntries(pairs), null, 2)}\n`,
  yaml: pairs => pairs.map(([k, v]) => `${k}: ${v}\n`).join(""),
  toml: pairs => pairs.map(([k, v]) => `${k} = "${v}"\n`).join(""),
};

it.each(Object.entries(makers))(
  "random edits of masked %s keep every secret that they do not replace",
  (format, make) => {
    const pairs = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[A-Z][A-Z_]{1,8}$/), secret), {
      minLength: 1,
      maxLength: 8,
      selector: ([key]) => key,
    });
    fc.assert(
      fc.property(pairs, fc.nat(), fc.boolean(), (entries, pick, removes) => {
        const text = make(entries);
        const shown = mask(text, format as MaskFormat);
        expect(entries.filter(([, value]) => shown.includes(value))).toEqual([]);
        const [key] = entries[pick % entries.length] as [string, string];
        const kept = entries.filter(([name]) => name !== key);
        const edited = mask(
          make(removes ? kept : [...kept, [key, "replaced"]]),
          format as MaskFormat,
        ).replaceAll(new RegExp(`(\\b${key}\\b.*)••••`, "g"), "$1replaced");
        const result = unmask(text, edited, format as MaskFormat);
        expect(result).toBe(make(removes ? kept : [...kept, [key, "replaced"]]));
      }),
      { numRuns: 250 },
    );
  },
);

// Two texts that look the same to a caller, who guesses what one of them hides: whether an edit is accepted, and what
// the file then shows, must be the same for both.
it.each(allFormats)("the fate of an edit of masked %s does not depend on what is hidden", format => {
  const values = ["hunter2a", "hunter2b"] as const;
  const part = fc.constantFrom(
    ...["\0", "\0", "\0", "\n", "\r", "\n", " ", "# ", "// ", "; "],
    ...['"\0"', 'A="\0"', "A=\0", "A: \0", '"a": "\0",', "{", "}", "h:\0", "machine m password \0"],
    ...["token=", "password: ", "token=\0", 'secret="\0" ', "https://u:\0@h", "x".repeat(190)],
  );
  const template = fc.array(part, { minLength: 2, maxLength: 12 }).map(parts => parts.join(""));
  const filled = (text: string, value: string) => text.replaceAll("\0", value);
  const change = fc.tuple(fc.nat(), fc.constantFrom(...values, "x", ""), fc.nat(), part);
  let kept = 0;
  fc.assert(
    fc.property(template, fc.array(change, { maxLength: 4 }), (text, changes) => {
      const [one, other] = values.map(value => filled(text, value)) as [string, string];
      const shown = mask(one, format);
      fc.pre(mask(other, format) === shown && !shown.includes("hunter2"));
      let edited = shown;
      for (const [which, guess, where, added] of changes) {
        const marks = [...edited.matchAll(/••••/g)];
        const mark = marks[which % Math.max(1, marks.length)];
        if (mark !== undefined && guess !== "")
          edited = edited.slice(0, mark.index) + guess + edited.slice(mark.index + 4);
        const at = where % (edited.length + 1);
        if (where % 3 === 0) edited = edited.slice(0, at) + filled(added, "x") + edited.slice(at);
      }
      const [first, second] = [unmask(one, edited, format), unmask(other, edited, format)];
      expect(first === undefined).toBe(second === undefined);
      if (first !== undefined && second !== undefined) {
        if (edited.includes("••••")) kept++;
        expect(mask(first, format)).toBe(mask(second, format));
      }
    }),
    { numRuns: 4000 },
  );
  expect(kept).toBeGreaterThan(100);
});

it("a value is kept although the value before it on its line is replaced", () => {
  const text = "password=one token=two\n";
  expect(mask(text, "text")).toBe("password=•••• token=••••\n");
  expect(unmask(text, "password=new token=••••\n", "text")).toBe("password=new token=two\n");
});

it("a line with nothing to look for takes no longer than one whose value is hidden", () => {
  const timeOf = (file: string, line: string) => {
    const text = line.repeat(50_000);
    const times = [1, 2, 3, 4].map(() => {
      const { user } = process.cpuUsage();
      mask(text, maskFormat(file));
      return process.cpuUsage().user - user;
    });
    return Math.min(...times);
  };
  const hidden = timeOf(".env", "a\n");
  for (const [file, line] of [
    [".env", "A=\n"],
    [".env", "# x\n"],
    ["a.toml", "# x\n"],
    ["a.yaml", "# a\n"],
    [".netrc", "# a\n"],
    [".pgpass", "# a\n"],
  ] as const)
    expect(timeOf(file, line), `${file} of ${JSON.stringify(line)}`).toBeLessThan(1.5 * hidden);
});

it.each([
  ["key-value", "A=b\n"],
  ["key-value", "a\n"],
  ["json", '"a",'],
  ["json", "[1,"],
  ["yaml", "a: b\n"],
  ["toml", "a = 1\n"],
  ["netrc", "password a\n"],
  ["last-field", "a:b\n"],
  ["git-credentials", "https://a:b@h\n"],
  ["text", "password=abc\n"],
] as const)("a text of %s with very many values (%j) is neither shown nor edited in part", (format, part) => {
  const most = part.repeat(50_000);
  expect(maskIfFew(most, format)).toContain("••••");
  const text = part.repeat(50_001);
  expect(maskIfFew(text, format)).toBeUndefined();
  expect(unmask(text, `${mask(most, format)}x`, format)).toBeUndefined();
  if (format !== "text")
    expect(hidesAsMuch(text, format, "text")).toBe(maskIfFew(text, "text") === undefined);
});

it.each(["key-value", "json", "yaml", "toml", "netrc", "last-field", "git-credentials"] as const)(
  "what hides nothing does not use up the values that %s may have",
  format => {
    const value = format === "git-credentials" ? "https://u:CANARY@h" : "machine: CANARY";
    for (const part of ["\f\n", "\v\n", "\u00a0\n", "=\n", ":\n", "''\n", '""\n', "#\n", "[\n", "@\n"])
      expect(mask(`${part.repeat(60_000)}\n${value}\n`, format)).not.toContain("CANARY");
  },
);

it("values in arrays in arrays take about as long as those in one", () => {
  const timeOf = (part: string) => {
    const text = part.repeat(40_000);
    const times = [1, 2, 3, 4].map(() => {
      const { user } = process.cpuUsage();
      mask(text, "json");
      return process.cpuUsage().user - user;
    });
    return Math.min(...times);
  };
  const flat = timeOf('"a",');
  expect(timeOf("[1,")).toBeLessThan(5 * flat);
});

it("a format that hides as much as another shows nothing that the other hides", () => {
  const part = fc.constantFrom(
    "A",
    "=",
    ":",
    " ",
    "\n",
    '"',
    "{",
    "}",
    "password",
    "hunter2secret",
    "#",
    "@",
    "://",
  );
  const texts = fc.array(part, { maxLength: 30 }).map(parts => parts.join(""));
  const format = fc.constantFrom(...allFormats);
  const shown = (text: string, as: MaskFormat) => mask(text, as).replaceAll("••••", "");
  fc.assert(
    fc.property(texts, format, format, (text, from, to) => {
      if (hidesAsMuch(text, from, to)) expect(isSubsequence(shown(text, to), shown(text, from))).toBe(true);
    }),
    { numRuns: 2000 },
  );
  expect(hidesAsMuch("TOKEN=hunter2\n", "key-value", "text")).toBe(true);
  expect(hidesAsMuch("PORT=hunter2\n", "key-value", "text")).toBe(false);
});

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const char of whole) if (char === part[at]) at++;
  return at === part.length;
}
