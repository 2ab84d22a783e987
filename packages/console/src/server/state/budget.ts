/** What the tools cost a model in tokens, by server. */

import type { OpenedHost } from "@fairlead/core/host";
import { groupBy } from "@fairlead/core/plain-text";
import type { BudgetCommands } from "../../protocol/budget.ts";
import type { Handlers } from "./parameters.ts";

export function budgetCommands(host: OpenedHost): Handlers<BudgetCommands> {
  return {
    "budget/show": {
      takes: {},
      async run() {
        const tools = await host.toolOffers();
        const sum = (some: typeof tools): number => some.reduce((total, { tokens }) => total + tokens, 0);
        const sums = (some: typeof tools) => ({
          total: sum(some),
          offered: sum(some.filter(({ offered }) => offered)),
        });
        const servers = [...groupBy(tools, ({ server }) => server)].map(([server, own]) => ({
          server,
          ...sums(own),
          tools: own.map(({ serverToolName, name, tokens, offered, reason }) => ({
            tool: serverToolName,
            name,
            tokens,
            isOffered: offered,
            reason,
          })),
        }));
        return { ...sums(tools), servers: servers.sort((one, other) => other.total - one.total) };
      },
    },
  };
}
