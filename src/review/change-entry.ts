// A change as the index of the review page has it.

export interface ChangeEntry {
  readonly id: string;
  readonly time: number;
  readonly tool: string;
  readonly client: string;
  readonly connection: string | undefined;
  readonly trace: string | undefined;
  readonly undoes: string | undefined;
  readonly partial: boolean;
  /** Every path that it touched, sources of moves included. */
  readonly paths: readonly string[];
}
