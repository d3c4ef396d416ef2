// JSON for the audit log, which people read in terminals and programs split into lines.

/** What some programs take for the end of a line, terminals for commands, or readers for another order of text; and what they do not see. */
const misleading = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A value as JSON, without characters that mislead. */
export function auditJson(value: unknown): string {
  return JSON.stringify(value).replace(misleading, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
