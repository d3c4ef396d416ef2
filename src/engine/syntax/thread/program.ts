// The parsing thread. Grammars are unpacked on first use.
import { parentPort } from "node:worker_threads";
import type { Node, Parser, Tree } from "web-tree-sitter";
import type { Grammar } from "../language.ts";
import { bracketError } from "./cpp-brackets.ts";
import { directiveErrors, withoutNullDirectives } from "./cpp-directives.ts";
import { withoutMacros } from "./cpp-macros.ts";
import { cppErrors } from "./cpp-rules.ts";
import { declarationsIn } from "./declarations.ts";
import { type EditedPart, hull } from "./edited-part.ts";
import { errorsIn } from "./errors.ts";
import { goErrors } from "./go-rules.ts";
import { javaErrors } from "./java-rules.ts";
import { isLarge, LargeFiles } from "./large.ts";
import { parserOf, unoptimized } from "./load.ts";
import type { ParseAnswer, ParseError, ParseRequest } from "./messages.ts";
import { withNamelessClasses } from "./nameless-classes.ts";
import { kindAt } from "./node-kind.ts";
import { layoutErrors } from "./python-layout.ts";
import { pythonErrors } from "./python-rules.ts";
import { RecentTrees } from "./recent-trees.ts";
import { macrosAsCalls } from "./rust-macros.ts";
import { rustErrors } from "./rust-rules.ts";
import { scriptErrors } from "./script-rules.ts";
import { treeOf } from "./slices.ts";
import { spansIn } from "./spans.ts";
import { usesOf } from "./uses.ts";

const free = new Map<Grammar, Parser[]>();
const recent = new RecentTrees();
const large = new LargeFiles();

parentPort?.on("message", (request: ParseRequest) => void reply(request));

async function reply(request: ParseRequest): Promise<void> {
  const { id, hurry } = request;
  let isAnswered = false;
  const post = (parsed?: ParseAnswer["parsed"]) => {
    if (!isAnswered) parentPort?.postMessage({ id, ...(parsed && { parsed }) } satisfies ParseAnswer);
    isAnswered = true;
  };
  if (hurry === undefined) return post(await answer(request).catch(() => undefined));
  if (large.isLeftAlone(hurry.file)) return post();
  large.begin(hurry.file);
  const parsed = await answer(request, ms => ms > hurry.answerMs && post()).catch(() => undefined);
  large.end(hurry.file, parsed !== undefined);
  post(parsed);
}

/** A tree, and the only part of its text in which rules may be violated, if there is such a part. */
interface ParsedTree {
  readonly tree: Tree;
  readonly errors?: readonly ParseError[] | undefined;
  readonly suspect?: EditedPart;
}

async function answer(request: ParseRequest, spent?: (ms: number) => void): Promise<ParseAnswer["parsed"]> {
  const { grammar } = request;
  const text = parserInput(request);
  const known = recent.same(grammar, text);
  const found = known ?? (await parsed({ ...request, text }, spent));
  if (found === undefined) return undefined;
  return unoptimized(() => answerFrom({ ...found, text, isKnown: known !== undefined }, request));
}

/** `text` is the parser's input. */
function answerFrom(
  found: ParsedTree & { readonly text: string; readonly isKnown: boolean },
  request: ParseRequest,
): ParseAnswer["parsed"] {
  const { grammar } = request;
  const { tree, text } = found;
  let errors = found.errors;
  let isKept = found.isKnown;
  try {
    if (request.rules) errors ??= [...errorsIn(tree.rootNode), ...refusals(found, text, grammar)];
    const described = describe(request, tree.rootNode, errors ?? errorsIn(tree.rootNode));
    if (request.keep || isKept) {
      // Also moves a tree that was kept before to the end of the line.
      recent.keep({ grammar, text, tree, ...(errors && { errors }) });
      isKept = true;
    }
    return described;
  } finally {
    if (!isKept) tree.delete();
  }
}

/** The text that the grammar reads. Everything in it is where it is in the text of the request. */
function parserInput({ grammar, text, withoutMacros: isPlain }: ParseRequest): string {
  if (grammar === "rust") return macrosAsCalls(text);
  if (grammar === "typescript" || grammar === "tsx") return withNamelessClasses(text);
  if (grammar === "cpp") return withoutNullDirectives(isPlain ? withoutMacros(text) : text);
  return text;
}

function describe(request: ParseRequest, root: Node, errors: readonly ParseError[]): ParseAnswer["parsed"] {
  const { grammar, text, declarations, at, name, spans } = request;
  return {
    errors,
    ...(declarations && { declarations: declarationsIn(root, text, grammar) }),
    ...(at && { kinds: at.map(offset => kindAt(root, offset)) }),
    ...(name !== undefined && { uses: usesOf(root, text, grammar, name) }),
    ...(spans && { spans: spansIn(root, spans) }),
  };
}

/** Code that a language rejects and its grammar accepts; in large texts, only in the part that changed. */
function refusals({ tree, suspect }: ParsedTree, text: string, grammar: Grammar): ParseError[] {
  if (suspect === undefined && isLarge(text)) return [];
  const root = tree.rootNode;
  if (grammar === "python")
    return [...layoutErrors(root, text, suspect), ...pythonErrors(root, text, suspect)];
  if (grammar === "go") return goErrors(root, suspect);
  if (grammar === "java") return javaErrors(root, text, suspect);
  if (grammar === "rust") return rustErrors(root, suspect);
  if (grammar === "cpp")
    return [
      ...directiveErrors(text),
      ...(root.hasError ? [bracketError(text) ?? []].flat() : cppErrors(root, suspect)),
    ];
  return /script$|^tsx$/.test(grammar) ? scriptErrors(root, text, suspect) : [];
}

async function parsed(request: ParseRequest, spent?: (ms: number) => void): Promise<ParsedTree | undefined> {
  const { grammar, text } = request;
  const parser = await parserFor(grammar);
  const base = recent.similar(grammar, text);
  try {
    const sliced = { text, maxMs: request.maxMs, spent };
    let tree = await treeOf(parser, sliced, base?.tree ?? null);
    let suspect: EditedPart | undefined;
    if (tree !== undefined && base !== undefined) {
      const wasClean = base.errors?.length === 0;
      // How the parser recovers from an error depends on what it reused: a parse from scratch counts, except where that
      // takes too long. What did not parse there is new in any case, if everything parsed before.
      if (tree.rootNode.hasError && !(wasClean && isLarge(text))) {
        tree.delete();
        tree = await treeOf(parser, sliced, null);
      } else if (wasClean) suspect = hull(base.changed, base.tree.getChangedRanges(tree));
    }
    if (tree === undefined) parser.delete();
    else free.set(grammar, [...(free.get(grammar) ?? []), parser]);
    return tree && { tree, ...(suspect && { suspect }) };
  } finally {
    base?.tree.delete();
  }
}

async function parserFor(grammar: Grammar): Promise<Parser> {
  return free.get(grammar)?.pop() ?? (await parserOf(grammar));
}
