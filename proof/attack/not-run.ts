// Known attacks that this suite does not run, and why: those of other systems, and those that have no target here.
// Attacks on the sandbox's walls are tried in test/shell, attacks on HTTP in test/http.
const elsewhere = (ids: string, why: string) => Object.fromEntries(ids.split(" ").map(id => [id, why]));

export const notRun: Readonly<Record<string, string>> = {
  ...elsewhere("A154", "needs a volume that ignores case"),
  ...elsewhere("A160 A162 A163 A164 A171 A172 A177 A178", "Windows only"),
  ...elsewhere("A181 A182", "macOS only"),
  ...elsewhere("A241 A243", "no tool unpacks archives"),
};
