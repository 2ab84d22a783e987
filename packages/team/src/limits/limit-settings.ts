/** `fairlead.team.limits`: how often users may send requests, and how many requests a server gets. */

import { invalid, objectAt } from "../settings/fields.ts";
import type { LimitRule } from "../store/limits.ts";

export interface RateRule extends LimitRule {
  /**
   * While PostgreSQL is away. `open`: each replica allows its part of the rate. `closed`: requests are refused.
   */
  readonly whenAway: "open" | "closed";
  /** The rule as it is written. */
  readonly text: string;
}

export interface LimitSettings {
  /** For all requests of each user together. */
  readonly perUser: RateRule | undefined;
  /** For the requests of all users of a tenant to a server, by its name. */
  readonly perServer: ReadonlyMap<string, RateRule>;
}

const form =
  /^(?<count>\d{1,6}(?:\.\d{1,3})?)\/(?<unit>[smh])(?: burst (?<burst>\d{1,6}))?(?: (?<whenAway>open|closed))?$/;
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/**
 * Reads `fairlead.team.limits`.
 *
 * @throws HostError `settings_invalid`, naming the key
 */
export function readLimitSettings(value: unknown): LimitSettings {
  const where = "fairlead.team.limits";
  const limits = objectAt(value ?? {}, where, ["perUser", "perServer"]);
  const servers = limits["perServer"] ?? {};
  const names = typeof servers === "object" ? Object.keys(servers as object) : [];
  return {
    perUser: limits["perUser"] === undefined ? undefined : ruleAt(limits["perUser"], `${where}.perUser`),
    perServer: new Map(
      Object.entries(objectAt(servers, `${where}.perServer`, names)).map(([name, rule]) => [
        name,
        ruleAt(rule, `${where}.perServer.${name}`),
      ]),
    ),
  };
}

function ruleAt(value: unknown, where: string): RateRule {
  const text = String(value);
  const { count, unit = "s", burst, whenAway = "open" } = form.exec(text)?.groups ?? {};
  const rate = Number(count) / (seconds[unit] ?? 1);
  const most = burst === undefined ? Math.max(1, Math.ceil(rate)) : Number(burst);
  if (!(rate > 0) || most < 1)
    throw invalid(where, 'it must be a rate such as "10/s", "10/s burst 50" or "600/m closed"');
  return { rate, burst: most, whenAway: whenAway === "closed" ? "closed" : "open", text };
}
