// Whether a prototype of C or C++ announces a definition, or is another function of the same name. In doubt it is
// another: the caller is then asked which one is meant.

/** Both as they are written up to the body. Names and default values of parameters may differ. */
export function haveSameParameters(one: string, other: string): boolean {
  const [a, b] = [parametersOf(one), parametersOf(other)];
  return a !== undefined && a === b;
}

/** The types of the parameters and what follows them, such as `const`; undefined if it is not a function. */
function parametersOf(head: string): string | undefined {
  const open = head.indexOf("(");
  const parts: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let at = open; at >= 0 && at < head.length; at++) {
    const char = head[at] ?? "";
    if ("([{<".includes(char)) depth++;
    else if (")]}>".includes(char)) depth--;
    if (depth > 1 || (depth === 1 && char !== ",")) continue;
    parts.push(typeOf(head.slice(start, at)));
    start = at + 1;
    if (depth === 0) {
      const qualifiers = head.slice(at + 1).match(/\b(const|volatile)\b|&+/g) ?? [];
      return [parts.join(","), ...qualifiers].join(" ").replace(/^void(?= |$)/, "");
    }
  }
  return undefined;
}

const types = /^(int|long|char|short|double|float|bool|void|auto|unsigned|signed|const|volatile)$/;
const onlyQualifiers =
  /^(?:(?:const|volatile|struct|class|enum|union|typename|unsigned|signed|long|short) ?)*$/;

/** A parameter without its default value and its name. */
function typeOf(parameter: string): string {
  const written = parameter.replace(/=.*$/s, "").replace(/\s+/g, " ").trim();
  const [, before = "", name = ""] = /^(.*?[\s*&>])(\w+)$/.exec(written) ?? [];
  const isNamed = name !== "" && !types.test(name) && !onlyQualifiers.test(before.trim());
  return (isNamed ? before : written).replace(/\s*([*&<>,])\s*/g, "$1").trim();
}
