// The parsing thread. A text is parsed in slices, so that a short one does not wait for a long one, and within a time
// limit. Grammars are unpacked on first use.
import { parentPort } from "node:worker_threads";
import { Language, type Node, Parser, type Tree } from "web-tree-sitter";
import { unpacked } from "#grammars";
import type { Grammar } from "../language.ts";
import { declarationsIn } from "./declarations.ts";
import { errorsIn } from "./errors.ts";
import { goErrors } from "./go-rules.ts";
import type { ParseAnswer, ParseError, ParseRequest } from "./messages.ts";
import { kindAt } from "./node-kind.ts";
import { layoutErrors } from "./python-layout.ts";
import { pythonErrors } from "./python-rules.ts";
import { scriptErrors } from "./script-rules.ts";
import { spansIn } from "./spans.ts";
import { usesOf } from "./uses.ts";

const sliceMs = 10;

let ready: Promise<void> | undefined;
const languages = new Map<Grammar, Promise<Language>>();
const free = new Map<Grammar, Parser[]>();

parentPort?.on("message", (request: ParseRequest) => {
  answer(request).then(
    parsed => parentPort?.postMessage({ id: request.id, ...(parsed && { parsed }) } satisfies ParseAnswer),
    () => parentPort?.postMessage({ id: request.id } satisfies ParseAnswer),
  );
});

async function answer(request: ParseRequest): Promise<ParseAnswer["parsed"]> {
  const { grammar, text, declarations, at, name, spans } = request;
  const parser = await parserFor(grammar);
  const tree = await parsed(parser, request);
  if (tree === undefined) {
    parser.delete();
    return undefined;
  }
  try {
    const root = tree.rootNode;
    return {
      errors: [...errorsIn(root), ...refusals(root, text, grammar)],
      ...(declarations && { declarations: declarationsIn(root, text, grammar) }),
      ...(at && { kinds: at.map(offset => kindAt(root, offset)) }),
      ...(name !== undefined && { uses: usesOf(root, text, grammar, name) }),
      ...(spans && { spans: spansIn(root, spans) }),
    };
  } finally {
    tree.delete();
    free.get(grammar)?.push(parser);
  }
}

/** Code that a language rejects and its grammar accepts. */
function refusals(root: Node, text: string, grammar: Grammar): ParseError[] {
  if (grammar === "python") return [...layoutErrors(root, text), ...pythonErrors(root, text)];
  if (grammar === "go") return goErrors(root);
  return /script$|^tsx$/.test(grammar) ? scriptErrors(root, text) : [];
}

async function parsed(parser: Parser, { text, maxMs }: ParseRequest): Promise<Tree | undefined> {
  let spent = 0;
  for (;;) {
    const start = performance.now();
    const progressCallback = () => performance.now() - start > sliceMs;
    const tree = parser.parse(text, null, { progressCallback });
    if (tree !== null) return tree;
    spent += performance.now() - start;
    if (spent > maxMs) return undefined;
    await new Promise(resolve => setImmediate(resolve));
  }
}

async function parserFor(grammar: Grammar): Promise<Parser> {
  const kept = free.get(grammar) ?? [];
  free.set(grammar, kept);
  const known = kept.pop();
  if (known !== undefined) return known;
  ready ??= Parser.init({ wasmBinary: unpacked("runtime") });
  await ready;
  const loading = languages.get(grammar) ?? Language.load(unpacked(grammar));
  languages.set(grammar, loading);
  const parser = new Parser();
  parser.setLanguage(await loading);
  return parser;
}
