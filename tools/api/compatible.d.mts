export function compareApi(
  old: string,
  current: string,
): { readonly breaking: readonly string[]; readonly added: readonly string[] };
export function nextBreaking(version: string): string;
export function isAtLeast(version: string, wanted: string): boolean;
