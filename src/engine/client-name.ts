// How a client is named in records: `claude-code/2.1` by the client's own word, `alice (claude-code/2.1)` if tokens
// distinguish callers. People give the first part.

/** Whether `name` is what people call this client: its label, with or without the version and what is in brackets. */
export function isClientNamed(label: string, name: string): boolean {
  return label === name || label.startsWith(`${name}/`) || label.startsWith(`${name} (`);
}
