/** An MCP server that a machine reaches with credentials of its own, for one test. */

import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import {
  type AuthorizationSettings,
  type GuardSettings,
  type TemporaryFolder,
  temporaryFolder,
} from "@fairlead/test-servers";
import type { Host, HostOptions } from "../../../src/host.ts";
import { type Both, both } from "../both-servers.ts";
import { type HostWith, hostFor } from "../signed-in-host.ts";

export interface MachineScene extends Both {
  readonly folder: TemporaryFolder;
  /** A host whose settings have this `machineAuth` for the server. */
  readonly host: (machineAuth: unknown, more?: HostWith, options?: HostOptions) => Promise<Host>;
}

export async function machineScene(
  settings: Partial<AuthorizationSettings> = {},
  guard: Partial<GuardSettings> = {},
): Promise<MachineScene> {
  const folder = await temporaryFolder();
  const servers = await both({ consent: "page", ...settings }, guard);
  return {
    ...servers,
    folder,
    host: (machineAuth, more = {}, options = {}) =>
      hostFor(
        folder,
        servers.guarded.url,
        { ...more, own: { servers: { docs: { machineAuth } }, ...more.own } },
        options,
      ),
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export function newKey(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly pem: string } {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...pair, pem: String(pair.privateKey.export({ format: "pem", type: "pkcs8" })) };
}

/** A JWT as a cloud gives it to a workload, valid for five minutes. */
export function workloadToken(key: KeyObject, claims: Readonly<Record<string, unknown>>): string {
  const now = Math.floor(Date.now() / 1000);
  const all = { sub: "workload-1", jti: randomUUID(), iat: now, exp: now + 300, ...claims };
  const signed = [{ alg: "ES256", typ: "JWT" }, all]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}
