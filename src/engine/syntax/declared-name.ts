// The symbol name of a JavaScript declaration that is written as an assignment. Parsing and symbol lookup both use it.

/** `A.prototype.b` declares `A.b`, and `exports.b` and `module.exports.b` declare `b`. */
export function declaredName(assigned: string): string {
  return assigned.replace(/^(?:module\.)?exports\.(?=.)/, "").replace(".prototype.", ".");
}
