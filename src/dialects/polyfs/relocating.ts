// What `move_path` and `copy_path` share: their parameters.

export const relocation = {
  from: { type: "string" },
  to: { type: "string" },
  overwrite: { type: "boolean" },
} as const;
