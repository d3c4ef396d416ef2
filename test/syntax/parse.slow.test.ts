// The parser: declarations of every language it knows, the places that do not parse, and texts that are not what
// their name says.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/engine/fault.ts";
import { languageOf, mayHaveLanguage } from "../../src/engine/syntax/language.ts";
import { newErrors } from "../../src/engine/syntax/new-errors.ts";
import { parse } from "../../src/engine/syntax/parse.ts";
import { structureOf } from "../../src/engine/syntax/structure.ts";
import { symbolIn } from "../../src/engine/syntax/symbols.ts";

async function declared(path: string, text: string): Promise<string[]> {
  const language = languageOf(path, text);
  if (language === undefined) return ["?"];
  const found = await parse(text, language, { declarations: true });
  const all = found?.declarations ?? [];
  const line = (at: number) => text.slice(0, at).split("\n").length;
  const pathOf = (i: number): string => {
    const one = all[i];
    return one === undefined ? "" : one.parent < 0 ? one.name : `${pathOf(one.parent)}.${one.name}`;
  };
  return all.map((one, i) => `${line(one.top)}-${line(one.end)} ${one.kind} ${pathOf(i)}`);
}

describe("declarations", () => {
  const cases: readonly (readonly [path: string, text: string, expected: readonly string[]])[] = [
    [
      "a.ts",
      `import x from "y";

/** Says hello. */
@decorated()
export class Greeter<T> extends Base {
  readonly name = "x";
  // above
  @Input() greet(a: string): void {
    const local = 1;
  }
}

export const add = (a: number) => a + 1;
const one = 1, two = 2;
export interface Shape { area(): number }
function over(a: string): void;
function over(a: unknown) {}
`,
      [
        "3-11 class Greeter",
        "6-6 field Greeter.name",
        "7-10 method Greeter.greet",
        "9-9 variable Greeter.greet.local",
        "13-13 function add",
        "14-14 variable one",
        "14-14 variable two",
        "15-15 interface Shape",
        "15-15 method Shape.area",
        "16-16 function over",
        "17-17 function over",
      ],
    ],
    [
      "a.js",
      "(function () {\n  function inner() {}\n})();\nmodule.exports = { run: function () {}, stop() {} };\nA.prototype.go = function () {};\n",
      ["2-2 function inner", "4-4 method run", "4-4 method stop", "5-5 function A.go"],
    ],
    [
      "a.ts",
      "/** About it. */\nexport default class {\n  go() {}\n}\nexport function f() {}\n",
      ["1-4 class default", "3-3 method default.go", "5-5 function f"],
    ],
    [
      "c.ts",
      "export default abstract class extends A<B> {\n  private go(): void {}\n  abstract stop(): void;\n}\nclass C {}\n",
      ["1-4 class default", "2-2 method default.go", "3-3 method default.stop", "5-5 class C"],
    ],
    [
      "d.tsx",
      "@d export default abstract class {\n  b = <i />;\n}\n",
      ["1-3 class default", "2-2 field default.b"],
    ],
    [
      "a.js",
      "export default async function (a) {\n  const x = 1;\n}\n",
      ["1-3 function default", "2-2 variable default.x"],
    ],
    ["a.tsx", "// Draws.\nexport default () => <b />;\n", ["1-2 function default"]],
    ["b.ts", "export default class Named {}\nexport default f({ a: 1 });\n", ["1-1 class Named"]],
    [
      "a.py",
      "# about f\n@dec\ndef f(a):\n    x = 1\n\nclass A(B):\n    y: int = 2\n    async def m(self): pass\n",
      ["1-4 function f", "4-4 variable f.x", "6-8 class A", "7-7 variable A.y", "8-8 function A.m"],
    ],
    [
      "a.go",
      "package p\n\n// T is.\ntype T struct{}\n\nfunc (t *T) M() {}\nfunc F() {}\nconst (\n\tA = 1\n\tB = 2\n)\n",
      ["3-4 type T", "6-6 method T.M", "7-7 function F", "9-9 constant A", "10-10 constant B"],
    ],
    [
      "a.rs",
      "/// doc\n#[derive(X)]\npub struct A<T> { x: T }\nimpl<T> A<T> {\n    fn m(&self) {}\n}\n",
      ["1-3 class A", "4-6 implementation A", "5-5 function A.m"],
    ],
    [
      "A.java",
      "package p;\npublic class A {\n  int f = 1;\n  A() {}\n  @Override\n  void m() {}\n}\n",
      ["2-7 class A", "3-3 field A.f", "4-4 constructor A.A", "5-6 method A.m"],
    ],
    [
      "a.cpp",
      "namespace n {\ntemplate <class T> class B { void f(); };\n}\nvoid n::B::f() {}\nint *g(void) { return 0; }\n",
      ["1-3 namespace n", "2-2 class n.B", "2-2 prototype n.B.f", "4-4 function n.B.f", "5-5 function g"],
    ],
    [
      "a.cs",
      "namespace N { class C { int f; public int P { get; } void M() {} } }\n",
      ["1-1 namespace N", "1-1 class N.C", "1-1 field N.C.f", "1-1 field N.C.P", "1-1 method N.C.M"],
    ],
    [
      "a.php",
      "<p><?php\nfunction f() {}\nclass B { function m() {} }\n",
      ["2-2 function f", "3-3 class B", "3-3 method B.m"],
    ],
    [
      "a.rb",
      "module A\n  class B\n    def m; end\n  end\nend\n",
      ["1-5 namespace A", "2-4 class A.B", "3-3 method A.B.m"],
    ],
    ["a.sh", "f() {\n  echo\n}\nX=1\n", ["1-3 function f", "4-4 variable X"]],
    [
      "a.ps1",
      "function Get-X { 1 }\nclass A { [void] M() { } }\n",
      ["1-1 function Get-X", "2-2 class A", "2-2 method A.M"],
    ],
    [
      "a.css",
      "/* c */\n.a, .b { color: red }\n@media print { p { x: y } }\n",
      ["1-2 section .a, .b", "3-3 section @media print", "3-3 section @media print.p"],
    ],
    ["a.ini", "[one]\nb=c\n", ["1-2 section one", "2-2 field one.b"]],
    [
      "a.vue",
      '<template>\n<p/>\n</template>\n<script lang="ts">\nexport function f(): void {}\n</script>\n',
      ["5-5 function f"],
    ],
    [
      "a.html",
      '<script type="text/template">{{x}}</script>\n<script>\nfunction g() {}\n</script>',
      ["3-3 function g"],
    ],
    ["tool", "#!/usr/bin/env python3\ndef f(): pass\n", ["2-2 function f"]],
    ["a.txt", "def f(): pass\n", ["?"]],
    ["a.ts", "", []],
  ];
  it.each(cases)("of %s", async (path, text, expected) => {
    expect(await declared(path, text)).toEqual(expected);
  });
});

describe("in Python, an unclosed bracket hides no definition", () => {
  it.each([
    ["in a call", "        return f(1\n"],
    ["in a list, before more statements", "        self.x = [1, 2\n        self.y = 3\n"],
    ["in a dictionary", '        x = {"a": 1\n        """Not\ndef this(): one\n        """\n'],
  ])("%s", async (_, body) => {
    const lines = body.split("\n").length - 1;
    const text = `class A:\n    def a(self):\n${body}\n    # about b\n    @property\n    def b(self) -> int:\n        return 2\n\n    async def c(self): pass\n\ndef d(x):\n    return x\n`;
    const at = lines + 4;
    const functions = (await declared("a.py", text)).filter(one => !one.includes(" variable "));
    expect(functions).toEqual([
      `1-${at + 5} class A`,
      `2-${at - 2} function A.a`,
      `${at}-${at + 3} function A.b`,
      `${at + 5}-${at + 5} function A.c`,
      `${at + 7}-${at + 8} function d`,
    ]);
  });

  it("in a list of parameters", async () => {
    const text =
      "class A:\n    def a(self, x:\n        return 1\n\n    def b(self):\n        return 2\n\ndef c(): pass\n";
    expect(await declared("a.py", text)).toEqual([
      "1-6 class A",
      "2-3 function A.a",
      "5-6 function A.b",
      "8-8 function c",
    ]);
  });
});

describe("in Python that does not parse, indentation decides what a definition belongs to", () => {
  it.each([
    ["below a condition", "if X:"],
    ["below a string whose lines are not indented", '"""\nfoo\n"""\nif X:'],
    ["below a comment", "# About it\nif X:"],
  ])("%s", async (_, above) => {
    const from = 7 + above.split("\n").length;
    const text = `class A:\n    def a(self):\n        return 1\n\n    x = (1,\n\n${above}\n    def b():\n        pass\n`;
    const functions = (await declared("a.py", text)).filter(one => !one.includes(" variable "));
    expect(functions).toEqual(["1-5 class A", "2-3 function A.a", `${from}-${from + 1} function b`]);
  });

  it("also where the class continues after lines that are not indented", async () => {
    const text =
      'class A:\n    a = """\nb\n"""\n    c = f(\n1,\n)\n    d = 1 + \\\n2\n# about e\n    def e(self): pass\n\n    def f(self, x:\n        pass\n\nif X:\n    def g(): pass\n';
    const functions = (await declared("a.py", text)).filter(one => !one.includes(" variable "));
    expect(functions).toEqual([
      "1-14 class A",
      "10-11 function A.e",
      "13-14 function A.f",
      "17-17 function g",
    ]);
  });
});

it("begins a definition at its decorators also where Python does not parse", async () => {
  const text =
    "class A:\n        a = [1, 2\n        else:\n            )\n    @classmethod\n    @other\n    def b(\n    ) -> str:\n    def c(\n";
  const [b] = (await declared("a.py", text)).filter(one => one.endsWith(".b"));
  expect(b).toMatch(/^5-/);
});

describe("new syntax errors", () => {
  const told = async (path: string, before: string | undefined, after: string) =>
    (await newErrors(path, before, after)).map(({ line, column, text }) => `${line}:${column} ${text}`);

  it("report what a change broke, where it was changed", async () => {
    const good = "function a() {\n  return 1;\n}\n\nfunction b() {\n  return (2 + 3);\n}\n";
    expect(await told("a.ts", good, good.replace("3);", "3;"))).toEqual(["6:16   return (2 + 3;"]);
    const [first = ""] = await told("a.ts", good, good.replace("1;\n}", "1;\n"));
    expect(first).not.toBe("");
  });

  it("leave out what did not parse before", async () => {
    const broken = "const a = ;\n\nconst b = 1;\n";
    expect(await told("a.js", broken, broken.replace("b = 1", "b = 2"))).toEqual([]);
    expect(await told("a.js", broken, `// one line more\n${broken}`)).toEqual([]);
    expect(await told("a.js", broken, broken.replace("b = 1", "b = = 1"))).toHaveLength(1);
  });

  it("are not reported for texts that are not in the language of their file name", async () => {
    const prose = "This is, after all, no code: it's prose! (Or is it?)\n".repeat(40);
    expect(await told("a.ts", prose, `${prose}More of it; with "quotes.\n`)).toEqual([]);
    expect(await told("new.py", undefined, prose)).toEqual([]);
    expect(await told("a.txt", "a", "b (")).toEqual([]);
  });

  it("include what Python refuses and its grammar does not", async () => {
    const good = "def f(a):\n    if a:\n        return 1\n    return 2\n";
    expect(await told("a.py", good, good.replace("        return 1\n", ""))).toHaveLength(1);
    expect(await told("a.py", good, good.replace("    return 2", "      return 2"))).toEqual([
      "4:7       return 2",
    ]);
    expect(await told("a.py", good, good.replace("return 2", "x = 1; return 2"))).toEqual([]);
    expect(await told("a.py", good, good.replace("    return 2", "    # c\n  # d\n    return 2"))).toEqual(
      [],
    );
  });

  it("reports what Python refuses though its grammar accepts it, and nothing of what Python accepts", async () => {
    const good = [
      "def f(a, b=1, /, c=2, *rest, d, e=3, **more): pass",
      "def g(a=1, *, b, c=2): return lambda x=1, *, y: x",
      "async def h():\n    await x.run()",
      "s = [r'a', Rb'b', f'c', fR'd', b'e', u'f', 'x''y']",
      "t = (a.\n     b)\nu = a. \\\n    b",
      "try:\n    a()\nexcept* E:\n    pass\ntry:\n    a()\nfinally:\n    pass",
    ].join("\n");
    expect(await told("a.py", "", good)).toEqual([]);
    for (const [wrong, place] of [
      ["def f(a=1, b): pass", "7:12"],
      ["f = lambda a=1, b: 2", "7:17"],
      ["async def h():\n    await .run()", "8:5"],
      ["s = rr'a'", "7:5"],
      ["f(a=1, b)", "7:8"],
      ["f(a, **k, b)", "7:11"],
      ["t = a.\n    b", "7:6"],
      ["try:\n    a()\nb = 1", "7:1"],
    ] as const) {
      const before = "x = 1\n".repeat(6);
      const [first] = await told("a.py", before, `${before}${wrong}\n`);
      expect([wrong, first?.split(" ")[0]]).toEqual([wrong, place]);
    }
  });

  it("include what Go refuses and its grammar does not", async () => {
    const good = [
      "// Package a.",
      "package a",
      'import (\n\t_ "go/ast"\n\t"x.org/a-b/v2"\n)',
      "const (\n\tb = iota\n\tc\n)",
      'var d = "\\\\{\\n\\x41\\u00e9\\101"',
      "func (r *T) m(a, b int, c ...string) (int, error) { return 0, nil }",
      "func f(int, string)",
    ].join("\n");
    expect(await told("a.go", undefined, `${good}\n`)).toEqual([]);
    for (const [right, wrong] of [
      ["package a", ""],
      ["package a", "package a\npackage a"],
      ["go/ast", "go/[ast"],
      ["go/ast", ""],
      ["b = iota", "b"],
      ["\\n", "\\{n"],
      ["(r *T)", "(r *T, s int)"],
      ["c ...string", "string"],
      ["func f(int, string)", "f"],
    ] as const)
      expect([
        wrong,
        (
          await told(
            "a.go",
            good,
            good.replace(right, () => wrong),
          )
        ).length > 0,
      ]).toEqual([wrong, true]);
  });

  it("include what JavaScript refuses and its grammars do not", async () => {
    const good = "f(a, [1, , 2], { b, c });\ntry {\n  g();\n} finally {\n  h();\n}\n";
    expect(await told("a.ts", good, good.replace("f(a, ", "f(, "))).toEqual(["1:3 f(, [1, , 2], { b, c });"]);
    expect(await told("a.js", good, good.replace("b, c", "b,, c"))).toHaveLength(1);
    expect(await told("a.js", good, good.replace(" finally {\n  h();\n}", ""))).toHaveLength(1);
    expect(await told("a.js", good, good.replace("[1, , 2]", "[, , 2]"))).toEqual([]);
  });

  it("include what Java refuses and its grammar does not", async () => {
    const good =
      'package a;\n\nclass A {\n  A() { super(); }\n  int f(int b) {\n    if (b > 1)\n      b = 2;\n    else\n      b++;\n    g();\n    return switch (b) { case 1 -> "x"; default -> b + 1; };\n  }\n}\n';
    expect(await told("a.java", good.replace("\n", "\n\n"), good)).toEqual([]);
    expect(await told("a.java", good, good.replace("b = 2;", "b == 2;"))).toEqual(["7:10       b == 2;"]);
    expect(await told("a.java", good, good.replace("g();", "g;"))).toEqual(["10:6     g;"]);
    expect(await told("a.java", good, good.replace("b = 2;", "b = 2; g();"))).toContain("8:5     else");
    expect(await told("a.java", good, good.replace("int f", "f"))).toHaveLength(1);
    expect(await told("a.java", good, good.replace("package a;", "package a;\npackage a;"))).toHaveLength(1);
  });

  it("include unknown preprocessor directives in C, where a compiler reads them", async () => {
    const good =
      '#include <a>\n#  define S(x) \\\n  #x\n#if 0\n# any text\n#inclde <b>\n#else\n#pragma b c\n#endif\n# 7 "a.c"\nint a;\n';
    expect(await told("a.h", undefined, good)).toEqual([]);
    expect(await told("a.h", good, good.replace("#include", "#inclde"))).toEqual(["1:1 #inclde <a>"]);
    expect(await told("a.h", good, good.replace("#pragma", "#progma"))).toEqual(["8:1 #progma b c"]);
    expect(await told("a.cpp", good, good.replace("<a>", ""))).toEqual(["1:1 #include "]);
    expect(await told("a.cpp", good, `${good}/*\n#inclde <b>\n*/\n`)).toEqual([]);
    expect(await told("a.cpp", good, `${good}#undef\n`)).toEqual(["12:1 #undef"]);
    expect(await told("a.cpp", good, `${good}#\nint b;\n  # \r\nint c;\n`)).toEqual([]);
    const repeated = good.replace("  #x", "#define S(x) \\\n  #x");
    expect(await told("a.cpp", good, repeated)).toEqual(["3:1 #define S(x) \\"]);
    const unreadable = "a b c) {{ d e\n#include <a>\nf g) h (\n";
    expect(await told("a.cpp", unreadable, unreadable.replace("#in", "#"))).toEqual(["2:1 #clude <a>"]);
    expect(await told("a.cpp", unreadable, unreadable.replace("#", "##"))).toEqual(["2:1 ##include <a>"]);
  });

  it("include statements outside of functions and references to references in C++", async () => {
    const good =
      "namespace a {\nint f(int &&b) { return b; }\nint g()\n{ return 1; }\n}\nTEST(a, b)\n{ int &c = d; }\n";
    expect(await told("a.cpp", undefined, good)).toEqual([]);
    expect(await told("a.cpp", good, good.replace("int g()\n", ""))).toEqual(["3:1 { return 1; }"]);
    expect(await told("a.cpp", good, good.replace("int g()\n{ return 1; }", "return 1;"))).toEqual([
      "3:1 return 1;",
    ]);
    expect(await told("a.cpp", good, good.replace("&&b", "&&&&b"))).toHaveLength(1);
    expect(await told("a.cpp", good, good.replace("&c", "& &c"))).toHaveLength(1);
  });

  it("match the conditions of C's preprocessor, which the grammar takes for any directive", async () => {
    const good =
      "#ifndef A\n# define A\n/*\n#endif\n*/\n#if B\nint b;\n#elif C\nint c;\n#else\nint d;\n#endif\n#endif\n";
    expect(await told("a.h", undefined, good)).toEqual([]);
    expect(await told("a.h", good, `${good}#endif\n`)).toEqual(["14:1 #endif"]);
    expect(await told("a.h", good, good.replace("#if B\n", ""))).not.toEqual([]);
    expect(await told("a.cpp", good, good.replace("#else", "#else\n#else"))).not.toEqual([]);
    expect(await told("a.cpp", good, good.replace("int c;\n", "int c;\n#elif D\n"))).toEqual([]);
    expect(await told("a.cpp", good, good.replace("int d;", "int d;\n#elif D"))).not.toEqual([]);
  });

  it("include what Rust refuses and its grammar does not", async () => {
    const good =
      "use a::b;\n\nm!(c);\n\nstruct S { d: Cell<>, }\n\nimpl<> S {\n    m!(e);\n    fn f(&self, g: u8) -> u8 {\n        assert!(g > 1);\n        g\n    }\n}\n";
    expect(await told("a.rs", undefined, good)).toEqual([]);
    expect(await told("a.rs", good, good.replace("use a", " a"))).toEqual(["1:2  a::b;"]);
    expect(await told("a.rs", good, good.replace("b;", "b;;"))).toHaveLength(1);
    expect(await told("a.rs", good, good.replace("&self, g", "&self, &self, g"))).toHaveLength(1);
    expect(await told("a.rs", good, good.replace("g: u8", "g:: u8"))).toHaveLength(1);
    expect(await told("a.rs", good, good.replace("g > 1);", "g > 1)"))).toHaveLength(1);
  });

  it("look into the arguments of Rust's own macros and attributes", async () => {
    const good = [
      "#![feature(one, two,)]",
      "#[derive(Debug, serde::Serialize)]",
      '#[cfg(all(unix, not(feature = "x")))]',
      "#[cfg_attr(test, other(a => b, | 3))]",
      '#[doc = include_str!("x")]',
      '#[stable(feature = "a", since = "1")]',
      "struct A;",
      "macro_rules! m { ($($a:tt)*) => { f($($a)*) } }",
      "fn f() -> Result {",
      "    let Some(w) = g() else { return };",
      "    let u = if a { 1 } else { 2 };",
      '    assert!(matches!(x, A | B), "x {}", y);',
      "    let v = (std::vec![0; 3], vec![vec![1, 2], vec![0; 3]]);",
      '    write!(out, "{a} {}", v.len(), a = 1)?;',
      "    any_tokens!(a,, => b);",
      "}",
      "",
    ].join("\n");
    expect(await told("a.rs", undefined, good)).toEqual([]);
    for (const [old, made] of [
      ["one, two", "one,, two"],
      ["since = ", "since "],
      ["not(feature", "not(= feature"],
      ["Debug, serde", "Debug, , serde"],
      ["=> { f($($a)*)", "=> { f($($a))*)"],
      ["B), ", "B),, "],
      ["{ 2 };", "{ 2 } else { 3 };"],
      ["v.len()", "v.()"],
      ["1, 2]", "1,, 2]"],
    ] as const)
      expect(await told("a.rs", good, good.replace(old, made)), made).toHaveLength(1);
  });

  const withMacros = `#pragma once
#if HAS_INCLUDE(<version>)
#include <version>
#endif
BEGIN_NAMESPACE
namespace shapes VISIBILITY(default) {
API_EXPORT void draw() NO_THROW { paint(1); }
NON_NULL(1)
inline int size(int* a) { if IS_CONSTEXPR (N > 1) { return 1; } return 2; }
class API_EXPORT Circle final : public Shape {
  Q_OBJECT
 public:
  ~Circle() NO_THROW = default;
  DWORD radius = 1;
} DEPRECATED("use Disc");
template(typename T)(requires Range<T>)
auto FUNC(copy)(T first, T last) { return last - first; }
}
END_NAMESPACE
`;

  it("read C++ that is full of macros", async () => {
    expect(await told("a.hpp", undefined, withMacros)).toEqual([]);
    for (const [old, made, line] of [
      ["Range<T>)", "]Range<T>)", 16],
      ["paint(1);", "paint(1;", 7],
      ["paint(1);", "paint(1)", 7],
      ["return 1;", "return 1 1;", 9],
      ["radius = 1", "radius = = 1", 14],
      ["last - first", "last - - ;", 17],
    ] as const) {
      const [first, ...more] = await told("a.hpp", withMacros, withMacros.replace(old, made));
      expect([first?.split(":")[0], more], made).toEqual([`${line}`, []]);
    }
  });

  it("do not blame a change for a macro that it brings into C++ that parses", async () => {
    const good = "int a;\n";
    expect(await told("a.cpp", good, `${good}API_EXPORT void draw() NO_THROW { paint(1); }\n`)).toEqual([]);
    expect(await told("a.cpp", good, `${good}API_EXPORT void draw() NO_THROW { paint(1; }\n`)).toHaveLength(
      1,
    );
  });

  it("count the brackets of C++ that the grammar cannot read", async () => {
    const odd =
      'WRAP(class) a b c d e f (\n  each(x) in list do {\n#if A\n  if (a) {\n#else\n  {\n#endif\n  \'{\'; "}"; R"x(})x"; 1\'0; }\n})\n';
    expect(await told("a.cpp", odd, odd.replace("each(x)", "each(y)"))).toEqual([]);
    expect(await told("a.cpp", odd, odd.replace("each(x)", "each(x"))).toHaveLength(1);
    expect(await told("a.cpp", odd, odd.replace("if (a) {", "if (a) }"))).toHaveLength(1);
    expect(await told("a.cpp", odd, odd.replace("\n})", "\n)"))).toHaveLength(1);
  });

  it("include what JSX and types refuse and their grammars do not", async () => {
    const good =
      "type A = B | C;\nfunction f() {\n  return <D.E>{a || b}<></></D.E>;\n}\nexport default function () {}\nif (a || b) c = d;\n";
    expect(await told("a.tsx", undefined, good)).toEqual([]);
    expect(await told("a.tsx", good, good.replace("B | C", "B || C"))).toEqual(["1:13 type A = B || C;"]);
    expect(await told("a.tsx", good, good.replace("<D.E>", "<D.F>"))).toHaveLength(1);
    expect(await told("a.tsx", good, good.replace("function f", "function "))).toHaveLength(1);
    expect(await told("a.tsx", good, good.replace("if (a || b) c", "a || c"))).toHaveLength(1);
  });

  it("count lines as readers do, whatever comes before", async () => {
    const above = "const s = `a\u2028b\r\u0085`;\n// \ud83d\ude00 \u00e9\n";
    expect(await told("a.js", `${above}f(1);\n`, `${above}f(1;\n`)).toEqual([`3:4 f(1;`]);
  });
});

it("texts parsed one after another give the same errors as alone", async () => {
  const sources = {
    "a.ts": `class A {\n  m(x: string) {\n    try {\n      f({ x, y: [1, 2] });\n    } catch {\n      g(\`a \${x} b\`);\n    }\n  }\n}\n`,
    "a.py": `def f(a, b=1):\n    """Says. so."""\n    try:\n        g(a, k=[1, 2])\n    except E:\n        pass\n    return a.b\n\n`,
    "a.go": `package a\n\nimport "b"\n\nfunc F(x int, y string) {\n\tb.G("c\\n", x)\n}\n\nconst C = 1\n`,
  };
  let seed = 7;
  const below = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * most);
  };
  /** More texts than trees are kept, so that the next one is parsed from scratch. */
  const forget = async (path: string) => {
    for (let i = 0; i < 8; i++) await newErrors(path, undefined, `x${i}`);
  };
  for (const [path, source] of Object.entries(sources)) {
    const text = source
      .repeat(3)
      .replaceAll("package a\n\nimport", (_, at) => (at === 0 ? "package a\n\nimport" : "//"));
    const changed = Array.from({ length: 60 }, () => {
      const at = below(text.length);
      return text.slice(0, at) + ["", "(", '"', "}", "=", "\n"][below(6)] + text.slice(at + below(3));
    });
    const inTurn: unknown[] = [];
    for (const one of changed) inTurn.push(await newErrors(path, text, one));
    for (const [i, one] of changed.entries()) {
      await forget(path);
      expect(inTurn[i], one).toEqual(await newErrors(path, text, one));
    }
    expect(inTurn.some(errors => (errors as unknown[]).length > 0)).toBe(true);
  }
});

it("an enormous or endless text neither fails nor blocks others", async () => {
  const order: string[] = [];
  const big = "a=[".repeat(400_000);
  const typescript = { name: "typescript", grammar: "typescript" } as const;
  const long = parse(big, typescript, { maxMs: 3000 }).then(() => order.push("long"));
  const short = parse("let a = 1;", typescript).then(() => order.push("short"));
  await Promise.all([long, short]);
  expect(order[0]).toBe("short");
});

describe("the name of a file", () => {
  it("tells whether it can be code, whatever its text", () => {
    const code = ["a.ts", "a.c", "page.html", "Rakefile", ".bashrc", "script"];
    expect(code.filter(name => !mayHaveLanguage(name))).toEqual([]);
    const others = ["a.txt", "a.md", "a.log", "a.constructor", "a.__proto__"];
    expect(others.filter(mayHaveLanguage)).toEqual([]);
  });

  it("is not looked up on the prototype of a table", () => {
    expect(["constructor", "__proto__", "a.constructor"].map(name => languageOf(name, "text"))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

it("the errors of a text that hardly parses are always the same, also while other texts are parsed", async () => {
  const typescript = { name: "typescript", grammar: "typescript" } as const;
  const source = readFileSync(new URL("../../src/engine/syntax/thread/tables.ts", import.meta.url), "utf8");
  const tokens = source.repeat(2).match(/\w+|\s+|[^\w\s]/g) ?? [];
  let seed = 7;
  const weighed = tokens.map(token => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return [seed, token] as const;
  });
  const shuffled = weighed.sort(([a], [b]) => a - b).map(([, token]) => token);
  const text = shuffled.join("");
  const alone = await parse(text, typescript);
  expect(alone?.errors.length).toBeGreaterThan(100);
  for (let round = 0; round < 2; round++) {
    const beside = Array.from({ length: 4 }, (_, i) => parse(`let a${i} = 1;\n`.repeat(3000), typescript));
    expect((await parse(text, typescript))?.errors).toEqual(alone?.errors);
    await Promise.all(beside);
  }
});

it("an edit of a large file is answered before it is parsed, and the next one with what it broke", async () => {
  const before = "const a = 1;\n".repeat(20_000);
  const after = `${before}const b = 1;\n`;
  const broken = `${after}const c = ;\n`;
  expect(await newErrors("large.ts", before, `${before}const b = ;\n`, 0)).toEqual([]);
  await newErrors("large.ts", before, after, 0);
  await expect
    .poll(() => newErrors("large.ts", after, broken), { timeout: 20_000 })
    .toEqual([expect.objectContaining({ line: 20_002 })]);
});

describe("a prototype in C and C++", () => {
  const nameOf = async (text: string) => {
    const structure = await structureOf("a.cpp", text);
    try {
      const { from } = symbolIn(structure, "a.cpp", "f");
      return from;
    } catch (fault) {
      return (fault as Fault).code;
    }
  };

  it("announces the definition with the same parameters, whatever their names and default values", async () => {
    for (const [prototype, definition] of [
      ["int f(int a = g(1, 2), char *s = 0);", "int f(int b, char* t) { return 1; }"],
      ["void f(void);", "void f() {}"],
      ["void f(const std::map<int, K>& all);", "void f(const std::map<int, K> &every) {}"],
      ["int f(unsigned);", "int f(unsigned) { return 1; }"],
    ])
      expect([prototype, await nameOf(`${prototype}\n${definition}\n`)]).toEqual([prototype, 2]);
  });

  it("with other parameters is another function, and none is guessed", async () => {
    for (const [prototype, definition] of [
      ["int f(int a);", "int f(double a) { return 1; }"],
      ["void f(unsigned int);", "void f(unsigned long) {}"],
      ["void f(const A);", "void f(const B) {}"],
      ["struct S { int f() const; };", "int S::f() { return 1; }"],
    ])
      expect([prototype, await nameOf(`${prototype}\n${definition}\n`)]).toEqual([
        prototype,
        "ambiguous_symbol",
      ]);
  });
});

describe("an outline from the text alone", () => {
  it("does not block other calls, however long the text is", async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    for (const [path, line] of [
      ["a.md", "# Heading\n"],
      ["a.txt", "block\n  line\n"],
    ] as const) {
      const before = turns;
      await structureOf(path, line.repeat(40_000));
      expect(turns - before, path).toBeGreaterThan(10);
    }
    isDone = true;
  });

  it("ends a section where the next one begins, even if that one is not listed", async () => {
    const { declared } = await structureOf("a.md", "# Heading\n\n".repeat(101_000));
    expect(declared.at(-1)).toMatchObject({ from: 199_999, to: 200_000 });
    const nested = await structureOf("b.md", "# A\n### B\n## C\n# D\n");
    expect(nested.declared.map(({ name, from, to }) => `${name} ${from}-${to}`)).toEqual([
      "A 1-3",
      "A.B 2-2",
      "A.C 3-3",
      "D 4-4",
    ]);
  });
});
