/** The client's requests that have no response yet, in the order of their arrival. */

/** One request of the client that has no response yet. */
export interface UnansweredRequest {
  /** The request id as JSON text. */
  readonly id: string;
  readonly method: string;
  /** The request as the client sent it. The relay repeats it to a new host, unless `takeLost` removes it. */
  readonly line: Buffer;
  /** What may have run, such as `files.write_file`. Undefined until the relay learns that the host sends it. */
  sent: string | undefined;
  /** How many hosts have stopped while handling this request. */
  losses: number;
}

/** After so many hosts have stopped, the request is not repeated, because it may be the cause. */
const mostLosses = 3;

/** The gateway itself answers these requests, so they may be repeated. */
const ownMethods = /^(?:initialize|ping|server\/discover|subscriptions\/listen|logging\/setLevel|[a-z/]+\/list)$/;

function reachesServer({ method }: UnansweredRequest): boolean {
  return !ownMethods.test(method);
}

/** The open requests of one client. */
export class UnansweredRequests {
  readonly #open = new Map<string, UnansweredRequest>();
  #hasLosses = false;

  get size(): number {
    return this.#open.size;
  }

  add(id: string, method: string, line: Buffer): void {
    this.#open.set(id, { id, method, line, sent: undefined, losses: 0 });
  }

  /** Sets `sent` of requests. The map contains what may have run, by request id. Undefined: any request may have. */
  noteSent(sent: ReadonlyMap<string, string> | undefined): void {
    for (const request of this.#open.values())
      request.sent ??=
        sent?.get(request.id) ?? (sent === undefined && reachesServer(request) ? request.method : undefined);
  }

  /** Removes and returns a request that was answered or cancelled. */
  remove(id: string): UnansweredRequest | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    return request;
  }

  /** Sets all `losses` to 0. Call this when the host has answered a request, because the host works. */
  forgive(): void {
    if (!this.#hasLosses) return;
    this.#hasLosses = false;
    for (const request of this.#open.values()) request.losses = 0;
  }

  /**
   * Call this when a host is lost. Removes and returns the requests that must not be repeated. A server may have
   * received them, or they may have stopped several hosts.
   */
  takeLost(): readonly UnansweredRequest[] {
    this.#hasLosses = true;
    for (const request of this.#open.values()) request.losses += 1;
    return this.#take(({ sent, losses }) => sent !== undefined || losses >= mostLosses);
  }

  /** Removes and returns all requests. */
  takeAll(): readonly UnansweredRequest[] {
    return this.#take(() => true);
  }

  all(): Iterable<UnansweredRequest> {
    return this.#open.values();
  }

  /** Whether a response is still to come. `subscriptions/listen` gets none while its stream is open. */
  awaitsResponse(): boolean {
    for (const { method } of this.#open.values()) if (method !== "subscriptions/listen") return true;
    return false;
  }

  #take(isTaken: (request: UnansweredRequest) => boolean): readonly UnansweredRequest[] {
    const taken = [...this.#open.values()].filter(isTaken);
    for (const { id } of taken) this.#open.delete(id);
    return taken;
  }
}
