/** The client's requests that have no response yet, in the order in which they arrived. */

/** One request of the client. */
export interface OpenRequest {
  /** The request id as JSON text. */
  readonly id: string;
  readonly method: string;
  /** The request as the client sent it. The relay sends it again to a new host, unless `sent` is set. */
  readonly line: Buffer;
  /**
   * The name of the tool, prompt or resource that may have run, such as `files.write_file`. It is set when the host is
   * about to send the request to its server.
   */
  sent: string | undefined;
  /** How many hosts have stopped while they were handling this request. */
  losses: number;
}

export interface OpenRequests {
  add(id: string, method: string, line: Buffer): void;
  /** Marks requests as sent to their servers. `sent` names the tool or prompt that may have run, by request id. */
  noteSent(sent: ReadonlyMap<string, string>): void;
  /** Removes a request that was answered or cancelled. */
  remove(id: string): OpenRequest | undefined;
  /** Sets `losses` of all open requests to 0, because the host has answered and so still runs. */
  forgive(): void;
  /**
   * Removes and returns the requests that must not be sent again after a host was lost. A server has received these
   * requests, or several hosts have stopped while they handled them.
   */
  takeLost(): readonly OpenRequest[];
  /** Removes and returns all requests. */
  takeAll(): readonly OpenRequest[];
  all(): Iterable<OpenRequest>;
  readonly size: number;
}

/** Maximum number of hosts that may stop while they handle the same request, because the request may be the cause. */
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
