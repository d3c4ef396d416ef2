// The arguments of Rust's own attributes, which the grammar takes as they are: names, names with a value, and names with
// arguments, separated by commas. Other attributes belong to macros and take any tokens.
import type { Node } from "web-tree-sitter";
import { append } from "../../append.ts";
import { type EditedPart, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const known =
  /^(allow|cfg|cfg_attr|deny|deprecated|derive|doc|expect|feature|forbid|inline|link|must_use|repr|stable|target_feature|unstable|warn)$/;

export function attributeErrors(root: Node, part?: EditedPart): ParseError[] {
  return nodesOf(root, "attribute", part).flatMap(attribute => {
    const list = attribute.childForFieldName("arguments");
    if (list === null || list.hasError || !known.test(attribute.firstNamedChild?.text ?? "")) return [];
    return errorsInList(list);
  });
}

function errorsInList(list: Node): ParseError[] {
  const found: ParseError[] = [];
  let item: Node[] = [];
  const inside = list.children.slice(1, -1);
  for (const [i, token] of inside.entries()) {
    if (token === null || /comment/.test(token.type)) continue;
    if (token.type === "token_tree" && !isUnknown(item)) append(found, errorsInList(token));
    if (token.type !== ",") item.push(token);
    if (token.type !== "," && i < inside.length - 1) continue;
    if (!isItem(item)) found.push({ start: token.startIndex, end: token.endIndex });
    item = [];
  }
  return found;
}

/** In `cfg_attr(test, other(…))` the attribute may be one of a macro. */
function isUnknown(item: readonly Node[]): boolean {
  return !known.test(item[0]?.text ?? "") && !/^(all|any|not|packed|align)$/.test(item[0]?.text ?? "");
}

/** `name`, `name = value`, `name(…)` or a value. The macros of `macro_rules` put in what they like. */
function isItem(item: readonly Node[]): boolean {
  if (item.some(({ type, text }) => /^(metavariable|token_repetition)$/.test(type) || /[$!]/.test(text)))
    return true;
  const form = item.map(({ type }) =>
    /literal$/.test(type)
      ? "v"
      : type === "token_tree"
        ? "l"
        : type === "="
          ? "="
          : type === "::"
            ? ":"
            : "n",
  );
  return /^(?:v|:?n(?::n)*(?:=v|l)?)$/.test(form.join(""));
}
