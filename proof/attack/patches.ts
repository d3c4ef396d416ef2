// Where paths hide in patches: every header of both notations that names a file, with another that is harmless where
// two are needed.
interface PatchForm {
  /** Whether a path that is outside must make the patch fail. */
  readonly decides: boolean;
  text(path: string): string;
}

const form = (text: PatchForm["text"], decides = true): PatchForm => ({ text, decides });
const enveloped = (body: string) => `*** Begin Patch\n${body}\n*** End Patch\n`;
const hunk = "@@ -1 +1 @@\n-PUBLIC\n+CHANGED\n";
const created = "@@ -0,0 +1 @@\n+CHANGED\n";
const git = (from: string, to: string, ...headers: string[]) =>
  `diff --git ${from} ${to}\n${headers.join("\n")}\n`;

export const patches: Readonly<Record<string, PatchForm>> = {
  "+++ creates": form(path => `--- /dev/null\n+++ ${path}\n${created}`),
  "+++ b/ creates": form(path => `--- /dev/null\n+++ b/${path}\n${created}`, false),
  "--- and +++ change": form(path => `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-SECRET\n+CHANGED\n`),
  "--- deletes": form(path => `--- ${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-SECRET\n`),
  "--- renames away": form(path => `--- ${path}\n+++ b/new.txt\n${hunk}`),
  "+++ renames there": form(path => `--- a/pub.txt\n+++ ${path}\n${hunk}`),
  "headers that disagree": form(
    path => `${git("a/pub.txt", "b/pub.txt")}--- a/pub.txt\n+++ ${path}\n${hunk}`,
  ),
  "a rename line that disagrees": form(path =>
    git("a/pub.txt", "b/pub.txt", "rename from pub.txt", `rename to ${path}`),
  ),
  "rename from": form(path =>
    git(`a/${path}`, "b/new.txt", "similarity index 100%", `rename from ${path}`, "rename to new.txt"),
  ),
  "rename to": form(path =>
    git("a/pub.txt", `b/${path}`, "similarity index 100%", "rename from pub.txt", `rename to ${path}`),
  ),
  "copy from": form(path =>
    git(`a/${path}`, "b/new.txt", "similarity index 100%", `copy from ${path}`, "copy to new.txt"),
  ),
  "copy to": form(path =>
    git("a/pub.txt", `b/${path}`, "similarity index 100%", "copy from pub.txt", `copy to ${path}`),
  ),
  "a link made, then written through": form(
    path =>
      `${git("a/s", "b/s", "new file mode 120000")}--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+${path}\n` +
      "\\ No newline at end of file\n" +
      `${git("a/s/p.txt", "b/s/p.txt", "new file mode 100644")}--- /dev/null\n+++ b/s/p.txt\n${created}`,
    false,
  ),
  "the second of two files": form(
    path => `--- a/pub.txt\n+++ b/pub.txt\n${hunk}--- /dev/null\n+++ ${path}\n${created}`,
  ),
  quoted: form(path => `--- /dev/null\n+++ ${JSON.stringify(`b/${path}`)}\n${created}`, false),
  "*** Add File": form(path => enveloped(`*** Add File: ${path}\n+CHANGED`)),
  "*** Update File": form(path => enveloped(`*** Update File: ${path}\n@@\n-SECRET\n+CHANGED`)),
  "*** Delete File": form(path => enveloped(`*** Delete File: ${path}`)),
  "*** Move to": form(path =>
    enveloped(`*** Update File: pub.txt\n*** Move to: ${path}\n@@\n-PUBLIC\n+CHANGED`),
  ),
  "*** Move away": form(path =>
    enveloped(`*** Update File: ${path}\n*** Move to: new.txt\n@@\n-SECRET\n+CHANGED`),
  ),
};
