/** Makes the spans of one host: of its requests, of its connections, and of the requests that a gateway receives. */

import { ClientTraces, type TracedClient } from "./client-traces.ts";
import { ConnectionTraces, type TracedServer } from "./connection-traces.ts";
import { RequestSpans, type TracedRequest } from "./request-spans.ts";
import type { ContentRules, Telemetry } from "./telemetry.ts";
import type { TraceContext } from "./trace-context.ts";

/** The spans of one host. */
export class Tracing {
  readonly #telemetry: Telemetry;
  readonly #rules: ContentRules;

  constructor(telemetry: Telemetry, rules: ContentRules) {
    this.#telemetry = telemetry;
    this.#rules = rules;
  }

  /** Begins the spans of a request. */
  request(request: TracedRequest): RequestSpans {
    return new RequestSpans(request, this.#telemetry);
  }

  /** Makes the spans of one connection to a server. */
  connection(server: TracedServer): ConnectionTraces {
    return new ConnectionTraces(this.#telemetry, this.#rules, server);
  }

  /** Starts what `begin` starts, such as a server, as a part of another program's span. */
  within<T>(context: TraceContext | undefined, begin: () => T): T {
    return context === undefined ? begin() : this.#telemetry.within(context, begin);
  }

  /** Makes the spans of what one client of the gateway sends. */
  client(client: TracedClient): ClientTraces {
    return new ClientTraces(this.#telemetry, client);
  }
}
