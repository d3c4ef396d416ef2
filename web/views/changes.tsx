// Changes: a list on the left, what is chosen on the right; on a phone one after the other.
import { route } from "../state/route.ts";
import { ChangeDetail } from "./change-detail.tsx";
import { ChangeList } from "./change-list.tsx";

export function Changes() {
  return (
    <div class={`split ${route.value.chosen === undefined ? "list-first" : "detail-first"}`}>
      <ChangeList />
      <ChangeDetail />
    </div>
  );
}
