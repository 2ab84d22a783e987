/** The client's requests that have no response yet, in the order in which they arrived. */

/** One request of the client. */
export interface UnansweredRequest {
  /** The request id as JSON text. */
  readonly id: string;
  readonly method: string;
  /**
   * The request as the client sent it. If the host is lost, the relay sends the request to a new host, unless `sent` is
   * set.
   */
  readonly line: Buffer;
  /**
   * The name of the tool, prompt or resource that may have run, such as `files.write_file`. It is set when the host is
   * about to send the request to its server.
   */
  sent: string | undefined;
  /** How many hosts have stopped while they were handling this request. */
  losses: number;
}

export interface UnansweredRequests {
  add(id: string, method: string, line: Buffer): void;
  /**
   * Marks requests as sent to their servers. `sent` contains the tool, prompt or resource that may have run, by request
   * id.
   */
  noteSent(sent: ReadonlyMap<string, string>): void;
  /** Removes a request that was answered or cancelled. */
  remove(id: string): UnansweredRequest | undefined;
  /** Sets `losses` of all open requests to 0. Called when the host has answered a request. */
  forgive(): void;
  /**
   * Called when a host was lost. Removes and returns the requests that must not be sent again: requests that a server
   * may have received, and requests that may have caused several hosts to stop.
   */
  takeLost(): readonly UnansweredRequest[];
  /** Removes and returns all requests. */
  takeAll(): readonly UnansweredRequest[];
  all(): Iterable<UnansweredRequest>;
  /** Whether an open request will get a response. `subscriptions/listen` gets none while its stream is open. */
  awaitsResponse(): boolean;
  readonly size: number;
}

/** If this many hosts stop while they handle the same request, the request is not sent again. It may be the cause. */
const mostLosses = 3;

export function createOpenRequests(): UnansweredRequests {
  const open = new Map<string, UnansweredRequest>();
  let hasLosses = false;

  function take(isTaken: (request: UnansweredRequest) => boolean): readonly UnansweredRequest[] {
    const taken = [...open.values()].filter(isTaken);
    for (const { id } of taken) open.delete(id);
    return taken;
  }

  return {
    add: (id, method, line) => void open.set(id, { id, method, line, sent: undefined, losses: 0 }),
    noteSent(sent) {
      for (const [id, subject] of sent) {
        const request = open.get(id);
        if (request !== undefined) request.sent = subject;
      }
    },
    remove(id) {
      const request = open.get(id);
      open.delete(id);
      return request;
    },
    forgive() {
      if (!hasLosses) return;
      hasLosses = false;
      for (const request of open.values()) request.losses = 0;
    },
    takeLost() {
      hasLosses = true;
      for (const request of open.values()) request.losses += 1;
      return take(({ sent, losses }) => sent !== undefined || losses >= mostLosses);
    },
    takeAll: () => take(() => true),
    all: () => open.values(),
    awaitsResponse() {
      for (const { method } of open.values()) if (method !== "subscriptions/listen") return true;
      return false;
    },
    get size() {
      return open.size;
    },
  };
}
