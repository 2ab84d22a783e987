/** Whether a replica lives, and whether it takes requests. Load balancers and orchestrators ask. */

import type { HttpPage } from "@fairlead/wire/serve";

/** What `/readyz` reports. */
export interface Readiness {
  readonly isReady: boolean;
  /** Why it is not ready, in words. */
  readonly reasons: readonly string[];
  readonly [fact: string]: unknown;
}

/** The page of `/livez`: it only shows that this process answers. It never asks PostgreSQL: if it did, an outage would restart all replicas. */
export const livePage: HttpPage = {
  anyHost: true,
  take(_, response) {
    response.writeHead(200, headers).end('{"alive":true}\n');
  },
};

export function readyPage(readiness: () => Promise<Readiness>): HttpPage {
  return {
    anyHost: true,
    async take(_, response) {
      const { isReady, ...facts } = await readiness();
      response.writeHead(isReady ? 200 : 503, headers).end(`${JSON.stringify({ ready: isReady, ...facts })}\n`);
    },
  };
}

const headers = { "content-type": "application/json", "cache-control": "no-store" } as const;
