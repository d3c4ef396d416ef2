// Renaming by name in languages whose scopes are not resolved: a function or variable of the whole file is renamed only
// where no other place binds the same name. Each way in which a language binds a name is tried.
import { describe, expect, it } from "vitest";
import { usesInFiles } from "../../src/engine/syntax/rename.ts";

interface Forms {
  readonly file: string;
  /** A file with a declaration of `count`, a use of it, and a place for a statement inside a function. */
  around(statement: string): string;
  /** Statements that bind `count` again. */
  readonly binding: readonly string[];
  /** Statements that only use it. None where the uses of a name are never certain. */
  readonly using: readonly string[];
}

const languages: readonly Forms[] = [
  {
    file: "a.go",
    around: statement =>
      `package p\n\nfunc count() int { return 1 }\n\nfunc f(xs []int) {\n\tg(count())\n\t${statement}\n}\n`,
    binding: [
      "count := 0",
      "count, err := g()",
      "err, count := g()",
      "for count := range xs {}",
      "for _, count := range xs {}",
      "for count := 0; count < 3; count++ {}",
      "if count, ok := m[1]; ok {}",
      "switch count := x.(type) {}",
      "switch count := g(); count {}",
      "select {\n\tcase count := <-c:\n\t\tg(count)\n\t}",
      "select {\n\tcase count, ok := <-c:\n\t\tg(count, ok)\n\t}",
      "var count int",
      "var a, count int",
      "var count = 1",
      "const count = 1",
      "var (\n\t\tcount int\n\t)",
      "type count int",
      "g(func(count int) {})",
      "g(func(a, count int) {})",
      "g(func(a ...count) (count int) { return })",
    ],
    using: ["g(count())", "x.y = count", "x, y = count(), count()", "z := count()", "for range count() {}"],
  },
  {
    file: "a.py",
    around: statement => `def count():\n    return 1\n\ndef f(xs):\n    g(count())\n    ${statement}\n`,
    binding: [
      "count = 1",
      "count: int = 1",
      "count += 1",
      "a, count = 1, 2",
      "(a, count) = 1, 2",
      "[a, count] = 1, 2",
      "a, (b, count) = 1, (2, 3)",
      "a, *count = xs",
      "a = count = 1",
      "for count in xs: pass",
      "for a, count in xs: pass",
      "for a, (b, *count) in xs: pass",
      "g([count for count in xs])",
      "g({a: count for a, count in xs})",
      "with g() as count: pass",
      "with g() as (a, count): pass",
      "with g() as a, g() as count: pass",
      "try: pass\n    except E as count: pass",
      "if (count := g()): pass",
      "g(lambda count: 1)",
      "g(lambda *count: 1)",
      "g(lambda a, count=1: 1)",
      "def h(count): pass",
      "def h(count: int): pass",
      "def h(count=1): pass",
      "def h(count: int = 1): pass",
      "def h(*count): pass",
      "def h(**count): pass",
      "def h(*, count): pass",
      "def count(): pass",
      "class count: pass",
      "match xs:\n        case count: pass",
      "match xs:\n        case [a, count]: pass",
      "match xs:\n        case A(b=count): pass",
      "match xs:\n        case {'a': count}: pass",
      "match xs:\n        case [*count]: pass",
      "match xs:\n        case {**count}: pass",
      "match xs:\n        case [1] as count: pass",
      "match xs:\n        case a.count: pass",
    ],
    using: [
      "g(count())",
      "match xs:\n        case count(): pass",
      "try: pass\n    except count as e: pass",
      "x = count",
      "x.y = count()",
      "x[count()] = 1",
      "return count",
      "g(a=count)",
    ],
  },
  {
    file: "a.rs",
    around: statement =>
      `fn count() -> i32 { 1 }\n\nfn f(xs: &[i32]) {\n    g(count());\n    ${statement}\n}\n`,
    binding: [
      "use other::count;\n    g(count());",
      "use other::{a, count};\n    g(count());",
      "use other::*;\n    g(count());",
      "mod m { fn h() { count(); } }",
      "mod m { use other::count; fn h() { count(); } }",
      "mod m { pub use super::count; fn h() { count(); } }",
      "mod m { use super::count as c; fn h() { count(); } }",
      "mod m { use super::*; mod n { fn h() { count(); } } }",
      "let count = 1;",
      "let mut count = 1;",
      "let count: i32 = 1;",
      "let (a, count) = g();",
      "let [a, count] = g();",
      "let P { count } = g();",
      "let P { a: count } = g();",
      "let Some(count) = g() else { return };",
      "let ref count = g();",
      "let &count = g();",
      "let count @ 1 = g();",
      "if let Some(count) = g() {}",
      "if let count = g() {}",
      "while let Some(count) = g() {}",
      "for count in xs {}",
      "for (a, count) in xs {}",
      "match g() { count => {} }",
      "match g() { Some(count) => {} }",
      "match g() { (a, count) => {} }",
      "match g() { count @ 1..=2 => {} }",
      "match g() { A | count => {} }",
      "g(|count| 1);",
      "g(|a, count| 1);",
      "g(|(a, count)| 1);",
      "g(|count: i32| 1);",
      "g(|&count| 1);",
      "fn h(count: i32) {}",
      "fn h(mut count: i32) {}",
      "fn h((a, count): (i32, i32)) {}",
      "const count: i32 = 1;",
      "static count: i32 = 1;",
      "fn count() {}",
      "macro_rules! m { ($count:expr) => { } }\n    let count = 1;",
      "m!(x.count);",
      "m!(a::count);",
      "m!(count: 1);",
      "m!(|count| 1);",
      "m!(let count = 2; count);",
      'println!("{}", x.count);',
      "macro_rules! m { ($($a:expr),*) => { $(x.count = $a;)* } }",
    ],
    using: [
      "mod m { use super::*; fn h() { count(); } }",
      "mod m { use super::count; fn h() { count(); } }",
      "mod m { use super::{a, count}; mod n { use super::*; fn h() { count(); } } }",
      'println!("{}", count());',
      "g(count());",
      "let x = count();",
      "x.y = count();",
      "return count();",
      "if count() == 1 {}",
    ],
  },
  {
    file: "a.c",
    around: statement =>
      `int count(void) { return 1; }\n\nvoid f(int *xs) {\n  g(count());\n  ${statement}\n}\n`,
    binding: [
      "int count;",
      "int count = 1;",
      "int a, count;",
      "int a = 1, count = 2;",
      "int *count;",
      "int count[3];",
      "int *count[3];",
      "int (*count)(int);",
      "for (int count = 0; count < 3; count++) {}",
      "struct s count;",
      "static unsigned long count;",
      "extern int count;",
      "typedef int count;",
      "enum { count };",
      "enum { count = 1 };",
      "typeof(1) count;",
    ],
    using: [],
  },
  {
    file: "a.cpp",
    around: statement => `int count() { return 1; }\n\nvoid f(int *xs) {\n  g(count());\n  ${statement}\n}\n`,
    binding: [
      "using other::count; g(count());",
      "{ using a::b::count; g(count()); }",
      "int count;",
      "auto count = 1;",
      "int count{1};",
      "int count(1);",
      "auto& count = xs[0];",
      "auto&& count = g();",
      "const auto* count = xs;",
      "auto [a, count] = g();",
      "for (int count : xs) {}",
      "for (auto& count : xs) {}",
      "for (const auto& [a, count] : xs) {}",
      "if (auto count = g()) {}",
      "if (int count = g(); count) {}",
      "while (auto* count = g()) {}",
      "switch (int count = g()) {}",
      "try {} catch (E count) {}",
      "try {} catch (const E& count) {}",
      "g([](int count) {});",
      "g([](auto&& count) {});",
      "g([count = 1] {});",
      "using count = int;",
      "std::vector<int> count;",
      "std::vector<int> count(3);",
      "struct count {};",
      "static thread_local int count;",
    ],
    using: [],
  },
  {
    file: "A.java",
    around: statement =>
      `class A {\n  static int count = 1;\n  void f(int[] xs) {\n    g(count);\n    ${statement}\n  }\n}\n`,
    binding: [
      "int count = 1;",
      "int count;",
      "int a, count;",
      "int[] count = xs;",
      "int count[] = xs;",
      "var count = 1;",
      "final int count = 1;",
      "for (int count = 0; count < 3; count++) {}",
      "for (int count : xs) {}",
      "for (var count : xs) {}",
      "try (R count = g()) {}",
      "try {} catch (E count) {}",
      "try {} catch (E | F count) {}",
      "g(count -> 1);",
      "g((count) -> 1);",
      "g((a, count) -> 1);",
      "g((int count) -> 1);",
      "if (x instanceof S count) {}",
      "if (x instanceof P(int a, int count)) {}",
      "if (x instanceof P(var count)) {}",
      "switch (x) { case S count -> g(); default -> g(); }",
      "class B { void h(int count) {} }",
      "class B { void h(int... count) {} }",
      "class B { int count() { return 1; } }",
      "record R(int count) {}",
      "enum E { count }",
    ],
    using: [],
  },
  {
    file: "a.cs",
    around: statement =>
      `class A {\n  static int count() { return 1; }\n  void f(int[] xs) {\n    g(count());\n    ${statement}\n  }\n}\n`,
    binding: [
      "int count = 1;",
      "int count;",
      "int a, count;",
      "var count = 1;",
      "const int count = 1;",
      "for (int count = 0; count < 3; count++) {}",
      "foreach (var count in xs) {}",
      "foreach (int count in xs) {}",
      "foreach (var (a, count) in xs) {}",
      "using (var count = g()) {}",
      "using var count = g();",
      "try {} catch (E count) {}",
      "g(count => 1);",
      "g((count) => 1);",
      "g((a, count) => 1);",
      "g((int count) => 1);",
      "g(delegate(int count) { });",
      "g(out var count);",
      "g(out int count);",
      "var (a, count) = g();",
      "(int a, int count) = g();",
      "if (x is S count) {}",
      "if (x is { A: var count }) {}",
      "if (x is P(var a, var count)) {}",
      "switch (x) { case S count: break; }",
      "var y = x switch { S count => 1, _ => 2 };",
      "var q = from count in xs select 1;",
      "var q = from a in xs let count = 1 select 1;",
      "var q = from a in xs join count in xs on a equals count select 1;",
      "int count(int a) => 1;",
      "void h(int count) {}",
      "void h(params int[] count) {}",
      "fixed (int* count = xs) {}",
    ],
    using: [],
  },
  {
    file: "a.rb",
    around: statement => `def count\n  1\nend\n\ndef f(xs)\n  g(count())\n  ${statement}\nend\n`,
    binding: [
      "class M < Other\n    def h; g(count()); end\n  end",
      "module M\n    include Other\n    count()\n  end",
      "count = 1",
      "count += 1",
      "count ||= 1",
      "a, count = 1, 2",
      "a, (b, count) = 1, [2, 3]",
      "a, *count = xs",
      "a = count = 1",
      "for count in xs do end",
      "for a, count in xs do end",
      "xs.each { |count| 1 }",
      "xs.each { |a, count| 1 }",
      "xs.each { |(a, count)| 1 }",
      "xs.each { |*count| 1 }",
      "xs.each { |a, count = 1| 1 }",
      "xs.each { |a; count| 1 }",
      "xs.each do |count:| end",
      "xs.each { |&count| 1 }",
      "g(->(count) { 1 })",
      "g(-> count { 1 })",
      "begin; rescue E => count; end",
      "def h(count); end",
      "def h(count = 1); end",
      "def h(count:); end",
      "def h(*count); end",
      "def h(**count); end",
      "def h(&count); end",
      "case xs\n  in [a, count] then 1\n  end",
      "case xs\n  in {a: count} then 1\n  end",
      "case xs\n  in {count:} then 1\n  end",
      "case xs\n  in count then 1\n  end",
      "g(count:)",
      "case xs\n  in [*, Integer => count] then 1\n  end",
      "case xs\n  in [a, *count] then 1\n  end",
      "if (m = 1) && (count = 2) then 1 end",
    ],
    using: ["g(count())", "x = count()", "x.y = count()", "return count()", "xs[count()] = 1"],
  },
  {
    file: "a.sh",
    around: statement => `count() { :; }\n\nf() {\n  : "g("\n  g "$(count)"\n  ${statement}\n}\n`,
    binding: [
      "count=1",
      "local count=1",
      "echo $count",
      `echo "\${count:-1}"`,
      "echo count",
      "export count",
      "trap count EXIT",
      "for count in 1 2; do :; done",
      "read count",
    ],
    using: ["count", "count 1 2", "x=$(count)", "if count; then :; fi", "g | count", "count && g"],
  },
];

describe.each(languages)("$file", ({ file, around, binding, using }) => {
  it.each(binding)("%j may be another symbol, and nothing is called certain", async statement => {
    const text = around(statement);
    const { sure, declared } = await usesInFiles([{ path: `/p/${file}`, text }], "count");
    const from = text.indexOf(statement, text.indexOf("g("));
    const inside = (sure[0] ?? []).filter(({ start }) => start >= from && start < from + statement.length);
    expect(inside, `declared ${declared.length}`).toEqual([]);
  });

  it.each(using)("%j is a use", async statement => {
    const text = around(statement);
    const { sure } = await usesInFiles([{ path: `/p/${file}`, text }], "count");
    const count = text.match(/\bcount\b/g)?.length;
    expect(sure[0]?.length).toBe(count);
  });
});

describe("a variable of a shell script", () => {
  it("is renamed with its uses, which begin with $", async () => {
    const text = `count=1\necho $count "x\${count}y" \${count:-2} $((count + 1))\ncount=$count\n`;
    const { sure, unsure } = await usesInFiles([{ path: "/p/a.sh", text }], "count");
    const all = [...text.matchAll(/count/g)].map(({ index }) => index);
    const found = [...(sure[0] ?? []).map(({ start }) => start), ...(unsure[0] ?? [])].sort((a, b) => a - b);
    expect(found).toEqual(all);
    expect(sure[0]?.length).toBeGreaterThan(4);
  });

  it("is not a command or a word of the same name", async () => {
    const text = "count=1\ncount --now\necho count\n";
    const { sure, unsure } = await usesInFiles([{ path: "/p/a.sh", text }], "count");
    expect([sure[0]?.map(({ start }) => start), unsure[0]]).toEqual([[0], [8, 25]]);
  });
});

describe("in PHP, a function, a class and a constant can share a name", () => {
  const declarations = [
    "function count() {}",
    "class count {}",
    "const count = 1;",
    "const a = 1, count = 2;",
    "interface count {}",
  ];
  const uses = "g(count());\n$x = new count();\ng(count);\n$count = 2;\n";

  it("so nothing is certain where two of them do", async () => {
    for (const one of declarations)
      for (const other of declarations) {
        if (one === other || (one.startsWith("const") && other.startsWith("const"))) continue;
        const text = `<?php\n${one}\n${other}\n${uses}`;
        const { sure } = await usesInFiles([{ path: "/p/a.php", text }], "count");
        expect([one, other, sure]).toEqual([one, other, [[]]]);
      }
  });

  it("and one without a namesake is renamed", async () => {
    for (const [text, places] of [
      ["<?php\nfunction count() {}\ng(count());\n", 2],
      ["<?php\nclass count {}\n$x = new count();\n$y = count::A;\nfunction f(count $c) {}\n", 4],
    ] as const) {
      const { sure } = await usesInFiles([{ path: "/p/a.php", text }], "count");
      expect([text, sure.map(list => list.length)]).toEqual([text, [places]]);
    }
  });
});

describe("the type of a field", () => {
  it.each([
    ["a.rs", "pub enum Op { A }\npub struct P { pub op: Op, last: Option<Op> }\nfn f() -> Op { Op::A }\n"],
    ["a.go", "package p\n\ntype Op int\n\ntype P struct {\n\top, last Op\n\tlist []Op\n}\n"],
    ["Op.java", "class Op {\n  private final Op next = null;\n  private java.util.List<Op> all;\n}\n"],
  ])("is a use of that type: %s", async (file, text) => {
    const { sure, unsure } = await usesInFiles([{ path: `/p/${file}`, text }], "Op");
    expect([sure[0]?.length, unsure[0]]).toEqual([text.match(/\bOp\b/g)?.length, []]);
  });
});
