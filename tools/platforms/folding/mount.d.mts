export function mountFolding(
  directory: string,
  options?: { decomposes?: boolean },
): Promise<(() => Promise<void>) | undefined>;
