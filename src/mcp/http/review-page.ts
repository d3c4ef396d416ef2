// The review page at /review: for tokens with the effect `reviews`, each of which sees what it may reach. The page of a
// workspace is at /review/w/NAME/; at /review/, a token for one workspace sees that one. Where callers are not
// authenticated, a one-time token in the log lets a browser in: a caller of tools could otherwise answer its own
// questions. Loaded with the first request.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../engine/fault.ts";
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
import type { WorkspacePrincipals } from "./workspace-principals.ts";

export interface ReviewPageOptions {
  readonly access: Authenticator;
  readonly workspace: Workspace;
  readonly state: string | undefined;
  readonly authenticated: boolean;
  readonly secure: boolean;
  readonly log: Log;
}

/** What the page shares with the rest of the server. */
export interface ReviewHost {
  readonly watch: PageWatch;
  readonly places: WorkspacePrincipals;
}

export class ReviewPage implements Disposable {
  readonly #options: ReviewPageOptions;
  readonly #review: Review;
  readonly #page: Page;
  readonly #places: WorkspacePrincipals;
  readonly #viewers = new WeakMap<Principal, Viewer>();

  /** `entrance` outlives the page: it has given out tokens before. */
  constructor(options: ReviewPageOptions, entrance: Entrance, { watch, places }: ReviewHost) {
    this.#options = options;
    this.#places = places;
    this.#review = new Review(options.workspace, options.state);
    this.#page = new Page({
      review: this.#review,
      entrance,
      secure: options.secure,
      isOurHost: () => true, // the front has checked it
      ...(options.authenticated && {
        signIn: token => this.#byAuthorization(`Bearer ${token}`),
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

  /** For the holder of a one-time token: every user of this machine may call tools, and only that one may view. */
  async anonymous(place: string | undefined): Promise<Viewer | undefined> {
    return await this.#viewerBy(undefined, place);
  }

  /** The token is looked up again with every request: removing it ends what it let in. */
  #byAuthorization(authorization: string | undefined): Lookup {
    return place => this.#viewerBy(authorization, place);
  }

  async #viewerBy(authorization: string | undefined, place: string | undefined): Promise<Viewer | undefined> {
    try {
      const identified = await this.#options.access.identify(authorization);
      const { reviews, reach } = identified.is;
      if (reviews === undefined) return undefined;
      const isInWorkspace = place !== undefined || reach?.only !== undefined;
      return this.#viewer(identified, isInWorkspace ? await this.#places.for(identified, place) : identified);
    } catch (error) {
      if (error instanceof Refusal || Fault.is(error, "base_gone")) return undefined;
      throw error;
    }
  }

  /** `principal` is the caller in a workspace, or the identified one itself. */
  #viewer({ is: { owner, perMinute } }: Principal, principal: Principal): Viewer | undefined {
    const { reviews, name } = principal.is;
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
