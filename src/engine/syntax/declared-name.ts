// What a declaration that is an assignment in JavaScript is called. The thread that parses and those who look for a
// name have to agree on it.

/** `A.prototype.b` declares `A.b`, and `exports.b` and `module.exports.b` declare `b`. */
export function declaredName(assigned: string): string {
  return assigned.replace(/^(?:module\.)?exports\.(?=.)/, "").replace(".prototype.", ".");
}
