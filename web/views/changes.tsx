// Changes: a list on the left, the selected item on the right; on a phone one view at a time.
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
