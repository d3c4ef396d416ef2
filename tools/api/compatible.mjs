// Compares two reports of the public API. Every line of a declaration counts under the lines that enclose it, so a
// member that moves to another type is a change, and the order of declarations is not.

/** Declarations that callers write: a new required member breaks them. */
const written =
  /^export (?:interface|type) (?:\w+Options|ChangeQuery|Grant|PolicyRule|PolicySource|Tool|Dialect|Slot)\b/;

/** What a program that uses the old API would notice, and what is new; each as a readable line. */
export function compareApi(old, current) {
  const before = new Set(linesOf(old));
  const after = new Set(linesOf(current));
  const gone = [...before].filter(line => !after.has(line));
  const added = [...after].filter(line => !before.has(line));
  const demanded = added.filter(line => isRequired(line) && before.has(parentOf(line)));
  return {
    breaking: [
      ...gone.map(line => `removed or changed: ${line}`),
      ...demanded.map(line => `now required: ${line}`),
    ],
    added: added.filter(line => !demanded.includes(line)),
  };
}

/** The version that a breaking change needs: before 1.0 the next minor version, after it the next major one. */
export function nextBreaking(version) {
  const [major, minor] = version.split(".").map(Number);
  return major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`;
}

export function isAtLeast(version, wanted) {
  const [a, b] = [version, wanted].map(text => text.split("-")[0].split(".").map(Number));
  for (const [i, part] of b.entries()) if (a[i] !== part) return a[i] > part;
  return true;
}

const separator = " › ";

function linesOf(report) {
  const [, code = ""] = /^```ts\n(.*?)^```/ms.exec(report) ?? [];
  const enclosing = [];
  const lines = [];
  for (const line of code.split("\n")) {
    const text = line.trim().replace(/^declare /, "");
    if (text === "" || text.startsWith("//") || text.startsWith("/*") || /^[})\]|]+[;,]?$/.test(text))
      continue;
    // The version is meant to change.
    if (text.startsWith("export const version =")) continue;
    const depth = (line.length - line.trimStart().length) / 4;
    enclosing.length = depth;
    enclosing[depth] = text;
    lines.push(enclosing.filter(Boolean).join(separator));
  }
  return lines;
}

function parentOf(line) {
  return line.split(separator).slice(0, -1).join(separator);
}

function isRequired(line) {
  const parts = line.split(separator);
  return parts.length === 2 && written.test(parts[0]) && !/^(?:readonly )?\w+\?/.test(parts[1]);
}
