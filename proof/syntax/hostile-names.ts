// Small programs in which one name means many things: the places that a rename calls sure are compared with
// TypeScript's.

export const hostileFiles: Readonly<Record<string, string>> = {
  "shadow.ts": `export const item = 1;
function a(item: number) { return item + 1; }
function b() { const item = 2; { let item = 3; use(item); } return item; }
function c() { for (const item of [1]) use(item); return item; }
function d() { try { use(item); } catch (item) { use(item); } return item; }
const e = (item: number) => item, f = function item() { return item; };
class G { item = item; get() { return this.item + item; } static item = 2; }
function h() { use(item); var item = 3; return item; }
function i() { if (1) { var item = 3; } use(item); function item2() {} }
function j({ item }: { item: number }) { return item; }
function k([item]: number[], ...rest: number[]) { return item; }
function l({ item: other }: { item: number }) { return other + item; }
function m({ a: { item } = { item: 1 } }: any) { return item; }
function n(x = item, item = 2) { return item; }
switch (item) { case 1: let item2 = item; break; default: { let item = 2; use(item); } }
function use(...x: unknown[]) { return x; }
label: for (;;) { break label; }
item: for (;;) { continue item; }
function o() { return { item, other: item, ["item"]: item, [item]: 1, 'item': 2 }; }
function p() { ({ item }) as any; const { item: q, ...r } = o(); return q; }
let s = item as const; let t = <const>item; let u = item!; let v = item satisfies number;
type W = typeof item; type X = { item: typeof item }; type Y = X["item"];
export { item as renamed }; export default item;
`,
  "user.ts": `import { item, renamed } from "./shadow.ts";
import def, { item as mine } from "./shadow.ts";
import * as all from "./shadow.ts";
export { item } from "./shadow.ts";
export { item as again } from "./shadow.ts";
use(item, mine, all.item, all["item"], renamed, def);
const { item: x } = all; const { item: item2 } = all;
type T = typeof all.item; type U = typeof import("./shadow.ts").item;
const { item: y } = await import("./shadow.ts");
function use(...x: unknown[]) { return { item, x }; }
`,
  "second.ts": `import { item } from "./user.ts";
import { again } from "./user.ts";
export * from "./user.ts";
export const box = { item };
box.item; item;
`,
  "third.ts": `import { item } from "./second.ts";
use(item); function use(x: unknown) { return x; }
`,
  "spaces.ts": `export interface Thing { a: number }
export const Thing = { a: 1 };
export type Only = { b: Thing };
const Only2: Only = { b: Thing };
class Both { static both = 1; } namespace Both { export const extra = 2; }
interface Both { merged: number }
enum Color { Red, Green = Red } namespace Color { export function of() { return Color.Red; } }
function fn() { type fn = number; const x: fn = 1; return fn; }
function gen<fn>(x: fn): fn { return x; }
type Mapped = { [Key in keyof Thing]: Thing[Key] }; type Key = 1; type Inf<T> = T extends (infer Key)[] ? Key : never;
declare module "x" { export const Thing: number; }
declare global { interface Window { Thing: number } }
abstract class Base { abstract run(): void; protected both = 1; constructor(public Thing: number, private readonly both2 = Thing) {} }
class Derived extends Base { run() { this.both; super.run; this.Thing; } get both3() { return this.both; } set both3(x) {} }
const o = { run() { return this.run; }, both: 1, get Thing() { return 1; } };
new Derived(1).run(); o.run(); o.both; Base.prototype.run;
type Fn = (Thing: number) => Thing; type Obj = { (Thing: number): void; [Thing: string]: any; Thing?(): void };
function isThing(Thing: unknown): Thing is Thing { return !!Thing; }
function asserts(Thing: unknown): asserts Thing is Thing {}
let tuple: [Thing: number, other?: Thing];
let tpl: \`\${Thing["a"]}-x\`;
import Alias = Both.extra; use(Alias);
function use(...x: unknown[]) { /* Thing Alias run */ return "Thing" + \`Thing \${Thing.a} Thing\`; }
`,
  "members.ts": `export class Node1 { name = ""; next?: Node1; #secret = 1; private value() { return this.#secret + this.name; } getName = () => this.name;
  method() { const self = this; function inner(this: Other) { return this.name; } return [1].map(() => this.name).concat(self.name as any, inner as any); }
  static create() { const made = new Node1(); made.name = "x"; return this.name; } static name2 = this.name;
  ["computed"]() { return this["name"]; } "quoted" = 1; use() { return this.quoted + this["quoted"]; }
}
class Other { name = 1; value() { return this.name; } #secret = 2; has(x: object) { return #secret in x; } }
class Sub extends Node1 { override name = "y"; extra() { return super.method() && this.name; } }
const lit = { name: 1, value() { return this.name; }, nested: { name: 2 } }; lit.name; lit.nested.name; lit["name"];
function take(x: { name: string }, y: Node1) { const { name } = y; const { name: other = name } = x; return name + other + x.name; }
take(new Node1(), new Node1()); take({ name: "a" }, new Sub());
let name2: string; ({ name: name2 } = new Node1()); [name2] = ["a"]; ({ name2 } = { name2: "" });
interface Named { name: string; value(): void } class Impl implements Named { name = ""; value() { this.name; } }
enum E { name = "name", value = name } E.name; E["name"];
type Pick1 = Pick<Node1, "name" | "next">; const key: keyof Node1 = "name";
`,
  "view.tsx": `import { item } from "./shadow.ts";
export function Panel({ item: shown, title }: { item: number; title: string }) { return <Row item={item} title={title}>{shown} item <item.x /></Row>; }
export const Row = (props: { item: number; title: string; children?: unknown }) => <div title={props.title} data-item="item">{props.item}</div>;
const Alias = Row; function Outer() { const Row = Alias; return <><Row item={1} title="Row" /><Alias item={item} title={"x"}></Alias></>; }
const spread = { item, title: "t" }; const made = <Row {...spread} />; <Row item={item} title=""><Panel item={1} title="" /></Row>;
namespace UI { export const Button = () => null; } const b = <UI.Button />;
`,
  "script.js": `const shared = 1; exports.shared = shared; module.exports.other = shared;
function old() { return arguments.length + shared; } var old2 = function shared() { return shared; };
with_ = { shared }; const { shared: local, ...others } = require("./x");
class A { shared() { return this.shared(); } static { const shared = 3; shared; } get [shared]() { return shared; } }
for (let shared = 0, n = shared; shared < n; shared++) { setTimeout(() => shared); } async function* gen() { for await (const shared of x) yield shared; }
if (true) { function hoisted() {} } hoisted(); export { shared as default, local };
let { a: { b: shared2 = shared } = {}, [shared]: dyn } = {}; ({ shared: shared2 } = {}); try { } catch ({ shared }) { shared; }
`,
};
