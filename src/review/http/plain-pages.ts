// The few pages that are served without the bundle: before sign-in, and where it was not built. They have
// no script, and share the style of the page.

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><link rel="stylesheet" href="/review/app.css"><title>${title}</title></head><body><main class="gate"><h1>${title}</h1>${body}</main></body></html>\n`;
}

export const notSignedIn = page(
  "Open the address again",
  "<p>This page is opened by the address that <code>polyfs review</code> prints. Each address works once; run <code>polyfs review</code> again for another one.</p>",
);

export const placeholder = page(
  "polyfs review",
  "<p>The page itself is not part of this build. Its API answers below <code>api/</code>.</p>",
);

/** `problem` is one of our own sentences. */
export function signIn(problem = ""): string {
  const told = problem === "" ? "" : `<p role="alert">${problem}</p>`;
  return page(
    "Sign in to polyfs review",
    `${told}<form method="post" action="signin"><label>Token with the effect <code>reviews</code><input class="field" type="password" name="token" autocomplete="off" required autofocus></label><button class="button primary">Sign in</button></form>`,
  );
}
