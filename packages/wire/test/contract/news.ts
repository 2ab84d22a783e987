/** The notifications of a session, for a test to wait for. */

import type { JsonObject, NotificationListener } from "../../src/session.ts";

export interface News {
  readonly take: NotificationListener;
  /** The parameters of the next notification of this kind; ask before you cause it. */
  next(method: string): Promise<JsonObject>;
}

export function createNews(): News {
  const waiting: { method: string; go: (params: JsonObject) => void }[] = [];
  return {
    take(method, params) {
      const index = waiting.findIndex((entry) => entry.method === method);
      if (index >= 0) waiting.splice(index, 1)[0]?.go(params);
    },
    next: (method) => new Promise((go) => waiting.push({ method, go })),
  };
}
