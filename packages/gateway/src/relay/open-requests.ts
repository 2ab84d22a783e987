/** The client's requests that have no response yet, in the order in which they came. */

/** One request of the client. */
export interface OpenRequest {
  /** The id as JSON text. */
  readonly id: string;
  readonly method: string;
  /** The request as the client wrote it; sent again to a new host unless `sent`. */
  readonly line: Buffer;
  /** What may have run, such as `files.write_file`: the host is about to send the request to its server, or has. */
  sent: string | undefined;
  /** How many hosts were lost while they had this request. */
  losses: number;
}

export interface OpenRequests {
  add(id: string, method: string, line: Buffer): void;
  /** These requests were sent to their servers, or are about to be: what may have run, by id. */
  noteSent(sent: ReadonlyMap<string, string>): void;
  /** Ends a request: it was answered or cancelled. */
  remove(id: string): OpenRequest | undefined;
  /** The host has answered: what waits has not stopped it. */
  forgive(): void;
  /**
   * Takes out the requests that must not be sent again after the host was lost: those that were sent to their server,
   * and those that several hosts were lost with. The others stay.
   */
  takeLost(): readonly OpenRequest[];
  /** Takes out all requests. */
  takeAll(): readonly OpenRequest[];
  all(): Iterable<OpenRequest>;
  readonly size: number;
}

/** A request that was lost with so many hosts is not given to another one: it may be what ends them. */
const mostLosses = 3;

export function createOpenRequests(): OpenRequests {
  const open = new Map<string, OpenRequest>();
  let hasLosses = false;

  function take(isTaken: (request: OpenRequest) => boolean): readonly OpenRequest[] {
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
    get size() {
      return open.size;
    },
  };
}
