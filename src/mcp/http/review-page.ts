// The review page at /review: for tokens with the effect `reviews`, each of which sees what it may reach. Where callers
// are not authenticated, a one-time token in the log lets a browser in: a caller of tools could otherwise answer
// its own questions. Loaded with the first request.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import type { Entrance, Lookup } from "../../review/http/entrance.ts";
import { type Handled, Page } from "../../review/http/page.ts";
import type { PageWatch } from "../../review/http/page-watch.ts";
import { Review } from "../../review/review.ts";
import type { Viewer } from "../../review/viewer.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import type { Log } from "../log.ts";
import { Refusal } from "./refusal.ts";

export interface ReviewPageOptions {
  readonly access: Authenticator;
  readonly workspace: Workspace;
  readonly state: string | undefined;
  readonly authenticated: boolean;
  readonly secure: boolean;
  readonly log: Log;
}

export class ReviewPage implements Disposable {
  readonly #options: ReviewPageOptions;
  readonly #review: Review;
  readonly #page: Page;
  readonly #entrance: Entrance;
  readonly #viewers = new WeakMap<Principal, Viewer>();

  /** `entrance` outlives the page: it has given out tokens before. */
  constructor(options: ReviewPageOptions, entrance: Entrance, watch: PageWatch) {
    this.#options = options;
    this.#entrance = entrance;
    this.#review = new Review(options.workspace, options.state);
    const byToken = (token: string) => this.#byAuthorization(`Bearer ${token}`);
    this.#page = new Page({
      review: this.#review,
      entrance: this.#entrance,
      secure: options.secure,
      isOurHost: () => true, // the front has checked it
      ...(options.authenticated && {
        signIn: byToken,
        byHeader: authorization => this.#byAuthorization(authorization),
      }),
      watch,
      failed: error => options.log.error("the review page failed", error),
    });
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<Handled> {
    return await this.#page.handle(request, response);
  }

  [Symbol.dispose](): void {
    this.#review[Symbol.dispose]();
  }

  /** The token is looked at again with every request: one that was taken out ends what it let in. */
  async #byAuthorization(authorization: string | undefined): Promise<Lookup | undefined> {
    const lookup = async (): Promise<Viewer | undefined> => {
      try {
        return this.#viewer(await this.#options.access.identify(authorization));
      } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
      }
    };
    return (await lookup()) === undefined ? undefined : lookup;
  }

  #viewer(principal: Principal): Viewer | undefined {
    const { reviews, name, owner, perMinute } = principal.is;
    if (reviews === undefined || principal.ended) return undefined;
    const known = this.#viewers.get(principal);
    if (known !== undefined) return known;
    const viewer: Viewer = {
      mode: "http",
      who: name,
      workspace: reviews,
      mayUndo: reviews.roots.some(({ access }) => access === "read-write"),
      ...(perMinute !== undefined && { rate: { owner, perMinute } }),
    };
    this.#viewers.set(principal, viewer);
    principal.onEnd(() => this.#review.forget(viewer));
    return viewer;
  }
}

/** Every user of this machine may call; only the holder of a one-time token may view the page. */
export function soleViewer(workspace: Workspace): Viewer {
  const mayUndo = workspace.roots.some(({ access }) => access === "read-write");
  return { mode: "http", workspace, mayUndo };
}
