// Which span is the running one, through everything that a call waits for.
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, ROOT_CONTEXT } from "@opentelemetry/api";

export class AsyncContext implements ContextManager {
  readonly #current = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#current.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    action: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#current.run(context, () => action.call(self, ...args));
  }

  bind<T>(context: Context, target: T): T {
    if (typeof target !== "function") return target;
    const bound = (...args: unknown[]) => this.#current.run(context, () => target(...args));
    return bound as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#current.disable();
    return this;
  }
}
