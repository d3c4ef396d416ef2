// What the log of a round must say. It is read without the code that wrote it: an independent fold of its operations.
//
//   CL6  every replica, and a new one, holds what the log adds up to
//   CL7  what was answered as done is in the log, and what was refused is not
//   CL8  an answered id names one entry, with the author and the work that it was answered for, on every replica; or the
//        answer says that only its server knows it
//   CL9  no entry holds the work of two authors, or takes anything out of the shared file that it does not undo
import { listChanges } from "../../src/engine/history/changes.ts";
import type { By } from "../../src/engine/workspace/archive/log.ts";
import type { Operation } from "../../src/engine/workspace/commit/publish.ts";
import { onlyHere, type Round, type RoundDeed, tokensIn, underFirst } from "./round.ts";

interface ReadEntry {
  readonly id: string;
  readonly by: By;
  readonly revision: number;
  readonly operations: readonly Operation[];
}

interface ReadLog {
  readonly entries: readonly ReadEntry[];
  /** The entry in which a token was first. */
  readonly first: ReadonlyMap<string, ReadEntry>;
  readonly tree: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

const directory = "/";

/** What is wrong, in sentences. */
export async function judgeRound(round: Round): Promise<string[]> {
  const log = await readLog(round);
  const problems = [...log.problems];
  for (const [name, machine] of round.machines) {
    const there = new Map(
      Object.entries(machine.tree()).map(([path, said]) => [
        path,
        said.replace(/^\d+\/$/, "/").replace(/^\d+ /, ""),
      ]),
    );
    const names = new Set([...there.keys(), ...log.tree.keys()]);
    for (const path of names)
      if (there.get(path) !== log.tree.get(path))
        problems.push(`CL6 replica ${name} differs from the log in ${path}`);
  }
  for (const deed of round.deeds)
    for (const problem of judgeDeed(deed, log, round))
      problems.push(`${problem}: ${deed.name}${deed.beside.size > 0 ? " beside another" : ""}`);
  for (const [name, { workspace }] of round.machines) {
    const records = await listChanges(workspace, { limit: 1000 });
    if (round.restarted.has(name)) continue;
    for (const deed of round.deeds.filter(one => isCertain(one, round, log))) {
      // A directory that is there already is no change.
      const { operations = [] } = log.entries.find(({ id }) => id === deed.id) ?? {};
      if (operations.every(one => one.do === "mkdir")) continue;
      const found = records.filter(({ id }) => id === deed.id);
      if (found.length !== 1)
        problems.push(`CL8 ${deed.id} is ${found.length} times in the history of ${name}: ${deed.name}`);
      else if (found[0]?.client !== deed.name && deed.beside.size === 0)
        problems.push(`CL8 ${deed.id} is the work of ${found[0]?.client} on ${name}: ${deed.name}`);
    }
  }
  return problems;
}

/**
 * Whether its id was answered and must be in the log. With local durability ids are not promised, and what one of
 * several commands did may be in the changes of others.
 */
function isCertain(deed: RoundDeed, round: Round, log: ReadLog): boolean {
  if (deed.id === undefined || round.isLocal || deed.beside.size > 0) return false;
  if (deed.undoes !== undefined) return false; // nothing may have been left to undo
  if (deed.kind === "command") {
    // What was sent before, with the change of a tool, has another id.
    const isSent = (token: string) => log.first.get(token)?.by.client === deed.name;
    const left = [...deed.tokens.keys()].filter(token => !round.destroyed.has(token));
    const isUsed = log.entries.some(({ id }) => id === deed.id);
    if (left.length === 0 || (!isUsed && left.every(isSent))) return false;
  }
  if (deed.told !== "late") return deed.told === "done";
  // Another one that waited before may have taken its lines along. It was told so, and that other id is known.
  if (
    deed.said.includes(underFirst) &&
    inShared(deed).every(token => isOfAnotherLate(token, deed, round, log))
  )
    return false;
  const isLeft = (token: string) => (log.first.get(token)?.revision ?? 0) > (deed.revision ?? 0);
  return !deed.isRecovered && inShared(deed).some(isLeft);
}

function isOfAnotherLate(token: string, deed: RoundDeed, round: Round, log: ReadLog): boolean {
  const first = log.first.get(token);
  const isOf = (one: RoundDeed) => one !== deed && one.told === "late" && one.machine === deed.machine;
  return round.deeds.some(one => isOf(one) && one.id !== undefined && one.id === first?.id);
}

/** What was answered while the store was lost is known elsewhere once it is sent. */
function isUnsent({ told, machine }: RoundDeed, asked: RoundDeed): boolean {
  return told === "late" && machine !== asked.machine;
}

function inShared({ tokens }: RoundDeed): string[] {
  return [...tokens].filter(([, path]) => path === "f").map(([token]) => token);
}

function judgeDeed(deed: RoundDeed, log: ReadLog, round: Round): string[] {
  const problems: string[] = [];
  const { told, kind, id, said } = deed;
  const { isLocal } = round;
  const named = log.entries.filter(entry => entry.id === id);
  if (isCertain(deed, round, log) && named.length !== 1)
    problems.push(`CL8 the answered id ${id} is ${named.length} times in the log`);
  const isNamed = named.length === 1;
  if (kind === "command" && told === "done" && id !== undefined && isNamed === said.includes(onlyHere))
    problems.push(`CL8 the answered id ${id} is ${named.length} times in the log, and it says (${said})`);
  const [entry] = named;
  if (entry !== undefined && deed.beside.size === 0 && entry.by.client !== deed.name && !isLocal)
    problems.push(`CL8 the answered id ${id} is the work of ${entry.by.client}`);
  if (
    deed.undoes !== undefined &&
    deed.said === "unknown_change" &&
    isCertain(deed.undoes, round, log) &&
    !isUnsent(deed.undoes, deed) &&
    !round.restarted.has(deed.machine)
  )
    problems.push(`CL8 undo does not know ${deed.undoes.id} of ${deed.undoes.name}`);
  const isRedone = round.deeds.some(({ undoes }) => undoes?.undoes !== undefined);
  if (deed.undoes?.kind === "tool" && told === "done" && !isLocal && !isRedone)
    for (const token of inShared(deed.undoes))
      if (log.first.get(token)?.id === deed.undoes.id && tokensIn(log.tree.get("f") ?? "").includes(token))
        problems.push(`CL8 ${token} is there, although its change was undone`);
  for (const [token, path] of deed.tokens) {
    const first = log.first.get(token);
    // What a command did while the store was lost is sent as it is then.
    const late = round.deeds.filter(one => one.told === "late" && one.machine === deed.machine);
    const authors = [deed.name, ...deed.beside, ...late.map(({ name }) => name)];
    const isAlone = deed.beside.size === 0 && told !== "late" && !deed.isRecovered;
    if (!isAlone || kind === "program" || isLocal) authors.push("");
    // A program's work goes with a command that runs, or with whatever is recorded next.
    const isAuthor =
      kind === "program" ||
      isLocal ||
      round.destroyed.has(token) ||
      /in the same place/.test(deed.said) ||
      first === undefined ||
      authors.includes(first.by.client);
    if (!isAuthor) problems.push(`CL9 ${token} is in a change of ${first?.by.client}`);
    const author = round.deeds.find(({ name }) => name === first?.by.client);
    const isLate = told === "late" && !isLocal && !deed.isRecovered && path === "f";
    if (isLate && first?.by.client === "" && first.revision > (deed.revision ?? 0) && id !== undefined)
      problems.push(`CL8 ${token} was sent later without an author, and its command was answered ${id}`);
    if (isLate && first !== undefined && first.revision > (deed.revision ?? 0) && author?.id !== undefined)
      if (round.deeds.every(one => one.id !== first.id))
        problems.push(
          `CL8 ${token} was sent later as ${first.id}, and ${author.name} was answered ${author.id}`,
        );
    if (kind === "tool" && told === "done" && !isLocal && first?.id !== id)
      problems.push(`CL8 ${token} is not in the answered change ${id}, but in ${first?.id}`);
    if (told === "refused" && kind === "tool" && first !== undefined)
      problems.push(`CL7 ${token} was refused (${deed.said}), and is in the log`);
    if (first === undefined && isNeeded(deed, token, path, round))
      problems.push(`CL7 ${token} in ${path} was answered (${told} ${deed.said}), and is not in the log`);
  }
  return problems;
}

function isNeeded(deed: RoundDeed, token: string, path: string, round: Round): boolean {
  if (round.destroyed.has(token)) return false;
  const isShared = path === "f";
  const isReset = round.reset.has(deed.machine);
  switch (deed.told) {
    case "done":
      if (deed.kind === "program")
        return isShared && !deed.isRecovered && !isReset && !round.overlapped.has(deed.machine);
      return isShared || !round.isLocal;
    case "in the log":
      return true;
    case "gave way":
    case "late":
      return isShared && !/: (.*, )?f(,| and|\.)/.test(deed.said) && !isReset;
    default:
      return false;
  }
}

async function readLog({ fixture: { store }, deeds, isLocal }: Round): Promise<ReadLog> {
  const info = await store.find("w");
  if (info === undefined) throw new Error("the workspace is not in the store");
  const tree = new Map<string, string>();
  const first = new Map<string, ReadEntry>();
  const entries: ReadEntry[] = [];
  const problems: string[] = [];
  for (const { id, body, revision } of await store.entries(info.id, 0, 100_000)) {
    const { by, operations } = JSON.parse(body) as { by: By; operations: readonly Operation[] };
    const before = new Set(tokensIn(tree.get("f") ?? ""));
    const added = new Set<string>();
    const old = new Map(tree); // what is copied or moved was there before the entry
    for (const operation of operations) {
      const hash = "hash" in operation ? operation.hash : undefined;
      const bytes = hash === undefined ? undefined : await store.get(info.id, hash);
      const text = bytes === undefined ? "" : Buffer.from(bytes).toString();
      fold(tree, old, operation, text);
      for (const token of tokensIn(text)) if (!first.has(token)) added.add(token);
    }
    const entry = { id, by, revision, operations };
    for (const token of added) first.set(token, entry);
    entries.push(entry);
    const after = tokensIn(tree.get("f") ?? "");
    if (new Set(after).size < after.length) problems.push(`CL9 revision ${revision} doubles a token in f`);
    for (const token of before)
      if (!isLocal && !after.includes(token) && !isUndone(by, token, first.get(token), deeds))
        problems.push(`CL9 revision ${revision} (${by.client} ${by.action}) takes ${token} out of f`);
  }
  return { entries, first, tree, problems };
}

/** What programs and other commands did beside a command may count as its work. */
function isUndone(
  { undoes }: By,
  token: string,
  entry: ReadEntry | undefined,
  deeds: readonly RoundDeed[],
): boolean {
  if (undoes === undefined) return false;
  const undone = deeds.find(deed => deed.id === undoes);
  const owner = deeds.find(deed => token.startsWith(`<${deed.name}.`));
  if (undoes === entry?.id || undone?.undoes !== undefined || undone === owner) return true;
  if (undone?.kind !== "command" || owner?.machine !== undone.machine) return false;
  return owner.kind === "program" || undone.beside.has(owner.name);
}

function fold(
  tree: Map<string, string>,
  old: ReadonlyMap<string, string>,
  operation: Operation,
  text: string,
): void {
  const { at } = operation;
  for (
    let end = at.lastIndexOf("/");
    end > 0 && operation.do !== "remove";
    end = at.lastIndexOf("/", end - 1)
  )
    tree.set(at.slice(0, end), directory);
  const isIn = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
  const remove = (place: string) => {
    for (const path of [...tree.keys()]) if (isIn(path, place)) tree.delete(path);
  };
  switch (operation.do) {
    case "write":
      remove(at);
      tree.set(at, text);
      break;
    case "mkdir":
    case "mode":
      if (tree.get(at) !== directory) remove(at);
      tree.set(at, directory);
      break;
    case "remove":
      remove(at);
      break;
    case "symlink":
      tree.set(at, `-> ${operation.target}`);
      break;
    case "copy":
    case "move": {
      const found = [...old].filter(([path]) => isIn(path, operation.from));
      if (operation.do === "move") remove(operation.from);
      if (found.length > 0) remove(at);
      for (const [path, content] of found) tree.set(at + path.slice(operation.from.length), content);
      if ("hash" in operation && operation.hash !== undefined) tree.set(at, text);
    }
  }
}
