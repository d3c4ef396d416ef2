// Which span is the running one, through everything that a call waits for. Before Node 24, a process in which an
// AsyncLocalStorage is in use runs hooks for every promise, which costs a small read a third of its time. So it is in
// use only while something runs in a context.
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";

export class AsyncContext implements ContextManager {
  readonly #current = new AsyncLocalStorage<Context>();
  #running = 0;
  readonly #leaves = new Set<Span>();

  active(): Context {
    return this.#current.getStore() ?? this.#onlyLeaf() ?? ROOT_CONTEXT;
  }

  /**
   * Runs without following what it waits for: for spans that have children only in rare cases, such as the search for
   * a name that was misspelled. Such a child is attached while nothing else runs, and left out otherwise.
   */
  readonly leaf = {
    begin: (span: Span): void => void this.#leaves.add(span),
    end: (span: Span): void => void this.#leaves.delete(span),
  };

  #onlyLeaf(): Context | undefined {
    if (this.#running > 0 || this.#leaves.size !== 1) return undefined;
    const [span] = this.#leaves;
    return span && trace.setSpan(ROOT_CONTEXT, span);
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    action: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    this.#running++;
    let result: ReturnType<F>;
    try {
      result = this.#current.run(context, () => action.call(self, ...args));
    } catch (error) {
      this.#leave();
      throw error;
    }
    if (result instanceof Promise) result.then(this.#leave, this.#leave);
    else this.#leave();
    return result;
  }

  bind<T>(context: Context, target: T): T {
    if (typeof target !== "function") return target;
    const bound = (...args: unknown[]) => this.with(context, () => target(...args));
    return bound as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#current.disable();
    return this;
  }

  readonly #leave = (): void => {
    if (--this.#running === 0) this.#current.disable();
  };
}
