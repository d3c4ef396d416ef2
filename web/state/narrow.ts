// Whether the window is as narrow as a phone: one pane at a time, and no room for two texts side by side.
import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 760px)");

export const isNarrow = signal(query.matches);

query.addEventListener("change", ({ matches }) => {
  isNarrow.value = matches;
});
