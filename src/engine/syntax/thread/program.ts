// The parsing thread. A text is parsed in slices, so that a short one does not wait for a long one, and within a time
// limit. Grammars are unpacked on first use.
import { parentPort } from "node:worker_threads";
import { type Node, Parser, type Tree } from "web-tree-sitter";
import type { Grammar } from "../language.ts";
import { declarationsIn } from "./declarations.ts";
import { type EditedPart, hull } from "./edited-part.ts";
import { errorsIn } from "./errors.ts";
import { goErrors } from "./go-rules.ts";
import { javaErrors } from "./java-rules.ts";
import { languageFor } from "./load.ts";
import type { ParseAnswer, ParseError, ParseRequest } from "./messages.ts";
import { kindAt } from "./node-kind.ts";
import { layoutErrors } from "./python-layout.ts";
import { pythonErrors } from "./python-rules.ts";
import { RecentTrees } from "./recent-trees.ts";
import { rustErrors } from "./rust-rules.ts";
import { scriptErrors } from "./script-rules.ts";
import { spansIn } from "./spans.ts";
import { usesOf } from "./uses.ts";

const sliceMs = 10;

const free = new Map<Grammar, Parser[]>();
const recent = new RecentTrees();

parentPort?.on("message", (request: ParseRequest) => {
  answer(request).then(
    parsed => parentPort?.postMessage({ id: request.id, ...(parsed && { parsed }) } satisfies ParseAnswer),
    () => parentPort?.postMessage({ id: request.id } satisfies ParseAnswer),
  );
});

/** A tree, and the only part of its text in which rules may be violated, if there is such a part. */
interface ParsedTree {
  readonly tree: Tree;
  readonly errors?: readonly ParseError[] | undefined;
  readonly suspect?: EditedPart;
}

async function answer(request: ParseRequest): Promise<ParseAnswer["parsed"]> {
  const { grammar, text } = request;
  const known = recent.same(grammar, text);
  const found = known ?? (await parsed(request));
  if (found === undefined) return undefined;
  const { tree } = found;
  let errors = found.errors;
  let isKept = known !== undefined;
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

/** Code that a language rejects and its grammar accepts. */
function refusals({ tree, suspect }: ParsedTree, text: string, grammar: Grammar): ParseError[] {
  const root = tree.rootNode;
  if (grammar === "python")
    return [...layoutErrors(root, text, suspect), ...pythonErrors(root, text, suspect)];
  if (grammar === "go") return goErrors(root, suspect);
  if (grammar === "java") return javaErrors(root, text, suspect);
  if (grammar === "rust") return rustErrors(root, suspect);
  return /script$|^tsx$/.test(grammar) ? scriptErrors(root, text, suspect) : [];
}

async function parsed(request: ParseRequest): Promise<ParsedTree | undefined> {
  const { grammar, text } = request;
  const parser = await parserFor(grammar);
  const base = recent.similar(grammar, text);
  try {
    let tree = await treeOf(parser, request, base?.tree ?? null);
    let suspect: EditedPart | undefined;
    if (tree !== undefined && base !== undefined) {
      if (!tree.rootNode.hasError) {
        if (base.errors?.length === 0) suspect = hull(base.changed, base.tree.getChangedRanges(tree));
      } else {
        // How the parser recovers from an error depends on what it reused: only a parse from scratch counts.
        tree.delete();
        tree = await treeOf(parser, request, null);
      }
    }
    if (tree === undefined) parser.delete();
    else free.set(grammar, [...(free.get(grammar) ?? []), parser]);
    return tree && { tree, ...(suspect && { suspect }) };
  } finally {
    base?.tree.delete();
  }
}

async function treeOf(
  parser: Parser,
  { text, maxMs }: ParseRequest,
  base: Tree | null,
): Promise<Tree | undefined> {
  let spent = 0;
  for (;;) {
    const start = performance.now();
    const progressCallback = () => performance.now() - start > sliceMs;
    const tree = parser.parse(text, base, { progressCallback });
    if (tree !== null) return tree;
    spent += performance.now() - start;
    if (spent > maxMs) return undefined;
    await new Promise(resolve => setImmediate(resolve));
  }
}

async function parserFor(grammar: Grammar): Promise<Parser> {
  const known = free.get(grammar)?.pop();
  if (known !== undefined) return known;
  const language = await languageFor(grammar);
  const parser = new Parser();
  parser.setLanguage(language);
  return parser;
}
