// The name that a search by kind asks for. Callers write it as the code does: `class Client`, `Client.connect`,
// `Client::connect`, `Client#connect`, `$Type`.

export interface QueriedName {
  readonly name: string;
  /** The declaration that must contain it: the `Client` of `Client.connect`. */
  readonly within?: string;
}

const keywords =
  /^(?:(?:export|default|public|private|protected|static|abstract|async|pub|class|interface|function|type|enum|struct|trait|impl|mod|module|namespace|def|fn|func|const|let|var|val|fun)\s+)+(?=[\p{L}_$])/u;
const written =
  /^(?:((?:[\p{L}_$][\p{L}\p{N}_$]*\.)*[\p{L}_$][\p{L}\p{N}_$]*)\.)?([\p{L}_$][\p{L}\p{N}_$]*)$/u;

/**
 * Undefined for a regex. A reference is searched as it is written in the code: `Client.connect` is not a name there.
 */
export function queriedName(pattern: string, kind: "definition" | "reference"): QueriedName | undefined {
  const plain = pattern.trim().replace(keywords, "").replace(/\(\)$/, "").replaceAll(/::|#/g, ".");
  const [, within, name] = written.exec(plain) ?? [];
  if (name === undefined || (within !== undefined && kind === "reference")) return undefined;
  return { name, ...(within !== undefined && { within }) };
}

/** A regex that finds a name as a whole word. */
export function wholeName(name: string): string {
  return `\\b${name.replaceAll("$", "\\$")}\\b`;
}
