/** For each figure that no command beside it measures again, its line (from 1) and what it is. */
export function figuresWithoutCommand(
  text: string,
  options?: { readonly byHand?: boolean },
): { line: number; what: string }[];
