// Loads the review page with the first request for it, and hands out one-time tokens before that.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Entrance } from "../../review/http/entrance.ts";
import type { Handled } from "../../review/http/page.ts";
import type { ReviewHost, ReviewPage, ReviewPageOptions } from "./review-page.ts";

export class ReviewDoor implements Disposable {
  readonly #options: ReviewPageOptions;
  #entrance: Promise<Entrance> | undefined;
  #page: Promise<ReviewPage> | undefined;

  constructor(options: ReviewPageOptions) {
    this.#options = options;
  }

  /** A one-time token for one browser, for servers without authentication. */
  async ticket(): Promise<string> {
    return (await this.#opened()).ticket(async place => (await this.#page)?.anonymous(place));
  }

  async handle(request: IncomingMessage, response: ServerResponse, host: ReviewHost): Promise<Handled> {
    this.#page ??= this.#load(host);
    return await (await this.#page).handle(request, response);
  }

  [Symbol.dispose](): void {
    void this.#page?.then(page => page[Symbol.dispose]());
  }

  #opened(): Promise<Entrance> {
    this.#entrance ??= import("../../review/http/entrance.ts").then(({ Entrance: made }) => new made());
    return this.#entrance;
  }

  async #load(host: ReviewHost): Promise<ReviewPage> {
    const { ReviewPage: Loaded } = await import("./review-page.ts");
    return new Loaded(this.#options, await this.#opened(), host);
  }
}
