// The keys of the page.
import { Dialog } from "../parts/dialog.tsx";
import { isHelpOpen } from "../state/keys.ts";

const keys: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["j", "k"], "Next, previous: in the list, or from hunk to hunk where the difference has the focus"],
  [["Enter"], "Open the selected task, change or difference"],
  [["→", "←"], "Show or hide the files of a task"],
  [["Esc"], "Back to the list"],
  [["u"], "Undo the hunk, the file, the change or the task that has the focus"],
  [["a"], "Keep it; on a question: allow once"],
  [["t"], "On a question: allow for this task"],
  [["d"], "On a question: deny"],
  [["c"], "Write a note on the hunk"],
  [["z"], "Revert the last undo"],
  [["v"], "Unified, or side by side"],
  [["/"], "Search everything that was changed"],
  [["1", "2", "3", "4"], "Now, Changes, Questions, Notes"],
  [["?"], "This help"],
];

export function Help() {
  if (!isHelpOpen.value) return null;
  const close = () => {
    isHelpOpen.value = false;
  };
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {keys.map(([names, what]) => [
          <dt key={`${names} key`}>
            {names.map(name => (
              <kbd key={name}>{name}</kbd>
            ))}
          </dt>,
          <dd key={`${names} what`}>{what}</dd>,
        ])}
      </dl>
      <div class="buttons">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
