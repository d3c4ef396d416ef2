// Placeholders for content that is loading, empty or failed.
import type { ComponentChildren } from "preact";
import type { Loadable } from "../state/loadable.ts";
import { Alert } from "./icons.tsx";

interface EmptyState {
  readonly icon: ComponentChildren;
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyState) {
  return (
    <div class="state">
      {icon}
      <h2>{title}</h2>
      {children}
    </div>
  );
}

function Loading({ what, rows = 4 }: { readonly what: string; readonly rows?: number }) {
  return (
    <div class="bones" role="status">
      <span class="sr">Loading {what}</span>
      {Array.from({ length: rows }, (_, i) => (
        <i key={i} />
      ))}
    </div>
  );
}

export function Failed({ message, again }: { readonly message: string; readonly again: () => void }) {
  return (
    <div class="state" role="alert">
      <Alert size={36} />
      <h2>Something went wrong</h2>
      <p>{message}</p>
      <button type="button" class="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

interface Props<T> {
  readonly of: Loadable<T>;
  readonly what: string;
  readonly again: () => void;
  readonly children: (value: T) => ComponentChildren;
}

/** Content, or its placeholder. */
export function When<T>({ of, what, again, children }: Props<T>) {
  if (of.state === "loading") return <Loading what={what} />;
  if (of.state === "failed") return <Failed message={of.message} again={again} />;
  return <>{children(of.value)}</>;
}
