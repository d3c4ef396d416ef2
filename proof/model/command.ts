// A step as a command of a random program: fast-check runs it on the world, and leaves out those that do not matter
// when it looks for the smallest program that fails.
import type fc from "fast-check";
import { after, Unsure } from "./expect.ts";
import { isBinary } from "./lines.ts";
import type { Changing } from "./operation.ts";
import { operationsByDialect } from "./operations-by-dialect.ts";
import type { Change } from "./past.ts";
import { changing, edit, reading, type Step } from "./steps.ts";
import { together } from "./together.ts";
import { differences, find, isWithin, parentOf, type Tree } from "./tree.ts";
import { outcome, type World } from "./world.ts";

type Action = (world: World) => Promise<void>;

export class StepCommand implements fc.AsyncCommand<World, World, true> {
  readonly step: Step;

  constructor(step: Step) {
    this.step = step;
  }

  async check(world: Readonly<World>): Promise<boolean> {
    return actionOf(world, this.step, "t0") !== undefined;
  }

  async run(world: World): Promise<void> {
    await actionOf(world, this.step, world.tag())?.(world);
  }

  toString(): string {
    const { kind, a, b, c, via } = this.step;
    return `${kind}(${a},${b},${c},${via})`;
  }
}

function actionOf(world: Readonly<World>, step: Step, tag: string): Action | undefined {
  const { tree, changes } = world;
  const { kind, a, b, c, via } = step;
  switch (kind) {
    case "read":
    case "list":
    case "find":
    case "search": {
      const operation = reading(tree, step);
      return operation && (on => on.read(operation, via));
    }
    case "undoLast":
      return undoing(changes.at(-1), { change: changes.at(-1)?.id }, via);
    case "undoAny": {
      const change = changes[a % Math.max(1, changes.length)];
      return undoing(change, { change: change?.id }, via);
    }
    case "undoPath": {
      const change = changes.findLast(({ file }) => file !== undefined);
      const file = change?.file;
      if (change === undefined || file === undefined) return undefined;
      const later = changes.slice(changes.indexOf(change) + 1);
      if (later.some(one => touches(one, file))) return undefined;
      return on => on.undo(change, { path: on.absolute(file) }, via);
    }
    case "stale":
      return stale(world, step, tag);
    case "elsewhere":
      return elsewhere(world, step, tag);
    case "leaving": {
      const operations = aboutDirectory(tree, step, tag);
      const timing = { first: "before", apart: c % 20 } as const;
      return operations.length < 2 ? undefined : on => together(on, operations, via, timing);
    }
    case "together": {
      const operations = several(tree, step, tag);
      return operations.length < 2 ? undefined : on => together(on, operations, via);
    }
    default: {
      const operation = changing(tree, { kind, a, b, c, via }, tag);
      if (operation === undefined || outcome(() => after(tree, operation, false)) instanceof Unsure)
        return undefined;
      return on => on.change(operation, on.client(via), on.callFor(operation, via));
    }
  }
}

function undoing(change: Change | undefined, args: Readonly<Record<string, unknown>>, via: number) {
  return change && ((on: World) => on.undo(change, args, via));
}

function touches({ before, after: made }: Change, file: string): boolean {
  return differences(before, made).some(path => isWithin(path, file) || isWithin(file, path));
}

/** An edit of what the file was before a change, which has to be carried over. */
function stale({ tree, changes }: Readonly<World>, { a, b, c, via }: Step, tag: string): Action | undefined {
  const edited = changes.filter(
    ({ file, before }) => file !== undefined && before.get(file)?.kind === "file",
  );
  const change = edited[a % Math.max(1, edited.length)];
  const base = change?.before.get(change.file ?? "");
  if (change?.file === undefined || base?.kind !== "file" || isBinary(base.bytes) || base.bytes.length === 0)
    return undefined;
  const only: Tree = new Map([[change.file, base]]);
  const operation = edit(only, 0, b, c, tag);
  if (operation?.do !== "edit") return undefined;
  const whole: Changing = { ...operation, base: base.bytes };
  if (outcome(() => after(tree, whole, false)) instanceof Unsure) return undefined;
  return on => on.change(whole, on.client(via), on.callFor(whole, via));
}

/** Two to four changes, of one file where `via` says so, else of any. */
function several(tree: Tree, { a, b, c, via }: Step, tag: string): Changing[] {
  const kinds = ["edit", "edit", "write", "edit", "move", "patch", "delete", "mkdir"] as const;
  const oneFile = via % 2 === 0;
  return Array.from({ length: 2 + (c % 3) }, (_, i) => {
    const kind = kinds[(oneFile ? 0 : b + i * 3) % kinds.length] ?? "edit";
    const step = { kind, a: oneFile ? a : a + i * (b + 1), b: b + i * 4, c: oneFile ? 0 : c + i, via };
    return changing(tree, step, `${tag}.${i}`);
  }).filter(operation => operation !== undefined);
}

/**
 * A file is created in a directory, and then the directory is moved or deleted while files in it are edited, created,
 * moved and deleted.
 */
function aboutDirectory(tree: Tree, { a, b, c }: Step, tag: string): Changing[] {
  const directories = [...tree].flatMap(([path, { kind }]) =>
    path !== "" && kind === "directory" ? [path] : [],
  );
  const directory = directories[a % Math.max(1, directories.length)];
  if (directory === undefined) return [];
  const inside: Tree = new Map([...tree].filter(([path]) => path !== directory && isWithin(path, directory)));
  const paths = [...inside.keys()];
  const creation = (i: number) =>
    ({ do: "write", path: `${directory}/made ${i}`, content: `${tag}.${i}\n`, mode: "create" }) as const;
  const leaves: Changing =
    b % 2 === 0
      ? { do: "move", from: directory, to: `left ${tag}`, overwrite: false }
      : { do: "delete", path: directory, recursive: true };
  const others = Array.from({ length: 1 + (c % 2) }, (_, i): Changing | undefined => {
    const path = paths[(a + b + i) % Math.max(1, paths.length)];
    const form = (b + c + i) % 5;
    if (form === 0 || path === undefined) return creation(i + 1);
    if (form === 1) return { do: "delete", path, recursive: true };
    if (form === 2) return { do: "move", from: path, to: `out ${tag}.${i}`, overwrite: false };
    if (form === 3) return { do: "mkdir", path: `${directory}/folder ${i}` };
    return edit(inside, a + i, b, c, `${tag}.${i}`);
  }).filter(operation => operation !== undefined);
  return [creation(0), leaves, ...others];
}

/** A plain change in another dialect: it must succeed. */
function elsewhere({ tree }: Readonly<World>, step: Step, tag: string): Action | undefined {
  const dialects = Object.keys(operationsByDialect);
  const dialect = dialects[step.via % dialects.length] ?? "";
  const kind = (["write", "edit", "move", "mkdir", "delete"] as const)[step.c % 5] ?? "edit";
  const wanted = changing(tree, { ...step, kind, b: step.b - (step.b % 12), c: 0 }, tag);
  const operation = wanted?.do === "move" ? { ...wanted, overwrite: false } : wanted;
  if (operation === undefined || !isPlain(tree, operation)) return undefined;
  return async on => {
    const call = operationsByDialect[dialect]?.(operation, path => on.absolute(path));
    const client = on.servers.others.get(dialect);
    if (call === undefined || client === undefined) return;
    on.log.push(`in ${dialect}:`);
    await on.change(operation, client, call);
  };
}

function isPlain(tree: Tree, operation: Changing): boolean {
  const paths =
    "from" in operation ? [operation.from, operation.to] : "path" in operation ? [operation.path] : [];
  const expected = outcome(() => after(tree, operation, true));
  if (expected instanceof Error || differences(tree, expected).length === 0) return false;
  return paths.every(path => {
    if (!/^[\w./]+$/.test(path)) return false;
    const { at, node } = find(tree, path, false);
    if (at !== path || tree.get(parentOf(at))?.kind !== "directory") return false;
    if (operation.do === "delete") return node?.kind === "file";
    if (node?.kind === "link") return false;
    return node?.kind !== "file" || /^[\x20-\x7e\n]*$/.test(node.bytes.toString("latin1"));
  });
}
