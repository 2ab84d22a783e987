/** The settings of the team gateway: `fairlead.team` in the system settings. */

import { HostError } from "@fairlead/core";
import { type Environment, lookupFor, parseVariables, valueOfVariable } from "@fairlead/core/settings";
import { isObject } from "@fairlead/wire/json";
import { type AuthSettings, readAuthSettings } from "../auth/auth-settings.ts";
import { KeyRing } from "../store/key-ring.ts";
import { addressAt, choiceAt, invalid, numberAt, objectAt, textAt, textsAt, timeAt } from "./fields.ts";

/** Where a server listens. */
export interface ListenAddress {
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface StoreSettings {
  readonly url: string;
  /** The address for locks and notifications, if `url` leads to a pooler. */
  readonly lockUrl: string | undefined;
  readonly pool: number;
  /** `strict`: nothing is sent to a server before an intent is stored. `rows`: only what has ended is stored. */
  readonly mode: "strict" | "rows";
  /** While PostgreSQL is away: refuse requests, or keep their rows in `spool`. */
  readonly whenAway: "closed" | "spool";
  /** The folder of this replica for rows that wait. Default: in the state folder. */
  readonly spool: string | undefined;
  readonly keepDays: number;
}

export interface TeamSettings {
  /** The public address of the gateway, such as `https://mcp.example`. */
  readonly url: string;
  readonly listen: ListenAddress;
  /** Further values of the header `Host` that balancers send. */
  readonly hosts: readonly string[];
  /** Where `/metrics` listens. Absent: nowhere. */
  readonly metrics: ListenAddress | undefined;
  readonly store: StoreSettings;
  readonly ring: KeyRing;
  readonly auth: AuthSettings;
  /** For how many milliseconds the last policy counts that could be read. */
  readonly policyMaxAge: number;
  /** How a replica ends: how long it waits until the balancers know, and how long for open requests, in milliseconds. */
  readonly drain: { readonly wait: number; readonly finish: number };
  /** `limits` as it is written, with its variables replaced. */
  readonly limits: unknown;
}

const where = "fairlead.team";
const second = 1000;
const hour = 3_600_000;
const keys = ["url", "listen", "hosts", "metrics", "store", "keys", "auth", "policyMaxAge", "drain", "limits", "stdio"];

/**
 * Reads the section.
 *
 * @throws HostError `settings_invalid` or `variable_unset`, naming the key
 */
export function readTeamSettings(section: unknown, environment: Environment): TeamSettings {
  if (section === undefined)
    throw new HostError("settings_invalid", "the system settings have no section fairlead.team", {
      next: "Write it into the system settings file (fairlead settings path); docs/team.md shows an example.",
    });
  const team = objectAt(expand(section, where, environment), where, keys);
  choiceAt(team["stdio"], `${where}.stdio`, ["off"]);
  const drain = objectAt(team["drain"] ?? {}, `${where}.drain`, ["wait", "finish"]);
  return {
    url: addressAt(team["url"], `${where}.url`).replace(/\/+$/, ""),
    listen: listenAt(team["listen"] ?? "127.0.0.1:8080", `${where}.listen`),
    hosts: textsAt(team["hosts"], `${where}.hosts`),
    metrics: team["metrics"] === undefined ? undefined : listenAt(team["metrics"], `${where}.metrics`),
    store: readStore(team["store"]),
    ring: KeyRing.parse(textAt(team["keys"], `${where}.keys`), `${where}.keys`),
    auth: readAuthSettings(team["auth"]),
    policyMaxAge: timeAt(team["policyMaxAge"], `${where}.policyMaxAge`, 24 * hour),
    drain: {
      wait: timeAt(drain["wait"], `${where}.drain.wait`, 5 * second),
      finish: timeAt(drain["finish"], `${where}.drain.finish`, 30 * second),
    },
    limits: team["limits"],
  };
}

function readStore(value: unknown): StoreSettings {
  const at = `${where}.store`;
  const store = objectAt(value, at, ["url", "lockUrl", "pool", "audit"]);
  const audit = objectAt(store["audit"] ?? {}, `${at}.audit`, ["mode", "whenAway", "keepDays", "spool"]);
  return {
    url: textAt(store["url"], `${at}.url`),
    lockUrl: store["lockUrl"] === undefined ? undefined : textAt(store["lockUrl"], `${at}.lockUrl`),
    pool: numberAt(store["pool"], `${at}.pool`, 4, 1, 100),
    mode: choiceAt(audit["mode"], `${at}.audit.mode`, ["strict", "rows"]),
    whenAway: choiceAt(audit["whenAway"], `${at}.audit.whenAway`, ["closed", "spool"]),
    keepDays: numberAt(audit["keepDays"], `${at}.audit.keepDays`, 90, 1, 3650),
    spool: audit["spool"] === undefined ? undefined : textAt(audit["spool"], `${at}.audit.spool`),
  };
}

function listenAt(value: unknown, at: string): ListenAddress {
  const [, six, four, port] = /^(?:\[([0-9a-f:]+)\]|([^:]+)):(\d{1,5})$/i.exec(textAt(value, at)) ?? [];
  const address = six ?? four;
  if (address === undefined || Number(port) > 65_535)
    throw invalid(at, "it must be an IP address and a port, such as 0.0.0.0:8080");
  return { address, port: Number(port) };
}

/** Replaces `${NAME}` and `${file:PATH}` in all texts. Settings files of users have no part in it, nor have `.env` files. */
function expand(value: unknown, at: string, environment: Environment): unknown {
  if (Array.isArray(value)) return value.map((each, index) => expand(each, `${at}[${index}]`, environment));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, expand(each, `${at}.${key}`, environment)]),
    );
  return typeof value === "string" ? expandText(value, at, environment) : value;
}

function expandText(text: string, at: string, environment: Environment): string {
  const template = parseVariables(text);
  if (template.kind === "malformed") throw invalid(at, `it cannot be expanded: ${template.reason}`);
  const envFiles = { user: new Map<string, string>(), workspace: new Map<string, string>(), problems: [] };
  const lookup = lookupFor("system", { environment, root: environment.cwd, envFiles });
  const texts = template.parts.map((part) => {
    if (part.kind === "text") return part.text;
    if (part.kind === "command") throw invalid(at, "a team runs no commands; write ${file:PATH} or ${NAME}");
    if (part.kind === "secret") throw invalid(at, "a team has no secret store; write ${file:PATH} or ${NAME}");
    const found = lookup(part.name)?.value;
    const used = valueOfVariable(part, new Map(found === undefined ? [] : [[part.name, found]]));
    if (used !== undefined) return used;
    throw new HostError("variable_unset", `${at} uses \${${part.name}}, ${whyUnset(part.name)}`, {
      next: "Correct the system settings file, or the environment of the gateway.",
    });
  });
  return texts.join("");
}

function whyUnset(name: string): string {
  return name.startsWith("file:") ? "which is no small file that can be read here" : "which is not set";
}
